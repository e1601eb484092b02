import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import { plain, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const limits = { maxDuration: 1_000_000, silenceTimeout: 30_000 };
const seconds = (s: number) => vi.advanceTimersByTimeAsync(s * 1000);
const speech = new Uint8Array(16_000).fill(77).buffer;

/** A talk in which both have said something, and nobody says more. */
const greeted = async (...[agent = plain(), more]: Partial<Parameters<typeof talking>>) => {
  const talk = await talking(agent, { ...limits, ...more });
  talk.mind.receive({ type: "ready" });
  talk.mind.receive(speech);
  talk.mind.receive({ type: "response_done", response: "now" });
  await seconds(5);
  return talk;
};

test("a callee who says nothing is no silent agent, nor is a knock on the line, nor its noise", async () => {
  const { line, ends } = await greeted();
  for (let at = 0; at < 300; at++) {
    line.hear(at === 7 ? 9_000 : 100, 400);
    await seconds(0.4);
  }
  expect(ends).toEqual([]);
});

test("an agent that should begin and doesn't is silent, and one whom the callee greets isn't", async () => {
  const { mind, ends } = await talking(plain(), limits);
  mind.receive({ type: "ready" });
  await seconds(29);
  expect(ends).toEqual([]);
  await seconds(1.1);
  expect(ends).toEqual(["agent_silent"]);
  const other = await talking(openaiRealtime({ apiKey: "sk", greeting: false }), limits);
  other.mind.receive({ type: "session.updated" });
  const third = await talking(deepgram({ apiKey: "dg" }), limits);
  third.mind.receive({ type: "SettingsApplied" });
  await seconds(100);
  expect([other.ends, third.ends]).toEqual([[], []]);
});

test("an agent of which nothing comes after the callee has spoken is silent, from the last word on", async () => {
  const { line, ends } = await greeted();
  for (let at = 0; at < 100; at++) {
    line.hear(2_000, 400);
    await seconds(0.4);
  }
  expect(ends).toEqual([]);
  await seconds(31);
  expect(ends).toEqual(["agent_silent"]);
});

test("an agent that stops within an answer is silent", async () => {
  const { mind, ends } = await greeted();
  mind.receive(speech);
  await seconds(32);
  expect(ends).toEqual(["agent_silent"]);
});

test("a tool at work holds the clock, and its answer starts it", async () => {
  const run = () => new Promise((resolve) => setTimeout(resolve, 100_000, "found"));
  const tools = { t: { description: "", run } };
  const { mind, ends } = await greeted(plain({}, { tools }), { toolTimeout: 200_000 });
  mind.receive({ type: "tool", id: "1", name: "t" });
  await seconds(101);
  expect(ends).toEqual([]);
  await seconds(30);
  expect(ends).toEqual(["agent_silent"]);
});

test("an agent that can be asked whether it is there is asked first, and reported by its answer", async () => {
  const { line, mind, ends } = await talking(
    openaiRealtime({ apiKey: "sk", greeting: false }),
    limits,
  );
  mind.receive({ type: "session.updated" });
  const noise = async () => {
    line.hear(5_000, 600);
    mind.sent.length = 0;
    await seconds(20);
    return mind.messages.filter(({ type }) => type !== "input_audio_buffer.append");
  };
  expect(await noise()).toEqual([{ type: "session.update", session: { type: "realtime" } }]);
  mind.receive({ type: "session.updated" });
  await seconds(100);
  expect(ends).toEqual([]);
  await noise();
  await seconds(15);
  expect(ends).toEqual(["agent_silent"]);
});

describe("only audio and tool calls are signs of life", () => {
  const realtime = openaiRealtime({ apiKey: "sk" });
  const started = async () => {
    const talk = await talking(realtime, limits);
    talk.mind.receive({ type: "session.updated" });
    return talk;
  };
  type Mind = Awaited<ReturnType<typeof started>>["mind"];
  const respond = (mind: Mind, id: string, response: object) => {
    mind.receive({ type: "response.created", response: { id } });
    mind.receive({ type: "response.done", response: { id, ...response } });
  };
  const failed = {
    status: "failed",
    status_details: { type: "failed", error: { code: "server_error", type: "server_error" } },
  };

  test.each([
    ["failed", failed],
    ["incomplete", { status: "incomplete", status_details: { reason: "content_filter" } }],
    ["without audio", { status: "completed" }],
  ])(
    "an agent whose every response is %s is silent, however often the callee asks",
    async (_, response) => {
      const { mind, ends, errors } = await started();
      for (let at = 0; at < 10; at++) {
        respond(mind, `r${at}`, response);
        await seconds(2.9);
        expect(ends).toEqual([]);
        mind.receive({ type: "input_audio_buffer.speech_started" });
        mind.receive({ type: "input_audio_buffer.speech_stopped" });
        mind.receive({ type: "session.updated" });
      }
      await seconds(1.1);
      expect(ends).toEqual(["agent_silent"]);
      expect(errors).toHaveLength("status_details" in response ? 10 : 0);
    },
  );

  test("what the callee says meanwhile doesn't count, for as long as they speak", async () => {
    const { line, mind, ends } = await started();
    respond(mind, "r1", failed);
    await seconds(20);
    mind.receive({ type: "input_audio_buffer.speech_started" });
    for (let at = 0; at < 60; at++) {
      line.hear(2_000, 400);
      await seconds(1);
    }
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    await seconds(9);
    expect(ends).toEqual([]);
    await seconds(1.1);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("after speech_stopped the answer to a probe is none", async () => {
    const { mind, ends } = await greeted(realtime);
    mind.receive({ type: "session.updated" });
    const delta = Buffer.alloc(4_000, 1).toString("base64");
    mind.receive({ type: "response.output_audio.delta", response_id: "r1", item_id: "i", delta });
    mind.receive({ type: "response.done", response: { id: "r1", status: "completed" } });
    await seconds(100);
    expect(ends).toEqual([]);
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    for (let at = 0; at < 29; at++) {
      mind.receive({ type: "session.updated" });
      await seconds(1);
    }
    expect(ends).toEqual([]);
    await seconds(1.1);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("pings of a service are none", async () => {
    const { mind, line, ends } = await greeted();
    line.hear(5_000, 600);
    for (let at = 0; at < 31; at++) {
      mind.receive({ type: "send", messages: [] });
      await seconds(1);
    }
    expect(ends).toEqual(["agent_silent"]);
  });

  test.each(["insufficient_quota", "invalid_api_key", "model_not_found"])(
    "a response that failed with %s ends the call at once: no repetition mends it",
    async (code) => {
      const { mind, ends, errors } = await started();
      respond(mind, "r1", { status: "failed", status_details: { error: { code } } });
      expect(ends).toEqual(["agent_refused"]);
      expect(errors).toEqual([expect.objectContaining({ code })]);
    },
  );
});

test("the silent track of a voice that never stops is no greeting", async () => {
  const { mind, ends } = await talking(gptLive({ apiKey: "sk", greeting: "Hello" }), limits);
  mind.receive({ type: "session.started" });
  const delta = Buffer.alloc(8_000, 0xff).toString("base64"); // A second.
  for (let at = 0; at < 31; at++) {
    mind.receive({ type: "session.output_audio.delta", delta });
    await seconds(1);
  }
  expect(ends).toEqual(["agent_silent"]);
});

const eleven = elevenlabs({ apiKey: "xi", agentId: "a", url: "wss://agent.test/" });
const metadata = {
  type: "conversation_initiation_metadata",
  conversation_initiation_metadata_event: {
    agent_output_audio_format: "pcm_8000",
    user_input_audio_format: "pcm_8000",
  },
};
const elevenAudio = (bytes: number, value = 77) => ({
  type: "audio",
  audio_event: { event_id: 1, audio_base_64: Buffer.alloc(bytes, value).toString("base64") },
});

describe("only audible audio is a sign of life", () => {
  test.each([
    ["openai", openaiRealtime({ apiKey: "sk" }), { type: "session.updated" }],
    ["elevenlabs", eleven, metadata],
    ["deepgram", deepgram({ apiKey: "dg", greeting: "Hello" }), { type: "SettingsApplied" }],
  ] as const)("%s: neither an empty frame nor a silent one", async (name, agent, ready) => {
    for (const size of [0, 160]) {
      const { mind, ends } = await talking(agent, limits);
      mind.receive(ready);
      for (let at = 0; at < 30; at++) {
        const delta = Buffer.alloc(size, 0xff).toString("base64");
        if (name === "openai") mind.receive({ type: "response.output_audio.delta", delta });
        else if (name === "elevenlabs") mind.receive(elevenAudio(size, 0));
        else mind.receive(new ArrayBuffer(size));
        expect(ends).toEqual([]);
        await seconds(1);
      }
      await seconds(1);
      expect(ends).toEqual(["agent_silent"]);
    }
  });

  test.each([0, 8])(
    "a response that fails after %i bytes of audio leaves the clock as it was",
    async (bytes) => {
      const { mind, ends } = await talking(openaiRealtime({ apiKey: "sk" }), limits);
      mind.receive({ type: "session.updated" });
      const delta = Buffer.alloc(bytes, 1).toString("base64");
      for (let at = 0; at < 70 && ends.length === 0; at++) {
        const id = `r${at}`;
        mind.receive({ type: "response.created", response: { id } });
        mind.receive({ type: "response.output_audio.delta", response_id: id, item_id: id, delta });
        mind.receive({ type: "response.done", response: { id, status: "failed" } });
        await seconds(0.5);
      }
      expect(ends).toEqual(["agent_silent"]);
    },
  );

  test("a response that is complete ends the wait for one that had failed", async () => {
    const { mind, ends } = await talking(openaiRealtime({ apiKey: "sk" }), limits);
    mind.receive({ type: "session.updated" });
    await seconds(20);
    for (const status of ["failed", "completed"]) {
      const delta = Buffer.alloc(8_000, 1).toString("base64");
      mind.receive({ type: "response.created", response: { id: status } });
      mind.receive({ type: "response.output_audio.delta", response_id: status, delta });
      mind.receive({ type: "response.done", response: { id: status, status } });
      await seconds(5);
    }
    await seconds(100);
    expect(ends).toEqual([]);
  });
});

describe("a callee who was understood is answered", () => {
  const said = { type: "user_transcript", user_transcription_event: { user_transcript: "Yes." } };

  test("also after a word that is too short to be distinguished from a knock", async () => {
    const { line, mind, ends } = await talking(eleven, limits);
    mind.receive(metadata);
    mind.receive(elevenAudio(16_000));
    await seconds(5);
    line.hear(2_000, 400);
    await seconds(1);
    mind.receive(said);
    await seconds(29);
    expect(ends).toEqual([]);
    await seconds(3);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("unless they spoke while the agent did", async () => {
    const { mind, ends } = await talking(eleven, limits);
    mind.receive(metadata);
    mind.receive(elevenAudio(160_000));
    await seconds(5);
    mind.receive(said);
    await seconds(100);
    expect(ends).toEqual([]);
  });

  test("a text that comes after the answer asks for none, where the agent reports the end of speech", async () => {
    const { mind, ends } = await talking(openaiRealtime({ apiKey: "sk", greeting: false }), limits);
    mind.receive({ type: "session.updated" });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    const delta = Buffer.alloc(8_000, 1).toString("base64");
    mind.receive({ type: "response.output_audio.delta", response_id: "r", delta });
    mind.receive({ type: "response.done", response: { id: "r", status: "completed" } });
    await seconds(5);
    mind.receive({
      type: "conversation.item.input_audio_transcription.completed",
      transcript: "Yes.",
    });
    await seconds(100);
    expect(ends).toEqual([]);
  });

  test("by more than the silent track of a voice that never stops", async () => {
    const { line, mind, ends } = await talking(gptLive({ apiKey: "sk" }), limits);
    mind.receive({ type: "session.started" });
    const track = async (s: number) => {
      const delta = Buffer.alloc(8_000, 0xff).toString("base64"); // A second.
      for (let at = 0; at < s; at++) {
        mind.receive({ type: "session.output_audio.delta", delta });
        await seconds(1);
      }
    };
    for (let at = 0; at < 60; at++) {
      line.hear(2_000, 400);
      mind.receive({ type: "session.input_transcript.delta", delta: "and " });
      await track(1);
    }
    await track(29);
    expect(ends).toEqual([]);
    await track(3);
    expect(ends).toEqual(["agent_silent"]);
  });
});

describe("speech before the first word postpones the wait for it, and never ends it", () => {
  test.each([
    [
      "openai",
      openaiRealtime({ apiKey: "sk" }),
      { type: "session.updated" },
      { type: "input_audio_buffer.speech_started" },
    ],
    ["elevenlabs", eleven, metadata, { type: "interruption", interruption_event: { event_id: 1 } }],
    [
      "deepgram",
      deepgram({ apiKey: "dg", greeting: "Hello" }),
      { type: "SettingsApplied" },
      { type: "UserStartedSpeaking" },
    ],
  ])("%s", async (_, agent, ready, speaks) => {
    const { mind, ends } = await talking(agent, limits);
    mind.receive(ready);
    await seconds(5);
    mind.receive(speaks);
    await seconds(39);
    expect(ends).toEqual([]);
    await seconds(2);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("speech that was heard and noticed asks for a response, though its end is never reported", async () => {
    const { line, mind, ends } = await greeted(openaiRealtime({ apiKey: "sk", greeting: false }));
    mind.receive({ type: "session.updated" });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    line.hear(2_000, 1_200);
    for (let at = 0; at < 50; at++) {
      mind.receive({ type: "session.updated" });
      await seconds(1);
    }
    expect(ends).toEqual(["agent_silent"]);
  });
});

test("an agent whose audio can't be converted has failed at once", async () => {
  const { mind, ends } = await talking(eleven, limits);
  const formats = {
    ...metadata.conversation_initiation_metadata_event,
    agent_output_audio_format: "opus_48000_32",
  };
  mind.receive({ ...metadata, conversation_initiation_metadata_event: formats });
  expect(ends).toEqual(["agent_failed"]);
});

test("an error of type authentication_error ends the call at once", async () => {
  const { mind, ends } = await talking(openaiRealtime({ apiKey: "sk" }), limits);
  mind.receive({ type: "error", error: { type: "authentication_error" } });
  expect(ends).toEqual(["agent_refused"]);
});

test("a tool that throws undefined is reported", async () => {
  const tools = { t: { description: "", run: () => Promise.reject() } };
  const { mind, errors } = await greeted(plain({}, { tools }));
  mind.receive({ type: "tool", id: "1", name: "t" });
  await seconds(1);
  expect(errors).toEqual([undefined]);
});
