import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import type { SessionEnd } from "../../src/agents/agent-session.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import {
  type CalleeScript,
  createEmulator,
  type EmulatorOptions,
} from "../../src/emulator/index.ts";
import { stream } from "../../src/flows/actions.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { Client } from "../../src/index.ts";
import { LocalSocket } from "../agents/local-socket.ts";
import { converse } from "../agents/protocols.ts";
import type { Behaviour, Conversation } from "../conformance/models/model.ts";

import { applicationId, signatureSecret } from "../unit/vonage/service.ts";

// Time is that of the test, and waits for the signatures, which are made and verified by other threads.
const toFake = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "performance",
  "Date",
] as const;
const { subtle } = crypto;
let signing = 0;
const counted =
  <Args extends unknown[], Result>(sign: (...args: Args) => Promise<Result>) =>
  (...args: Args): Promise<Result> => {
    signing++;
    return sign.apply(subtle, args).finally(() => {
      signing--;
    });
  };
beforeEach(() => {
  vi.useFakeTimers({ toFake: [...toFake] });
  const { digest, importKey, sign, verify } = subtle;
  vi.spyOn(subtle, "digest").mockImplementation(counted(digest));
  vi.spyOn(subtle, "importKey").mockImplementation(counted(importKey) as never);
  vi.spyOn(subtle, "sign").mockImplementation(counted(sign));
  vi.spyOn(subtle, "verify").mockImplementation(counted(verify));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A millisecond passes. */
const tick = async (): Promise<void> => {
  do await new Promise((resolve) => setImmediate(resolve));
  while (signing > 0);
  await vi.advanceTimersByTimeAsync(1);
};

type Data = string | Uint8Array;

/** One end of a WebSocket whose other end is in this process, too. */
class End extends EventTarget {
  readyState = 0;
  bufferedAmount = 0;
  binaryType = "blob";
  other: End | undefined;
  /** Milliseconds that a message is under way. */
  delay = 0;
  /** All that this end has sent. */
  readonly sent: Data[] = [];
  /** Whether a message that was sent arrives. */
  arrives: (data: Data) => boolean = () => true;

  send(data: Data): void {
    this.sent.push(data);
    if (!this.arrives(data)) return;
    const copy = typeof data === "string" ? data : new Uint8Array(data).buffer;
    this.#later("message", { data: copy });
  }

  close(code = 1000, reason = ""): void {
    if (this.readyState > 1) return;
    this.readyState = 2;
    const closed = { code, reason, wasClean: true };
    this.#later("close", closed);
    setTimeout(() => this.receive("close", closed), 2 * this.delay);
  }

  receive(type: string, fields: object = {}): void {
    if (this.readyState === 3) return;
    if (type === "open") this.readyState = 1;
    if (type === "close") this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event(type), fields));
  }

  #later(type: string, fields: object): void {
    setTimeout(() => this.other?.receive(type, fields), this.delay);
  }
}

interface Line {
  /** Milliseconds that a message is under way, in either direction. */
  readonly delay?: number;
  readonly sample_rate?: "8k" | "16k";
  /** Whether an acknowledgement reaches the application, by its number. */
  readonly isLost?: (acknowledgement: number) => boolean;
}

/** A call of our client to the emulated Vonage, whose audio an agent has, until the call is over. */
const call = async (
  behaviour: Behaviour,
  callee: (heard: { readonly truncations: readonly number[] }) => EmulatorOptions["callee"],
  { delay = 0, sample_rate = "16k", isLost = () => false }: Line = {},
) => {
  const truncations: number[] = [];
  const ends: SessionEnd[] = [];
  const service = vonage({ applicationId, signatureSecret });
  let conversation: Conversation | undefined;
  const agentSocket = new LocalSocket((text) => {
    const message = JSON.parse(text);
    if (message.type === "conversation.item.truncate") truncations.push(message.audio_end_ms);
    conversation ??= converse(
      (event) => queueMicrotask(() => agentSocket.deliver(event)),
      behaviour,
    );
    conversation.receive(message);
  });
  const application = new End();
  class Carrier extends End {
    constructor() {
      super();
      this.other = application;
      application.other = this;
      this.delay = delay;
      application.delay = delay;
      let acknowledgements = 0;
      this.arrives = (data) =>
        typeof data !== "string" ||
        !data.includes("websocket:notify") ||
        !isLost(acknowledgements++);
      setTimeout(() => {
        application.receive("open");
        connectAgent(application, openaiRealtime({ apiKey: "sk-key" }), {
          service,
          open: () => agentSocket,
          onEnd: (end) => ends.push(end),
        });
        this.receive("open");
      });
    }
  }
  const flow = flowHandler({
    service,
    dangerouslyAllowUnverified: true,
    onAnswer: () => stream("wss://app.test/media", { sample_rate }),
  });
  const emulator = createEmulator({
    service,
    webhookSecret: signatureSecret,
    ringDuration: 0,
    fetch: (request) =>
      new URL(request.url).pathname === "/flow"
        ? flow(request)
        : new Response(null, { status: 204 }),
    WebSocket: Carrier as never,
    callee: callee({ truncations }),
  });
  const { apiKey, fetch } = emulator;
  const client = new Client(apiKey, { service, baseUrl: "https://emulator.test", fetch });
  /** Lets time pass until something has come of it. */
  const passUntil = async <Value>(promise: Promise<Value>): Promise<Value> => {
    let isSettled = false;
    const settled = promise.finally(() => {
      isSettled = true;
    });
    while (!isSettled) await tick();
    return settled;
  };
  const { id } = await passUntil(
    client.calls.create({
      from_number: "+12025550199",
      to_number: "+12025550100",
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
    }),
  );
  const { flow_error, history } = await passUntil(emulator.ended(id));
  conversation?.stop();
  expect(flow_error).toBeUndefined();
  while (ends.length === 0) await tick();
  const { played = [], cuts = [] } = emulator.audio(id) ?? {};
  await emulator.close();
  const sizes = application.sent.flatMap((data) => (typeof data === "string" ? [] : [data.length]));
  const actions = application.sent.flatMap((data) =>
    typeof data === "string" ? [JSON.parse(data).action] : [],
  );
  const [cutAt = Number.POSITIVE_INFINITY] = cuts.map(({ at_ms }) => at_ms);
  return {
    truncations,
    reason: ends[0]?.reason,
    /** The lengths of the messages of audio, and the actions of the others. */
    sizes: new Set(sizes),
    actions: new Set(actions),
    cuts,
    /** Milliseconds that were played until something was cut off. */
    played: played
      .filter(({ from_ms }) => from_ms < cutAt)
      .reduce((sum, { samples, sample_rate }) => sum + (samples / sample_rate) * 1000, 0),
    stream: history.findLast(({ type }) => type === "stream"),
  };
};

/** A callee who speaks once they have heard so many milliseconds, and hangs up once the agent knows. */
const interruptingAfter =
  (ms: number) =>
  ({ truncations }: { readonly truncations: readonly number[] }): CalleeScript =>
    async function* () {
      yield { type: "listen", ms };
      yield { type: "tone", hertz: 300, ms: 400 };
      while (truncations.length === 0) yield { type: "silence", ms: 20 };
      yield { type: "hangup" };
    };

/** The callee interrupts answers of 6 s. */
const interrupted = async (ms: number, line: Line) => {
  const ended = await call({ answers: [6_000], late: 3 }, interruptingAfter(ms), line);
  const { truncations, cuts, sizes, actions, stream, reason, played } = ended;
  expect(truncations).toHaveLength(1);
  expect(cuts).toMatchObject([{ type: "clear" }]);
  expect(actions).toEqual(new Set(["notify", "clear"]));
  expect(sizes).toEqual(new Set([line.sample_rate === "8k" ? 320 : 640]));
  expect(stream).toMatchObject({ malformed: [], ignored: [] });
  expect(reason).toBe("hung_up");
  expect(played).toBeGreaterThanOrEqual(ms);
  return { truncated: truncations[0] ?? Number.NaN, played };
};

const listens = [300, 1_260];

describe("connectAgent on a WebSocket of the emulated Vonage, in frames of 20 ms", () => {
  test.each<Line>([{}, { sample_rate: "8k" }, { delay: 20 }, { delay: 60 }, { delay: 150 }])(
    "on a line with %j the agent is truncated where the callee has heard it",
    async (line) => {
      for (const ms of listens) {
        const { truncated, played } = await interrupted(ms, line);
        expect(Math.abs(truncated - played)).toBeLessThanOrEqual(2);
      }
    },
  );

  test.each<[string, Line]>([
    ["every second one", { isLost: (number) => number % 2 === 0 }],
    ["all but the first few", { isLost: (number) => number > 3 }],
    ["all of them", { isLost: () => true }],
  ])(
    "is never sent that more was heard than was, when of the acknowledgements are lost: %s",
    async (_, line) => {
      for (const ms of listens) {
        const { truncated, played } = await interrupted(ms, line);
        expect(truncated).toBeGreaterThan(0);
        expect(truncated).toBeLessThanOrEqual(played + 2);
      }
    },
  );

  test("an answer that is no whole number of frames is padded, and played before the agent hangs up", async () => {
    const behaviour = { answers: [505], calls: { 0: { name: "hang_up", args: {} } } };
    const { reason, played, sizes, stream } = await call(behaviour, () => [
      { type: "silence", ms: 60_000 },
    ]);
    expect(reason).toBe("agent_hung_up");
    expect(played).toBe(520);
    expect(sizes).toEqual(new Set([640]));
    expect(stream).toMatchObject({ malformed: [] });
  });
});
