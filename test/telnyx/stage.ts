import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import Telnyx from "telnyx";
import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { onTestFinished } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";
import { type CallRecord, createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";

export const applicationId = "1773070540731319841";
export const accountSid = "61bf923e-5e4d-4595-a110-56190ea18a1b";
export const apiKey = "KEY0123456789ABCDEF";
export const from = "+12025550199";
export const answering = "+12025550100";

/** An emulator of Telnyx on a port, and Telnyx's own client for it. */
export const startTelnyx = async (options: EmulatorOptions = {}) => {
  const emulator = createEmulator({
    service: { name: "telnyx", account: applicationId },
    apiKey,
    host: "127.0.0.1",
    clock: "instant",
    responseTimeout: 60_000,
    ...options,
  });
  const handler = (request: Request) => emulator.fetch(request);
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await emulator.close();
    await stop();
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  return { emulator, baseUrl, client: clientFor(baseUrl) };
};

/** Telnyx's client, as an application has it: only its base URL is another. */
export const clientFor = (baseUrl: string, key = apiKey) =>
  new Telnyx({ apiKey: key, baseURL: `${baseUrl}/v2`, maxRetries: 0 });

/** What the path with an application's id takes: more than the types of the client name. */
interface CallBody {
  readonly To?: string;
  readonly Url?: string;
  readonly Texml?: string;
  readonly [field: string]: unknown;
}

/** Places a call by its application, and returns the call's SID. */
export const place = async (client: Telnyx, body: CallBody): Promise<string> => {
  const call = { From: from, To: answering, ...body };
  return (await client.texml.calls.create(applicationId, call)).call_sid;
};

/** What an application received. */
interface Received {
  readonly path: string;
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void;

/** The response of an application at a path: TeXML, a status, or what the handler sends. */
export type Answers = Readonly<Record<string, string | number | Handler>>;

/** The key by which `emulator.webhookSecret` verifies requests. */
const webhookOf = (emulatorKey: string) => new TelnyxWebhook(emulatorKey);

const testKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";

const headersOf = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** Listens on a free port until the test is over. */
export const listen = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

/** An application that takes only what Telnyx's own verifier accepts. */
export const startApplication = async (answers: Answers = {}) => {
  const received: Received[] = [];
  const webhook = webhookOf(testKey);
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { pathname: path, searchParams } = new URL(request.url ?? "", "http://app.test");
    const { method = "" } = request;
    const isMedia = path.endsWith(".wav");
    const isSigned = isMedia || (await isAccepted(webhook, body, headersOf(request)));
    if (!isSigned) return void response.writeHead(401).end();
    const fields = Object.fromEntries(method === "GET" ? searchParams : new URLSearchParams(body));
    received.push({ path, method, fields });
    const answer = answers[path] ?? 204;
    if (typeof answer === "function") {
      return answer(request, response, received.filter((one) => one.path === path).length);
    }
    if (typeof answer === "number") return void response.writeHead(answer).end();
    response.writeHead(200, { "Content-Type": "application/xml" }).end(answer);
  });
  const origin = await listen(server);
  return {
    origin,
    server,
    received,
    /** What came to a path, in order. */
    at: (path: string) => received.filter((one) => one.path === path).map(({ fields }) => fields),
  };
};

/** Whether Telnyx's own verifier accepts a request. */
export const isAccepted = async (
  webhook: TelnyxWebhook,
  body: string,
  headers: Record<string, string>,
): Promise<boolean> =>
  webhook.verify(body, headers).then(
    () => true,
    () => false,
  );

/** The verbs that a call performed, with how long they took in milliseconds. */
export const verbsOf = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) =>
    entry.type === "verb"
      ? [`${entry.verb}${entry.duration === undefined ? "" : ` ${entry.duration}`}`]
      : [],
  );

/** Follows one document from the answer to the end of the call. */
export const follow = async (
  document: string,
  {
    answers = {},
    to = answering,
    ...options
  }: EmulatorOptions & { answers?: Answers; to?: string } = {},
) => {
  const application = await startApplication({ "/voice": document, ...answers });
  const { emulator, client } = await startTelnyx(options);
  const sid = await place(client, { To: to, Url: `${application.origin}/voice` });
  return { ...application, emulator, client, call: await emulator.ended(sid) };
};
