// An AWS Lambda function (Node 22 or newer) that places a call. `handler` takes the event
// { "to_number": "+12025550100" }. `url` takes the same as a POST to the function's URL, with the header
// "Authorization: Bearer <CALL_TOKEN>". Bundle it and upload handler.mjs:
//
//   npm install …/outdial-0.1.0.tgz esbuild      # see "Get started" in the README
//   npx esbuild handler.ts --bundle --platform=node --format=esm --outfile=handler.mjs
//
// The function's environment has OUTDIAL_API_KEY, OUTDIAL_BASE_URL, FROM_NUMBER, APP_URL and, for `url`,
// CALL_TOKEN (openssl rand -hex 32); encrypt the key and the token. Give the function a timeout of more than
// 10 s, the client's own: Lambda repeats an event whose function timed out, and that would be a second call.
//
// The status is 201 with the call's id, 400 if the number is invalid, 503 if nobody was called, and 202 if
// a call may have been placed.
import { createHash, timingSafeEqual } from "node:crypto";
import type { LambdaFunctionURLHandler } from "aws-lambda";
import { Client, type Exception, isException } from "outdial";

const { OUTDIAL_API_KEY = "", OUTDIAL_BASE_URL = "", FROM_NUMBER = "", APP_URL = "" } = process.env;
const client = new Client(OUTDIAL_API_KEY, { baseUrl: OUTDIAL_BASE_URL });

interface Result {
  readonly status: 201 | 202 | 400 | 503;
  readonly placed: "yes" | "no" | "maybe";
  readonly call_id?: string;
  readonly error?: string;
}

/** Whether a retry is safe and can succeed. */
const isRetryable = (error: Exception): boolean =>
  error.placed === "no" &&
  (error.name === "NetworkException" || error.name === "TimeoutException" || error.code === 429);

const statusOf = (error: Exception): Result["status"] => {
  if (error.placed === "maybe") return 202;
  return error.name === "BadParametersException" && error.param === "to_number" ? 400 : 503;
};

const create = (to_number: string): Promise<{ readonly id: string }> =>
  client.calls.create({
    from_number: FROM_NUMBER,
    to_number,
    flow_url: `${APP_URL}/flow`,
    status_callback_url: `${APP_URL}/status`,
  });

const refusal = (error: unknown): Result => {
  if (!isException(error)) return { status: 202, placed: "maybe" };
  const { name, message, placed = "maybe" } = error;
  console.error(message); // It never contains the key or the numbers.
  return { status: statusOf(error), placed, error: name };
};

/** For events. Lambda repeats an event when the function throws, so it throws only if that is safe. */
export const handler = async (event: { readonly to_number: string }): Promise<Result> => {
  try {
    const { id } = await create(Object(event).to_number);
    return { status: 201, placed: "yes", call_id: id };
  } catch (error) {
    if (isException(error) && isRetryable(error)) throw error;
    return refusal(error);
  }
};

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The function is public, and every call costs you money. */
const isAllowed = (authorization = ""): boolean => {
  const { CALL_TOKEN: token } = process.env;
  return !!token && timingSafeEqual(digest(authorization), digest(`Bearer ${token}`));
};

/** The number to dial; `create` refuses anything that is not a number. */
const numberIn = (body: string | undefined, isBase64Encoded: boolean): string => {
  try {
    const text = isBase64Encoded ? Buffer.from(body ?? "", "base64").toString() : body;
    return Object(JSON.parse(text ?? "")).to_number;
  } catch {
    return "";
  }
};

/** For the function's URL. Lambda does not repeat these requests. */
export const url: LambdaFunctionURLHandler = async ({
  requestContext,
  headers,
  body,
  isBase64Encoded,
}) => {
  if (requestContext.http.method !== "POST") return { statusCode: 405, headers: { Allow: "POST" } };
  if (!isAllowed(headers.authorization)) return { statusCode: 401 };
  try {
    const { id } = await create(numberIn(body, isBase64Encoded));
    return { statusCode: 201, body: JSON.stringify({ call_id: id }) };
  } catch (error) {
    const { status, ...rest } = refusal(error);
    return { statusCode: status, body: JSON.stringify(rest) };
  }
};
