import { onTestFinished, vi } from "vitest";
import { callbackHandler, type Received } from "../../src/callbacks/handler.ts";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import {
  type CalleeAct,
  type CallRecord,
  createEmulator,
  type EmulatorOptions,
} from "../../src/emulator/index.ts";
import { type FlowOptions, flowHandler } from "../../src/flows/handler.ts";
import { machineUrl } from "../../src/flows/machine-url.ts";
import { Client } from "../../src/index.ts";
import type { Service } from "../../src/service.ts";
import { carriers } from "./carriers.ts";

/** A service as the tests of conversations know it. */
export interface Talking {
  readonly name: string;
  readonly service?: Service;
  readonly emulated: EmulatorOptions;
  readonly keyOf: (emulator: { readonly apiKey: string }) => string;
}

/** All four services. */
export const services: readonly Talking[] = [
  { name: "own", emulated: {}, keyOf: ({ apiKey }) => apiKey },
  ...carriers.map(({ name, service, emulated, keyOf }) => ({
    ...{ name, service, emulated },
    keyOf: keyOf as Talking["keyOf"],
  })),
];

export const secret = "a secret that was made at random";

/** The options of `flowHandler` that make a conversation. */
export type Program<Name extends string = string> = Pick<
  FlowOptions<Name>,
  "onAnswer" | "onMachine" | "steps" | "onInput" | "onRecording"
>;

export interface Setting extends EmulatorOptions {
  readonly context?: Readonly<Record<string, unknown>>;
  readonly to?: string;
  /** Whether its flow is requested at the URL of a machine, as if the carrier had found one. */
  readonly isMachine?: boolean;
  /** The secrets of each flow request, in their order; the last one stays. */
  readonly secrets?: readonly (string | readonly string[])[];
  /** Called with each flow request before it is answered; it may answer itself. */
  readonly onRequest?: (request: Request, count: number) => Promise<Response | undefined>;
  readonly onEvent?: (received: Received) => unknown;
}

/** A call of our client with a conversation, to its end. */
export const converse = async <const Name extends string>(
  { service, emulated, keyOf }: Talking,
  program: Program<Name>,
  callee: readonly CalleeAct[],
  setting: Setting = {},
) => {
  const { context = {}, to = "+12025550100", secrets = [secret], isMachine, ...others } = setting;
  const { onRequest, onEvent = () => {}, ...options } = others;
  const onError = vi.fn();
  const urls: string[] = [];
  const requests: Request[] = [];
  const status = callbackHandler({
    ...(service && { service }),
    secret,
    onEvent,
    onError,
  });
  const checks = (at: number) => ({
    ...(service && { service }),
    secret: secrets[Math.min(at, secrets.length - 1)] ?? secret,
  });
  const emulator = createEmulator({
    ...emulated,
    clock: "instant",
    untimedMedia: true,
    host: "127.0.0.1",
    callee,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/status") return status(request);
      if (pathname !== "/flow") return new Response("sound");
      urls.push(request.url);
      requests.push(request.clone());
      const own = await onRequest?.(request.clone(), urls.length);
      // Each request is answered by a handler of its own: nothing is kept between two.
      const handler = flowHandler<Name>({ ...checks(urls.length - 1), ...program, onError });
      return own ?? handler(request);
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  const client = new Client(() => keyOf(emulator), {
    ...(service && { service }),
    ...{ baseUrl: "https://emulator.test", fetch: emulator.fetch },
  });
  const { id } = await client.calls.create({
    from_number: "+12025550199",
    to_number: to,
    flow_url: isMachine
      ? await machineUrl("https://app.test/flow?a=1", { secret, context, answered_by: "fax" })
      : await signUrl("https://app.test/flow?a=1", { secret, context }),
    status_callback_url: await signUrl("https://app.test/status", { secret, context }),
  });
  const call = await emulator.ended(id);
  const live = { apiKey: keyOf(emulator), baseUrl: "https://emulator.test", fetch: emulator.fetch };
  return {
    ...{ id, call, urls, requests, onError, emulator },
    /** The options of a live call's functions. */
    live: { ...live, ...(service && { service }) },
  };
};

/** The texts that a call has spoken, in order. */
export const spokenIn = ({ history }: Pick<CallRecord, "history">): string[] =>
  history.flatMap((entry) => {
    if (entry.type === "verb") {
      return entry.verb === "Say" || entry.verb === "talk" ? [entry.text ?? ""] : [];
    }
    const prompts =
      entry.type === "action" && "prompts" in entry.action ? entry.action.prompts : [];
    return prompts.flatMap((prompt) => ("text" in prompt ? prompt.text : []));
  });

export const key = (digits: string): readonly CalleeAct[] => [
  { type: "until-prompt" },
  { type: "press", digits },
];
