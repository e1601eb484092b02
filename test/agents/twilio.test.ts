import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import type { RealtimeServerEvent } from "openai/resources/realtime/realtime";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { WebSocket } from "ws";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { mediaSide } from "../../src/carriers/twilio/media.ts";
import type { Conversation } from "../conformance/models/model.ts";
import { LocalSocket } from "./local-socket.ts";
import { converse } from "./protocols.ts";
import { type PhoneLine, TwilioPhone, type Written } from "./twilio-phone.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Connects a Media Stream with an agent's socket; returns what ends that. */
type Bridge = (phone: LocalSocket, agent: LocalSocket) => () => unknown;

const ours: Bridge = (phone, socket) => {
  const agent = openaiRealtime({ apiKey: "sk-key" });
  const service = { media: mediaSide() };
  const options = { service, dangerouslyAllowUnverified: true, open: () => socket };
  return connectAgent(phone, agent, options).close;
};

const theirs: Bridge = (phone, socket) => {
  const transport = new TwilioRealtimeTransportLayer({
    twilioWebSocket: phone as unknown as WebSocket,
    createWebSocket: async () => socket as unknown as WebSocket,
    skipOpenEventListeners: true,
  });
  transport.on("error", (error) => console.error(error));
  const turnDetection = {
    type: "server_vad",
    createResponse: true,
    interruptResponse: true,
  } as const;
  const initialSessionConfig = { audio: { input: { turnDetection } } };
  transport
    .connect({ apiKey: "sk-key", model: "gpt-realtime", initialSessionConfig })
    .then(() => transport.sendEvent({ type: "response.create" }));
  return () => transport.close();
};

/** An interruption: what the agent was sent, and what was true. */
interface Interruption {
  readonly audio_end_ms: number;
  /** Milliseconds of the interrupted answer that had been played when the `clear` came. */
  readonly played: number;
  /** What was written between the agent's message that the callee speaks and the `clear`. */
  readonly before: readonly Written[];
}

interface Call {
  readonly interruptions: readonly Interruption[];
  /** All that was written to the line. */
  readonly written: readonly Written[];
  /** Milliseconds of the answers that were played after they had been cut off. */
  readonly after: number;
  /** How many of the agent's messages of audio had come when the first audio was written. */
  readonly firstAudio: number | undefined;
}

/**
 * A call in which the callee interrupts each answer once they have heard so many milliseconds of it, by the clock of
 * the test.
 */
const call = async (
  bridge: Bridge,
  listens: readonly number[],
  line: PhoneLine = {},
): Promise<Call> => {
  const phone = new TwilioPhone(line);
  const truncations: number[] = [];
  const writtenBefore: number[] = [];
  let deltas = 0;
  let firstAudio: number | undefined;
  let conversation: Conversation | undefined;
  const say = (event: RealtimeServerEvent): void => {
    queueMicrotask(() => {
      const { type } = event;
      if (type === "input_audio_buffer.speech_started") writtenBefore.push(phone.written.length);
      if (type === "response.output_audio.delta") deltas++;
      agent.deliver(event);
      if (phone.written.some((each) => each.event === "media")) firstAudio ??= deltas;
    });
  };
  const agent = new LocalSocket((text) => {
    const message = JSON.parse(text);
    if (message.type === "conversation.item.truncate") truncations.push(message.audio_end_ms);
    conversation ??= converse(say, { answers: listens.map(() => 6_000), late: 3 });
    conversation.receive(message);
  });
  const stop = bridge(phone.socket, agent);
  phone.start();
  let speaks = 0;
  for (let answer = 0; answer < listens.length; ) {
    await vi.advanceTimersByTimeAsync(1);
    phone.tick();
    if (speaks > 0) speaks--;
    else if ((phone.played.get(answer) ?? 0) >= (listens[answer] ?? 0)) {
      speaks = 300;
      answer++;
    }
    phone.speak(speaks > 0);
  }
  for (let ms = 0; ms < 1_000; ms++) {
    await vi.advanceTimersByTimeAsync(1);
    phone.speak(ms < 300);
    phone.tick();
  }
  stop();
  conversation?.stop();
  await vi.advanceTimersByTimeAsync(1_000);
  const { written, played, playedAtClear } = phone;
  const clears = written.flatMap(({ event }, at) => (event === "clear" ? [at] : []));
  return {
    firstAudio,
    interruptions: truncations.map((audio_end_ms, at) => ({
      audio_end_ms,
      played: playedAtClear[at]?.get(at) ?? Number.NaN,
      before: written.slice(writtenBefore[at], clears[at]),
    })),
    written,
    after: listens.reduce(
      (sum, _, at) => sum + (played.get(at) ?? 0) - (playedAtClear[at]?.get(at) ?? 0),
      0,
    ),
  };
};

const listens = [300, 777, 1_260, 2_345];

/** How far what the agent was sent is from what was played, in ms: more if it is positive. */
const apart = ({ interruptions }: Call) =>
  interruptions.map(({ audio_end_ms, played }) => audio_end_ms - played);

/** Both on the same line, with the same callee and the same agent. */
const sideBySide = async (line: PhoneLine) => {
  const [our, their] = [await call(ours, listens, line), await call(theirs, listens, line)];
  for (const { interruptions, after } of [our, their]) {
    expect(interruptions).toHaveLength(listens.length);
    expect(after).toBe(0);
  }
  return { our, their };
};

describe("beside TwilioRealtimeTransportLayer, an agent that is interrupted", () => {
  test.each<[string, PhoneLine]>([
    ["by a line without delay", {}],
    ["by a line with 20 ms each way", { delay: 20 }],
    ["by a line with 60 ms each way", { delay: 60 }],
    ["by a line with 150 ms each way", { delay: 150 }],
    ["by a service that begins to play 200 ms after audio has come", { jitterBuffer: 200 }],
    ["by both", { delay: 60, jitterBuffer: 120 }],
    ["by a service whose marks are all late", { markDelay: () => 150 }],
  ])("%s is truncated where it was heard, and the peer's is not", async (_, line) => {
    const { our, their } = await sideBySide(line);
    for (const ms of apart(our)) expect(Math.abs(ms)).toBeLessThanOrEqual(2);
    const furthest = (call: Call) => Math.max(...apart(call).map(Math.abs));
    expect(furthest(their)).toBeGreaterThan(20);
  });

  test.each<[string, PhoneLine]>([
    ["lost, every second one", { isLost: (mark) => mark % 2 === 0 }],
    ["lost, all but the first few", { isLost: (mark) => mark > 3 }],
    ["lost, all of them", { isLost: () => true }],
    ["out of order", { markDelay: (mark) => (mark % 2 ? 0 : 700) }],
    ["late by turns", { delay: 40, markDelay: (mark) => (mark % 3) * 90 }],
  ])("never gets more as played than was, when marks are %s", async (_, line) => {
    const { our } = await sideBySide(line);
    for (const ms of apart(our)) expect(ms).toBeLessThanOrEqual(2);
    for (const { audio_end_ms } of our.interruptions) expect(audio_end_ms).toBeGreaterThan(0);
  });

  test("is silent at once: nothing is written between the agent's message and the clear", async () => {
    const { our } = await sideBySide({ delay: 30 });
    expect(our.interruptions.map(({ before }) => before)).toEqual(listens.map(() => []));
  });

  test("is heard with its first message, as the peer's is, and takes fewer messages", async () => {
    const { our, their } = await sideBySide({});
    expect([our.firstAudio, their.firstAudio]).toEqual([1, 1]);
    expect(our.written.length).toBeLessThan(their.written.length / 4);
    const sent = ({ written }: Call) => written.reduce((sum, { ms }) => sum + ms, 0);
    // What was cut off had not all been sent: the peer sends all that comes at once.
    expect(sent(our)).toBeLessThan(sent(their));
  });
});
