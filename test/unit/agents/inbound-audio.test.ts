import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import { createInboundAudio } from "../../../src/agents/inbound.ts";
import { Meter } from "../../../src/agents/metrics.ts";
import { createTimers } from "../../../src/lib/timers.ts";
import { talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A talk whose callee speaks, and whose line then sends nothing more. */
const speaking = async (level = 5_000) => {
  const talk = await talking(openaiRealtime({ apiKey: "sk" }));
  talk.mind.receive({ type: "session.updated" });
  for (let at = 0; at < 10; at++) {
    talk.line.hear(level, 20);
    await vi.advanceTimersByTimeAsync(20);
  }
  const { length } = talk.mind.sent;
  /** Milliseconds of silence that the agent was sent since. */
  const silence = () =>
    talk.mind.messages.slice(length).reduce((sum, { type, audio }) => {
      if (type !== "input_audio_buffer.append") return sum;
      const bytes = Buffer.from(String(audio), "base64");
      expect(new Set(bytes)).toEqual(new Set([0xff]));
      return sum + bytes.length / 8;
    }, 0);
  return { ...talk, silence };
};

test("a line that stops in the middle of speech is continued with silence after half a second, for 2 s", async () => {
  const { silence } = await speaking();
  await vi.advanceTimersByTimeAsync(470);
  expect(silence()).toBe(0);
  await vi.advanceTimersByTimeAsync(1_050);
  expect(silence()).toBe(1_100);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(silence()).toBe(2_000);
});

test("the silence ends with speech_stopped", async () => {
  const { mind, silence } = await speaking();
  mind.receive({ type: "input_audio_buffer.speech_started" });
  await vi.advanceTimersByTimeAsync(1_000);
  const before = silence();
  expect(before).toBeGreaterThan(0);
  mind.receive({ type: "input_audio_buffer.speech_stopped" });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(silence()).toBe(before);
});

test("the silence ends with real audio, and may begin anew after it", async () => {
  const { mind, line, silence } = await speaking();
  await vi.advanceTimersByTimeAsync(1_000);
  const before = silence();
  line.hear(5_000, 20);
  const { length } = mind.sent;
  await vi.advanceTimersByTimeAsync(450);
  expect(mind.sent).toHaveLength(length);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(mind.sent.length).toBeGreaterThan(length);
  expect(before).toBeGreaterThan(0);
});

test("a line that stops while nobody speaks is left alone", async () => {
  const { silence } = await speaking(10);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(silence()).toBe(0);
});

test("frames that are far apart because they are long are no gap", async () => {
  const { mind, line } = await speaking();
  for (let at = 0; at < 5; at++) {
    line.hear(5_000, 1_000);
    const { length } = mind.sent;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(mind.sent).toHaveLength(length);
  }
});

test("what came while the process was held up is read first: its speech gets no silence in its middle", () => {
  let now = 0;
  let planned: { readonly at: number; readonly work: () => void }[] = [];
  const clock = {
    now: () => now,
    after: (ms: number, work: () => void) => {
      const plan = { at: now + ms, work };
      planned.push(plan);
      return () => {
        planned = planned.filter((each) => each !== plan);
      };
    },
    hold: <T>(work: Promise<T>) => work,
  };
  /** Runs what is due, once: what that plans is for a later turn of the event loop, after what has come is read. */
  const turn = (ms: number) => {
    now += ms;
    const due = planned.filter(({ at }) => at <= now);
    planned = planned.filter(({ at }) => at > now);
    for (const { work } of due) work();
  };
  const format = { encoding: "pcm", sampleRate: 8_000 } as const;
  const timers = createTimers(clock);
  const input = createInboundAudio(
    format,
    new Meter(clock),
    timers,
    0,
    () => false,
    () => 0,
  );
  const frame = new Uint8Array(new Int16Array(160).fill(5_000).buffer);
  const sent: Uint8Array[] = [];
  input.open(format, (audio) => sent.push(audio));
  for (let stall = 0; stall < 3; stall++) {
    input.push(frame);
    turn(700);
  }
  input.push(frame);
  expect(sent).toEqual([frame, frame, frame, frame]);
  turn(500);
  expect(sent).toHaveLength(5);
});
