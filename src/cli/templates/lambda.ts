import type { LambdaFunctionURLHandler } from "aws-lambda";
import { createApp } from "./app.ts";

let app: ReturnType<typeof createApp> | undefined;

/** The application behind a function URL. Give the function a time-out of more than 10 s, the client's own. */
export const handler: LambdaFunctionURLHandler = async (event) => {
  app ??= createApp(process.env); // Once, and not when a test imports this file.
  const { rawPath, rawQueryString, headers, requestContext, body, isBase64Encoded } = event;
  const url = `https://${requestContext.domainName}${rawPath}?${rawQueryString}`;
  const request = new Request(url, {
    method: requestContext.http.method,
    headers: Object.entries(headers).map(([name, value]) => [name, value ?? ""]),
    body: body === undefined ? null : isBase64Encoded ? Buffer.from(body, "base64") : body,
  });
  const response = await app(request);
  return {
    statusCode: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
};
