import { onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { type CallbackOptions, callbackHandler } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import type { Emulator } from "../../../src/emulator/index.ts";
import { wavHead } from "../../../src/emulator/recording/wav.ts";
import { type Action, dial, play, stream } from "../../../src/flows/actions.ts";
import type { StepInput } from "../../../src/flows/flow-state.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { streamSession } from "../../../src/flows/media/session.ts";
import { audio } from "../../../src/flows/prompts.ts";
import { record } from "../../../src/flows/record.ts";
import { gather, say } from "../../../src/flows/say.ts";
import type { Service } from "../../../src/service.ts";
import { tone } from "../telephone/ear.ts";
import { announcement, type Program } from "./cases.ts";

export const secret = "a secret that was made at random";

/** An interface that a service speaks, and our side of it. */
export interface Side {
  /** Absent for outdial's own. */
  readonly service: Service | undefined;
  readonly keyOf: (emulator: Emulator) => string;
  /** Whether the query of a `ws_url` comes in the first message, and not with the request for the socket. */
  readonly signsStart: boolean;
}

/** How long the application's media socket stays open, in milliseconds. */
const socketDuration = 2_500;

/** Takes media sockets until the test is over: says something, and closes. */
export const serveMedia = async ({
  service,
  signsStart,
}: Pick<Side, "service" | "signsStart">): Promise<string> => {
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  sockets.on("connection", (socket, { url }) => {
    const session = streamSession(
      socket,
      { onStart: () => session.audio(new Int16Array(8 * 500).fill(9_000)) },
      service && (signsStart ? { service, secret, url: url ?? "" } : { service }),
    );
    const timer = setTimeout(() => session.close(), socketDuration);
    socket.on("close", () => clearTimeout(timer));
  });
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  });
  await new Promise((resolve) => sockets.once("listening", resolve));
  const address = sockets.address();
  if (typeof address === "string" || !address) throw new Error("no port");
  return `ws://127.0.0.1:${address.port}/media`;
};

type StepName = "thanks" | "bye" | "end";

const question = audio("https://app.test/question.wav");
const keys = ["1", "2"] as const;

/** What each program does when the call is answered. */
const programs = (
  media: string,
): {
  readonly [Name in Program]: (more: string) => Action<StepName> | Promise<Action<StepName>>;
} => ({
  ask: () =>
    gather([question], {
      ...{ digits: 1, as: "reply", timeout_ms: 4_000, tries: 2, otherwise: "bye" },
      on: { [keys[0]]: "thanks", [keys[1]]: "bye" },
    }),
  pin: () =>
    gather([question], {
      ...{ digits: 4, finish_on_key: "#", as: "pin", timeout_ms: 4_000, next: "thanks" },
    }),
  record: () =>
    record([question], {
      ...{ max_length_ms: 20_000, finish_on_key: "#", silence_ms: 3_000, next: "thanks" },
    }),
  dial: (to) => dial(to, { timeout: 3, next: "end", on_busy: "bye" }),
  tell: () => say("This is to tell you that your parcel is at the post office, until Friday."),
  lost: () => play("https://app.test/lost.wav"),
  stream: async () => stream(await signUrl(media, { secret }), { next: "end" }),
  live: () => play("https://app.test/long.wav"),
});

/** The parts of an application that differ between two runs of it. */
interface ApplicationParts {
  readonly service: Service | undefined;
  readonly media: string;
  readonly onEvent: CallbackOptions["onEvent"];
  readonly onInput: (given: StepInput) => unknown;
}

/** An announcement, as a WAV. */
const sound = (ms: number): Response => {
  const samples = tone(350, ms);
  return new Response(new Blob([wavHead(samples.length, 8_000), Int16Array.from(samples)]));
};

/** The application of all calls, as `fetch` takes it: flows, announcements, and the receiver of notifications. */
export const applicationOf = ({ service, media, onEvent, onInput }: ApplicationParts) => {
  const known = programs(media);
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const checks = { secret, onError, ...(service && { service }) };
  const status = callbackHandler({ ...checks, onEvent });
  const flow = flowHandler<StepName>({
    ...checks,
    onAnswer: ({ variables: { program = "", more = "" } }) => {
      const decide = Object.entries(known).find(([name]) => name === program)?.[1];
      if (!decide) throw new Error("there is no such program");
      return decide(more);
    },
    onInput,
    steps: {
      thanks: () => say("Thank you."),
      bye: () => say("Goodbye."),
      end: () => say("That was all."),
    },
  });
  const elsewhere = flowHandler({ ...checks, onAnswer: () => say("You were led elsewhere.") });
  const paths: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    "/flow": flow,
    "/elsewhere": elsewhere,
    "/status": status,
    "/question.wav": () => sound(announcement.question),
    "/long.wav": () => sound(announcement.long),
  };
  const fetch = async (request: Request): Promise<Response> =>
    paths[new URL(request.url).pathname]?.(request) ?? new Response(null, { status: 404 });
  return { fetch, errors };
};
