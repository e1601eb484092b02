// A function URL of Lambda on this machine, for the function that the current folder has built.
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const { handler } = await import(pathToFileURL(join(process.cwd(), "dist/app.mjs")).href);

createServer(async (request, response) => {
  const chunks = await request.toArray();
  const [rawPath, rawQueryString = ""] = request.url.split("?");
  const { statusCode, headers, body } = await handler({
    rawPath,
    rawQueryString,
    headers: request.headers,
    requestContext: { domainName: request.headers.host, http: { method: request.method } },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks).toString("base64") }),
    isBase64Encoded: chunks.length > 0,
  });
  response.writeHead(statusCode, headers).end(body);
}).listen(Number(process.env.PORT), "127.0.0.1");
