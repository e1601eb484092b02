import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import type { Agent, Transcript } from "../../../src/agents/agent.ts";
import { talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const transcribed = async (agent: Agent) => {
  const transcripts: Transcript[] = [];
  const talk = await talking(agent, {
    onTranscript: (transcript) => transcripts.push(transcript),
  });
  return { ...talk, transcripts };
};

/** What the callee heard, as an application rebuilds it: only the beginning of what was interrupted. */
const rebuilt = (transcripts: readonly Transcript[]): Record<string, string> => {
  const items: Record<string, string> = {};
  for (const {
    item = "",
    text,
    final,
    replaces,
    interrupted,
    played = 0,
    duration = 1,
  } of transcripts) {
    if (!final) continue;
    const share = interrupted && duration > 0 ? played / duration : interrupted ? 0 : 1;
    const heard = text.slice(0, Math.round(text.length * share));
    items[item] = (replaces ? "" : (items[item] ?? "")) + heard;
  }
  return items;
};

const realtime = async () => {
  const talk = await transcribed(openaiRealtime({ apiKey: "sk" }));
  const { mind } = talk;
  mind.receive({ type: "session.updated" });
  const created = (id: string) => mind.receive({ type: "response.created", response: { id } });
  const audio = (id: string, ms: number) => {
    const delta = Buffer.alloc(ms * 8, 1).toString("base64");
    const where = { response_id: id, item_id: `item of ${id}`, content_index: 0 };
    mind.receive({ type: "response.output_audio.delta", ...where, delta });
  };
  const text = (id: string, how: "delta" | "done", said: string) =>
    mind.receive({
      type: `response.output_audio_transcript.${how}`,
      response_id: id,
      item_id: `item of ${id}`,
      content_index: 0,
      [how === "delta" ? "delta" : "transcript"]: said,
    });
  const interrupt = () => mind.receive({ type: "input_audio_buffer.speech_started" });
  return { ...talk, created, audio, text, interrupt };
};

test("a text that came whole before its answer was interrupted is marked then, with its item", async () => {
  const { transcripts, created, audio, text, interrupt } = await realtime();
  created("A");
  audio("A", 1_000);
  text("A", "done", "0123456789");
  expect(transcripts.at(-1)).not.toHaveProperty("interrupted");
  await vi.advanceTimersByTimeAsync(400);
  interrupt();
  expect(transcripts.at(-1)).toEqual({
    who: "agent",
    text: "0123456789",
    final: true,
    item: "item of A",
    interrupted: true,
    replaces: true,
    played: 400,
    duration: 1_000,
    ms: 400,
  });
  expect(rebuilt(transcripts)).toEqual({ "item of A": "0123" });
});

test("a text that comes whole after its answer was interrupted is marked, and replaces its beginning", async () => {
  const { transcripts, created, audio, text, interrupt } = await realtime();
  created("A");
  audio("A", 1_000);
  text("A", "delta", "01234");
  await vi.advanceTimersByTimeAsync(500);
  interrupt();
  text("A", "done", "0123456789");
  const marks = transcripts.filter(({ interrupted }) => interrupted);
  expect(marks.map(({ text, replaces }) => [text, replaces])).toEqual([
    ["01234", true],
    ["0123456789", true],
  ]);
  expect(rebuilt(transcripts)).toEqual({ "item of A": "01234" });
});

test("a text of which nobody heard any audio is marked so", async () => {
  const { transcripts, created, text, interrupt } = await realtime();
  created("A");
  text("A", "delta", "Hel");
  interrupt();
  expect(transcripts.at(-1)).toMatchObject({ text: "Hel", interrupted: true, played: 0 });
  created("B");
  interrupt();
  text("B", "done", "Never heard.");
  expect(transcripts.at(-1)).toMatchObject({ interrupted: true, played: 0, duration: 0 });
});

test("a text that was heard to its end isn't marked, nor is the next one", async () => {
  const { transcripts, mind, created, audio, text, interrupt } = await realtime();
  for (const id of ["A", "B"]) {
    created(id);
    audio(id, 300);
    text(id, "done", `said in ${id}`);
    mind.receive({ type: "response.done", response: { id, status: "completed" } });
    await vi.advanceTimersByTimeAsync(1_000);
    interrupt();
  }
  expect(transcripts.map(({ interrupted }) => interrupted)).toEqual([undefined, undefined]);
});

test("a text of which the call's end cut off the rest is marked, before the end is reported", async () => {
  const { transcripts, line, ends, created, audio, text } = await realtime();
  created("A");
  audio("A", 1_000);
  text("A", "done", "0123456789");
  created("B");
  text("B", "delta", "Never heard.");
  await vi.advanceTimersByTimeAsync(400);
  line.emit("close", { code: 1000 });
  expect(ends).toEqual(["hung_up"]);
  expect(rebuilt(transcripts)).toEqual({ "item of A": "0123", "item of B": "" });
});

test("a text that was heard to its end isn't marked when the call ends, though its audio had no name", async () => {
  for (const item_id of ["item of A", undefined]) {
    const { transcripts, mind, talk, created, text } = await realtime();
    created("A");
    text("A", "done", "0123456789");
    const delta = Buffer.alloc(4_000, 1).toString("base64");
    mind.receive({ type: "response.output_audio.delta", response_id: "A", item_id, delta });
    mind.receive({ type: "response.done", response: { id: "A", status: "completed" } });
    await vi.advanceTimersByTimeAsync(1_000);
    talk.close();
    expect(transcripts.map(({ interrupted }) => interrupted)).toEqual([undefined]);
  }
});

test("elevenlabs: a correction replaces the text that it corrects, also if another text came since", async () => {
  const { transcripts, mind } = await transcribed(
    elevenlabs({ apiKey: "xi", agentId: "a", url: "wss://agent.test/" }),
  );
  mind.receive({
    type: "conversation_initiation_metadata",
    conversation_initiation_metadata_event: {
      agent_output_audio_format: "pcm_8000",
      user_input_audio_format: "pcm_8000",
    },
  });
  const says = (agent_response: string, event_id: number) =>
    mind.receive({ type: "agent_response", agent_response_event: { agent_response, event_id } });
  says("Hello, how are you?", 1);
  const audio_base_64 = Buffer.alloc(16_000, 1).toString("base64");
  mind.receive({ type: "audio", audio_event: { audio_base_64, event_id: 1 } });
  await vi.advanceTimersByTimeAsync(300);
  mind.receive({ type: "interruption", interruption_event: { event_id: 2 } });
  says("Yes?", 3);
  mind.receive({
    type: "agent_response_correction",
    agent_response_correction_event: {
      original_agent_response: "Hello, how are you?",
      corrected_agent_response: "Hello,",
      event_id: 1,
    },
  });
  const [first] = transcripts;
  expect(transcripts.at(-1)).toEqual({
    who: "agent",
    text: "Hello,",
    final: true,
    item: first?.item,
    interrupted: true,
    replaces: true,
    played: 300,
    duration: 1_000,
    ms: 300,
  });
  const valid = new Map(transcripts.map(({ item, text }) => [item, text]));
  expect([...valid.values()]).toEqual(["Hello,", "Yes?"]);
});

test("elevenlabs: an answer that goes on after a short word of the callee keeps its item", async () => {
  const { transcripts, mind } = await transcribed(
    elevenlabs({ apiKey: "xi", agentId: "a", url: "wss://agent.test/" }),
  );
  mind.receive({
    type: "conversation_initiation_metadata",
    conversation_initiation_metadata_event: {
      agent_output_audio_format: "pcm_8000",
      user_input_audio_format: "pcm_8000",
    },
  });
  const says = (agent_response: string, event_id: number) =>
    mind.receive({ type: "agent_response", agent_response_event: { agent_response, event_id } });
  const audio_base_64 = Buffer.alloc(16_000, 1).toString("base64");
  const audio = () => mind.receive({ type: "audio", audio_event: { audio_base_64, event_id: 1 } });
  says("A long sentence.", 1);
  audio();
  mind.receive({ type: "user_transcript", user_transcription_event: { user_transcript: "Mhm" } });
  audio();
  await vi.advanceTimersByTimeAsync(1_500);
  mind.receive({ type: "interruption", interruption_event: { event_id: 2 } });
  expect(transcripts.at(-1)).toMatchObject({
    text: "A long sentence.",
    interrupted: true,
    played: 1_500,
    duration: 2_000,
  });
  says("Yes?", 3);
  expect(transcripts.at(-1)).not.toHaveProperty("interrupted");
});
