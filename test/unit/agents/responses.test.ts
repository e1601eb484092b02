import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import { xai } from "../../../src/agents/adapters/xai.ts";
import type { Tool } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const speech = (ms: number) => new Uint8Array(ms * 16).fill(77).buffer;

describe("an answer after one that was cut off is heard", () => {
  test("when answers have one name, and the end of each is reported", async () => {
    const { line, mind } = await talking(plain());
    mind.receive({ type: "ready" });
    mind.receive(speech(2_000));
    mind.receive({ type: "interrupted" });
    mind.receive(speech(500)); // Late.
    await vi.advanceTimersByTimeAsync(1_000);
    const before = line.ms;
    for (const answer of [1, 2]) {
      mind.receive({ type: "response_done", response: "now" });
      mind.receive(speech(500));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(line.ms - before).toBe(answer * 500);
    }
  });

  test("when they have one name, and the end of one had come before it was cut off", async () => {
    const { line, mind } = await talking(plain());
    mind.receive({ type: "ready" });
    for (let answer = 0; answer < 3; answer++) {
      mind.receive(speech(500));
      mind.receive({ type: "response_done", response: "now" });
      await vi.advanceTimersByTimeAsync(100);
      mind.receive({ type: "interrupted" });
    }
    expect(line.ms).toBe(1_500);
  });

  test.each([
    ["no answer at all", false],
    ["an answer of no name", true],
  ])("when a gateway tells of %s", async (_, isTold) => {
    const { line, mind, errors } = await talking(openaiRealtime({ apiKey: "sk" }));
    mind.receive({ type: "session.updated" });
    const answer = async () => {
      if (isTold) mind.receive({ type: "response.created", response: {} });
      const delta = Buffer.alloc(4_000, 1).toString("base64");
      mind.receive({ type: "response.output_audio.delta", item_id: "i", content_index: 0, delta });
      await vi.advanceTimersByTimeAsync(100);
    };
    for (let at = 0; at < 3; at++) {
      await answer();
      mind.receive({ type: "input_audio_buffer.speech_started" });
    }
    expect(line.ms).toBe(1_500);
    expect(errors).toEqual([]);
  });
});

test("what comes late of an answer that was cut off is nowhere in the next", async () => {
  const line = new Socket();
  const mind = new Socket();
  connectAgent(line, openaiRealtime({ apiKey: "sk" }), { open: () => mind });
  line.receive({ ...start, data: { ...start.data, sample_rate: 16_000 } });
  await settled();
  mind.receive({ type: "session.updated" });
  const delta = (response_id: string, bytes: Buffer) =>
    mind.receive({
      type: "response.output_audio.delta",
      response_id,
      item_id: response_id,
      delta: bytes.toString("base64"),
    });
  const pcm = (value: number) => Buffer.from(new Int16Array(4_800).fill(value).buffer);
  mind.receive({ type: "response.created", response: { id: "A" } });
  delta("A", pcm(100));
  mind.receive({ type: "input_audio_buffer.speech_started" });
  line.sent.length = 0;
  delta("A", Buffer.from([7]));
  mind.receive({ type: "response.created", response: { id: "B" } });
  delta("B", pcm(1));
  delta("A", pcm(20_000));
  mind.receive({ type: "response.done", response: { id: "A" } });
  delta("B", pcm(1));
  mind.receive({ type: "response.done", response: { id: "B" } });
  await vi.advanceTimersByTimeAsync(2_000);
  const bytes = Buffer.concat(
    line.messages.map(({ audio_b64 }) => Buffer.from(String(audio_b64 ?? ""), "base64")),
  );
  const samples = new Int16Array(Uint8Array.from(bytes).buffer);
  expect(samples.length).toBeGreaterThan(6_000);
  // The filter begins and ends in silence; between, every sample is what was said.
  expect(new Set(samples.slice(100, 6_000))).toEqual(new Set([1]));
});

describe("hang_up", () => {
  const goodbye = { type: "tool", id: "1", name: "hang_up" };

  test("waits for a goodbye of forty seconds", async () => {
    const { line, mind, ends } = await talking(plain());
    mind.receive({ type: "ready" });
    mind.receive(speech(40_000));
    mind.receive(goodbye);
    mind.receive({ type: "response_done", response: "now" });
    await vi.advanceTimersByTimeAsync(40_000);
    expect([line.ms, ends]).toEqual([40_000, []]);
    await vi.advanceTimersByTimeAsync(1_300);
    expect(ends).toEqual(["agent_hung_up"]);
  });

  test("waits for what was said before an agent's own end, as long", async () => {
    const { line, mind, ends } = await talking(plain());
    mind.receive({ type: "ready" });
    mind.receive(speech(40_000));
    mind.emit("close", { code: 1000 });
    await vi.advanceTimersByTimeAsync(41_000);
    expect([line.ms, ends]).toEqual([40_000, ["agent_ended"]]);
  });

  test.each([["before it", "after it"], ["after it"], ["before it"]])(
    "waits for the tools that the model calls %s",
    async (...places) => {
      const aborted = vi.fn();
      const wait = new Promise((resolve) => setTimeout(resolve, 4_000));
      const book: Tool = {
        description: "",
        run: (_, { signal }) => {
          signal.addEventListener("abort", aborted);
          return wait;
        },
      };
      const { mind, ends } = await talking(plain({}, { tools: { book } }));
      mind.receive({ type: "ready" });
      const tool = { type: "tool", name: "book" };
      if (places.includes("before it")) mind.receive({ ...tool, id: "2" });
      mind.receive(goodbye);
      if (places.includes("after it")) mind.receive({ ...tool, id: "3" });
      await vi.advanceTimersByTimeAsync(3_900);
      expect(ends).toEqual([]);
      await vi.advanceTimersByTimeAsync(1_100);
      expect([ends, aborted.mock.calls]).toEqual([["agent_hung_up"], []]);
    },
  );

  test("doesn't wait for ever for an answer that never ends", async () => {
    const { mind, ends } = await talking(plain());
    mind.receive({ type: "ready" });
    mind.receive(speech(1_000));
    mind.receive(goodbye);
    await vi.advanceTimersByTimeAsync(32_000);
    expect(ends).toEqual(["agent_hung_up"]);
  });

  test("is off when the callee speaks to an agent that makes room by itself", async () => {
    const { mind, ends } = await talking(gptLive({ apiKey: "sk" }));
    mind.receive({ type: "session.started" });
    const delta = Buffer.alloc(8_000, 1).toString("base64");
    mind.receive({ type: "session.output_audio.delta", delta });
    const item = { type: "function_call", call_id: "1", name: "hang_up", arguments: "{}" };
    mind.receive({
      type: "response.event",
      event: { type: "response.output_item.done", item },
    });
    mind.receive({ type: "session.input_transcript.delta", delta: "Wait" });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(ends).toEqual([]);
    expect(JSON.stringify(mind.messages.at(-1))).toContain("the call goes on");
  });
});

test("a text that xai says word for word is sent once, and played, though a response of its own fails or is heard before", async () => {
  const { line, mind, talk } = await talking(xai({ apiKey: "key", greeting: false }));
  const failed = { status: "failed", status_details: { error: { code: "server_error" } } };
  const heard = (id: string) => {
    const delta = Buffer.alloc(8_000, 1).toString("base64");
    mind.receive({ type: "response.output_audio.delta", response_id: id, item_id: id, delta });
  };
  const texts = () => mind.messages.filter(({ type }) => type === "conversation.item.create");
  mind.receive({ type: "session.updated" });
  for (const own of [failed, { status: "completed" }]) {
    const before = texts().length;
    const spoken = talk.say("This call is recorded.", { interruptible: false });
    await vi.advanceTimersByTimeAsync(2_000);
    mind.receive({ type: "response.created", response: { id: "own" } });
    mind.receive({ type: "conversation.item.added", item: { type: "force_message" } });
    if (own !== failed) heard("own");
    mind.receive({ type: "response.done", response: { id: "own", ...own } });
    if (own === failed) await vi.advanceTimersByTimeAsync(2_000);
    mind.receive({ type: "response.created", response: { id: "text" } });
    heard("text");
    mind.receive({ type: "response.done", response: { id: "text", status: "completed" } });
    await vi.advanceTimersByTimeAsync(500);
    mind.receive({ type: "input_audio_buffer.speech_started" }); // It isn't cut off, to its end.
    await vi.advanceTimersByTimeAsync(3_000);
    expect([texts().length - before, await spoken]).toEqual([1, "played"]);
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    await vi.advanceTimersByTimeAsync(2_000);
  }
  expect(line.ms).toBe(3_000);
});
