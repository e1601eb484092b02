import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import express, { type Express, type RequestHandler } from "express";
import twilio from "twilio";
import { onTestFinished } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";
import { type CallRecord, createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";

export const accountSid = "AC0123456789abcdef0123456789abcdef";
export const authToken = "fedcba9876543210fedcba9876543210";
export const from = "+12025550199";
export const answering = "+12025550100";

/** Where a server is reached. */
const originOf = (server: Server): string => {
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
};

/** Listens on a free port until the test is over. */
export const listen = async (app: Express): Promise<{ origin: string; server: Server }> => {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { origin: originOf(server), server };
};

/** An emulator of Twilio on a port, and Twilio's own client for it. */
export const startTwilio = async (options: EmulatorOptions = {}) => {
  const emulator = createEmulator({
    service: { name: "twilio", account: accountSid },
    apiKey: authToken,
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
  return { emulator, baseUrl, client: clientFor(baseUrl) };
};

/** Twilio's client, as an application has it: only its base URL is another. */
export const clientFor = (baseUrl: string, user = accountSid, password = authToken) => {
  const client = twilio(user, password, { accountSid });
  client.api.baseUrl = baseUrl;
  return client;
};

/** What an application received. */
interface Received {
  readonly path: string;
  readonly method: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** The response of an application at a path: TwiML, or what the handler sends. */
export type Answers = Readonly<Record<string, string | RequestHandler>>;

/** An Express application that takes only what Twilio has signed, and answers TwiML. */
export const startApplication = async (answers: Answers = {}) => {
  const received: Received[] = [];
  const app = express();
  app.use(express.urlencoded({ extended: false }));
  app.use(twilio.webhook(authToken));
  app.use(({ path, method, body, query }, _, next) => {
    received.push({ path, method, fields: method === "GET" ? query : body });
    next();
  });
  for (const [path, answer] of Object.entries(answers)) {
    app.all(path, (request, response, next) => {
      if (typeof answer === "string") response.type("text/xml").send(answer);
      else answer(request, response, next);
    });
  }
  app.use((_, response) => void response.status(204).end());
  const { origin, server } = await listen(app);
  return {
    origin,
    server,
    received,
    /** What came to a path, in order. */
    at: (path: string) => received.filter((one) => one.path === path).map(({ fields }) => fields),
  };
};

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
  const { emulator, client } = await startTwilio(options);
  const { sid } = await client.calls.create({ from, to, url: `${application.origin}/voice` });
  return { ...application, emulator, client, call: await emulator.ended(sid) };
};
