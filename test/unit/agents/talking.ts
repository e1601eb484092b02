import { vi } from "vitest";
import type { Agent, AgentEvent, Codec, ToolContext } from "../../../src/agents/agent.ts";
import type { EndReason } from "../../../src/agents/agent-session.ts";
import { Meter } from "../../../src/agents/metrics.ts";
import type { AgentSocket } from "../../../src/agents/open-socket.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import type { WarmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import type { MediaEvent, MediaSocket } from "../../../src/flows/media/socket.ts";
import { processClock } from "../../../src/lib/clock.ts";
import { start } from "../flows/media/start.ts";

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is the test. */
export class Socket implements MediaSocket, AgentSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: unknown[] = [];
  closed: unknown[] | undefined;
  readonly listeners = new Map<string, Set<Listener>>();

  send(message: string | Uint8Array): void {
    this.sent.push(message);
  }

  close(...how: unknown[]): void {
    this.closed ??= how;
    this.readyState = 3;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }

  emit(type: string, event: object = {}): void {
    for (const listener of [...(this.listeners.get(type) ?? [])]) listener({ type, ...event });
  }

  receive(message: object | ArrayBuffer): void {
    const data = message instanceof ArrayBuffer ? message : JSON.stringify(message);
    this.emit("message", { data });
  }

  /** The callee is heard, as loud as this, for so many ms. */
  hear(level: number, ms: number): void {
    const audio_b64 = Buffer.from(new Int16Array(ms * 8).fill(level).buffer).toString("base64");
    this.receive({ type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } });
  }

  /** What was sent as text, read. */
  get messages(): Record<string, unknown>[] {
    return this.sent.flatMap((each) => (typeof each === "string" ? [JSON.parse(each)] : []));
  }

  /** Milliseconds of audio that were sent, at 8 kHz. */
  get ms(): number {
    return this.messages.reduce(
      (sum, { audio_b64 = "" }) => sum + Buffer.byteLength(String(audio_b64), "base64") / 16,
      0,
    );
  }
}

const format = { encoding: "pcm", sampleRate: 8000 } as const;

/** An agent whose messages are the events themselves, or audio of a turn called `now`. */
export const plain = (more: Partial<Codec> = {}, rest: Partial<Agent> = {}): Agent => ({
  name: "plain",
  address: () => ({ url: "wss://agent.test/" }),
  codec: () => ({
    formats: { input: format, output: format },
    open: () => [],
    answered: () => [],
    encode: () => [],
    decode: (frame): readonly AgentEvent[] =>
      typeof frame === "string"
        ? [JSON.parse(frame)]
        : [{ type: "audio", audio: frame, response: "now" }],
    interrupted: () => [],
    toolResult: ({ id, output }) => [JSON.stringify({ id, output })],
    ...more,
  }),
  ...rest,
});

const nothing = async () => {};

/** What a tool gets beside its signal, where there is no call. */
export const noSession: Omit<ToolContext, "signal"> = {
  session: {
    ended: new Promise(() => {}),
    metrics: new Meter(processClock).metrics,
    say: async () => "refused",
    play: async () => "refused",
    reply: async () => "refused",
    addContext: nothing,
    setInstructions: nothing,
    interrupt: nothing,
    press: nothing,
    leave: async () => undefined,
    close: () => {},
  },
  start,
  context: {},
  transcripts: [],
};

/** What is already in line is done. */
export const settled = () => vi.advanceTimersByTimeAsync(0);

/** A talk on two sockets of the test, under vitest's clock. */
export const talking = async (agent: Agent | WarmAgent, options: SessionOptions = {}) => {
  const [line, mind] = [new Socket(), new Socket()];
  const errors: unknown[] = [];
  const ends: EndReason[] = [];
  const talk = connectAgent(line, agent, {
    open: () => mind,
    onError: (error) => errors.push(error),
    onEnd: ({ reason }) => ends.push(reason),
    ...options,
  });
  line.receive(start);
  await settled();
  return { line, mind, talk, errors, ends };
};
