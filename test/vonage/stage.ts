import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import { onTestFinished } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";
import { type CallRecord, createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";

export const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
export const signatureSecret = "the signature secret of an account";
export const from = "12025550199";
export const answering = "12025550100";

/** An emulator of Vonage on a port, and Vonage's own client for it. */
export const startVonage = async (options: EmulatorOptions = {}) => {
  const emulator = createEmulator({
    service: { name: "vonage", account: applicationId },
    webhookSecret: signatureSecret,
    host: "127.0.0.1",
    clock: "instant",
    ...options,
  });
  const handler = (request: Request) => emulator.fetch(request);
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    await emulator.close();
    await stop();
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  return { emulator, baseUrl, client: clientFor(baseUrl, emulator.apiKey) };
};

/** Vonage's client, as an application has it: only its host is another. */
export const clientFor = (baseUrl: string, privateKey: string, id = applicationId) =>
  new Voice(new Auth({ applicationId: id, privateKey }), { apiHost: baseUrl });

/** What an application received. */
interface Received {
  readonly path: string;
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The response of an application at a path: JSON, a status, or what a function sends. */
export type Answer =
  | object
  | number
  | ((request: IncomingMessage, response: ServerResponse, count: number) => void);

/** An application that takes only what Vonage's own verifier accepts. */
export const startApplication = async (answers: Readonly<Record<string, Answer>> = {}) => {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url ?? "", "http://app.test");
    const token = request.headers.authorization?.replace(/^Bearer /, "") ?? "";
    const isMedia = request.method === "GET" && pathname.endsWith(".wav");
    if (!isMedia && !verifySignature(token, signatureSecret))
      return void response.writeHead(401).end();
    const { method = "" } = request;
    const text = Buffer.concat(chunks).toString();
    const body = method === "GET" ? Object.fromEntries(searchParams) : JSON.parse(text);
    received.push({ path: pathname, method, body });
    const answer = answers[pathname] ?? 204;
    if (typeof answer === "function") {
      const count = received.filter(({ path }) => path === pathname).length;
      return answer(request, response, count);
    }
    if (typeof answer === "number") return void response.writeHead(answer).end();
    const json = JSON.stringify(answer).replaceAll('"/', `"http://${request.headers.host}/`);
    response.writeHead(200, { "Content-Type": "application/json" }).end(json);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    received,
    /** What came to a path, in order. */
    at: (path: string) => received.filter((one) => one.path === path).map(({ body }) => body),
  };
};

/** A request for a call, as Vonage's client takes it. */
export const callOf = (origin: string, more: object = {}, to = answering) => ({
  to: [{ type: "phone" as const, number: to }],
  from: { type: "phone" as const, number: from },
  answer_url: [`${origin}/answer`],
  answer_method: "POST",
  event_url: [`${origin}/events`],
  ...more,
});

/** Places a call with Vonage's client. */
export const place = async (client: Voice, call: object): Promise<string> => {
  const { uuid } = await client.createOutboundCall(call as never);
  return uuid;
};

/** The actions that a call performed, with how long they took in milliseconds. */
export const actionsOf = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) =>
    entry.type === "verb"
      ? [`${entry.verb}${entry.duration === undefined ? "" : ` ${entry.duration}`}`]
      : [],
  );

/** Follows one NCCO from the answer to the end of the call; it names URLs of the application by their paths. */
export const follow = async (
  ncco: object,
  {
    answers = {},
    to = answering,
    more = {},
    ...options
  }: EmulatorOptions & {
    answers?: Readonly<Record<string, Answer>>;
    to?: string;
    more?: object;
  } = {},
) => {
  const application = await startApplication({ "/answer": ncco, ...answers });
  const { emulator, client, baseUrl } = await startVonage(options);
  const uuid = await place(client, callOf(application.origin, more, to));
  return { ...application, emulator, client, baseUrl, uuid, call: await emulator.ended(uuid) };
};
