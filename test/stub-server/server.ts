import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Answer, Seen } from "./answer.ts";

/**
 * A server that misbehaves on request. The path of a request says how it is answered and where it is
 * noted: `/p/<id>/<answers>/…`, the answers as base64url JSON, backwards, one for each request in turn and the
 * last for all that follow. `GET /journal/<id>` gives what arrived under an id.
 */
const journal = new Map<string, Seen[]>();

const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization, content-type, x-api-key, x-extra",
  "access-control-expose-headers":
    "retry-after, x-request-id, twilio-request-id, x-nexmo-trace-id, x-ratelimit-reset",
};

const fromBackwards = (text: string): string =>
  Buffer.from([...text].reverse().join(""), "base64url").toString();

const read = async (request: IncomingMessage): Promise<string> => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
};

const answerWith = (response: ServerResponse, answer: Answer): void => {
  if (answer.instead === "silence") return;
  if (answer.instead === "drop") return void response.socket?.destroy();
  const body = answer.json === undefined ? (answer.body ?? "") : JSON.stringify(answer.json);
  response.shouldKeepAlive = answer.keepAlive ?? false;
  response.writeHead(answer.status ?? 200, { ...cors, ...answer.headers });
  response.flushHeaders();
  for (let times = answer.times ?? 1; times > 0; times--) response.write(body);
  if (answer.after === "stall") return;
  if (answer.after === "drop") return void setTimeout(() => response.socket?.destroy(), 50);
  response.end();
};

/** An answer that repeats the credentials of its request. */
const withToken = (answer: Answer, authorization = ""): Answer =>
  JSON.parse(JSON.stringify(answer).replaceAll("{token}", authorization.split(" ").at(-1) ?? ""));

const server = createServer(async (request, response) => {
  const { method = "", url = "", headers } = request;
  const [, kind = "", id = "", encoded = ""] = url.split("/");
  const answers: readonly Answer[] = kind === "p" ? JSON.parse(fromBackwards(encoded)) : [];
  if (method === "OPTIONS") {
    response.shouldKeepAlive = answers.some(({ keepAlive }) => keepAlive);
    return void response.writeHead(204, cors).end();
  }
  if (kind === "")
    return void response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><title>page</title>");
  if (kind === "journal") {
    response.shouldKeepAlive = false;
    return void response.writeHead(200, cors).end(JSON.stringify(journal.get(id) ?? []));
  }
  if (kind !== "p") return void response.writeHead(404, cors).end();
  const seen = journal.get(id) ?? [];
  journal.set(id, seen);
  const body = await read(request);
  seen.push({
    method,
    path: `/${url.split("/").slice(4).join("/")}`,
    host: headers.host ?? "",
    headers,
    body,
  });
  const answer = answers[Math.min(seen.length, answers.length) - 1];
  if (answer) answerWith(response, withToken(answer, headers.authorization));
});

// The launcher holds the other end of stdin: when it goes, this goes.
process.stdin.on("end", () => process.exit()).resume();
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
});
