import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { callbackHandler, isFinal } from "outdial/callbacks";
import { dial, flowHandler, hangup, play } from "outdial/flows";
import { answering } from "./child.ts";
import { Calls, Ledger } from "./ledger.ts";
import { heapInUse } from "./memory.ts";

/** The caller's application: decides what the calls do, and hears of them. 5 % of its answers fail. */
const calls = new Calls();
const finals = new Ledger();
let refused = 0;

const fails = (): boolean => Math.random() < 0.05;

let origin = "";

const actions = {
  hangup: () => hangup(),
  play: () => play(`${origin}/hello.wav`),
  dial: () => dial("+12025550120"),
} as const;

/** A tenth of a second of silence: 16-bit PCM, 8 kHz, mono. */
const silence = (): Response => {
  const sound = Buffer.alloc(44 + 1_600);
  const { buffer } = sound;
  const view = new DataView(buffer, sound.byteOffset);
  sound.write("RIFF....WAVEfmt ", "latin1");
  view.setUint32(4, sound.length - 8, true);
  for (const [at, value] of [16, 0x10001, 8_000, 16_000, 0x100002].entries()) {
    view.setUint32(16 + 4 * at, value, true);
  }
  sound.write("data", 36, "latin1");
  view.setUint32(40, 1_600, true);
  return new Response(sound, { headers: { "content-type": "audio/wav" } });
};

type Handlers = Readonly<Record<string, (request: Request) => Promise<Response>>>;

const handlersWith = (secret: string, webhookSecret: string): Handlers => ({
  "/status": callbackHandler({
    secret,
    webhookSecret,
    onEvent: ({ event, context }) => {
      const attempt = Number(context.attempt);
      if (event.call_id) calls.note(attempt, event.call_id);
      if (isFinal(event)) finals.set(attempt, 1);
      if (fails()) throw new Error("The application fails.");
    },
    onError: (error) => {
      if (error instanceof Error && error.name === "RefusedException") refused++;
    },
  }),
  "/flow": flowHandler({
    secret,
    onAnswer: ({ context }) => {
      if (fails()) throw new Error("The application fails.");
      return actions[context.flow as keyof typeof actions]();
    },
    onError: () => {}, // Its own failures are wanted here.
  }),
});

let handlers: Handlers = {};

const server = createServer(
  { keepAliveTimeout: 0 }, // Only a client closes an idle connection: a POST may be on its way on it.
  getRequestListener(
    async (request) => {
      const handle = handlers[new URL(request.url).pathname];
      return handle ? handle(request) : silence();
    },
    { overrideGlobalObjects: false },
  ),
);

answering({
  start: async (given: { readonly secret: string; readonly webhookSecret: string }) => {
    handlers = handlersWith(given.secret, given.webhookSecret);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return origin;
  },
  sample: heapInUse,
  close: () => ({
    ids: calls.ids.toArray(),
    finals: finals.toArray(),
    doubled: calls.doubled,
    refused,
  }),
});
