import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { serveNode } from "../../src/cli/serve.ts";
import { type CallRecord, createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";

export const from = "+12025550199";
export const answering = "+12025550100";

/** Listens on a free port until the test is over, and returns where. */
const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** An application's end of a media socket, and the path and query of its request. */
export type SocketApplication = (socket: WebSocket, url: string, request: IncomingMessage) => void;

/** Takes media sockets until the test is over, and returns where: `ws://127.0.0.1:…/media`. */
export const listenForSockets = async (application: SocketApplication): Promise<string> => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, request) => application(socket, request.url ?? "", request));
  const origin = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
  });
  return `${origin.replace("http", "ws")}/media`;
};

/** An emulator on a port, until the test is over. */
export const startEmulator = async (options: EmulatorOptions) => {
  const emulator = createEmulator({
    host: "127.0.0.1",
    clock: "instant",
    untimedMedia: true,
    responseTimeout: 60_000,
    ...options,
  });
  const handler = (request: Request) => emulator.fetch(request);
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await emulator.close();
    await stop();
  });
  return { emulator, baseUrl: `http://127.0.0.1:${port}` };
};

/** A request as an application received it. */
interface Received<Fields> {
  readonly path: string;
  readonly method: string;
  /** Of the query of a GET, and of the body of a POST. */
  readonly fields: Fields;
}

/** What answers the requests to a path: with a document, JSON, a status, or by itself. `count` begins at 1. */
export type Answer =
  | string
  | number
  | object
  | ((request: IncomingMessage, response: ServerResponse, count: number) => void);

/** The answers of an application, by their paths. Other paths are answered 204. */
export type Answers = Readonly<Record<string, Answer>>;

/** A request whose signature the carrier's own verifier may be asked about. */
export interface Asked {
  readonly method: string;
  readonly path: string;
  /** The URL that it was sent to. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How the applications of a carrier read requests. */
export interface Reader<Fields> {
  /** Whether the carrier's own verifier accepts it. */
  readonly isSigned: (asked: Asked) => boolean | Promise<boolean>;
  readonly fieldsOf: (body: string) => Fields;
  /** The media type of a document. */
  readonly type: string;
}

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** An application that takes only what the carrier's own verifier accepts. JSON names its URLs by their paths. */
export const serveApplication = async <Fields>(
  { isSigned, fieldsOf, type }: Reader<Fields>,
  answers: Answers,
) => {
  const received: Received<Fields | Record<string, string>>[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = "", headers } = request;
    const url = `http://${headers.host}${request.url}`;
    const { pathname: path, searchParams } = new URL(url);
    const asked = { method, path, url, body, headers: headersOf(request) };
    if (!(await isSigned(asked))) return void response.writeHead(401).end();
    const fields = method === "GET" ? Object.fromEntries(searchParams) : fieldsOf(body);
    received.push({ path, method, fields });
    const answer = answers[path] ?? 204;
    if (typeof answer === "function") {
      return answer(request, response, received.filter((one) => one.path === path).length);
    }
    if (typeof answer === "number") return void response.writeHead(answer).end();
    if (typeof answer === "string") {
      return void response.writeHead(200, { "Content-Type": type }).end(answer);
    }
    const json = JSON.stringify(answer).replaceAll('"/', `"http://${headers.host}/`);
    response.writeHead(200, { "Content-Type": "application/json" }).end(json);
  });
  const origin = await listen(server);
  return {
    origin,
    server,
    received: received as Received<Fields>[],
    /** What came to a path, in order. */
    at: (path: string) =>
      received.filter((one) => one.path === path).map(({ fields }) => fields as Fields),
  };
};

/** What a call performed, with how long each took in milliseconds: `Say 500`. */
export const verbsOf = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) =>
    entry.type === "verb"
      ? [`${entry.verb}${entry.duration === undefined ? "" : ` ${entry.duration}`}`]
      : [],
  );

/** Milliseconds from the answer of a call to its end. */
export const talkOf = ({ answered_at = 0, ended_at = 0 }: CallRecord): number =>
  ended_at - answered_at;

/** The last state of a call's media stream. */
export const streamOf = ({ history }: CallRecord) =>
  history.findLast(({ type }) => type === "stream");
