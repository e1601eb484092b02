import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const seconds = (s: number) => vi.advanceTimersByTimeAsync(s * 1000);

/** The callee is heard for so many seconds, frame by frame. */
const speaks = async (line: Socket, s: number) => {
  for (let at = 0; at < s * 10; at++) {
    line.hear(3_000, 100);
    await seconds(0.1);
  }
};

const functionCall = (call_id: string, name: string, more: object = {}) => ({
  type: "response.output_item.done",
  item: { type: "function_call", call_id, name, arguments: "{}", status: "completed" },
  ...more,
});

const protocols = {
  openai: {
    agent: openaiRealtime({ apiKey: "sk", greeting: false }),
    ready: { type: "session.updated" },
    speech: { type: "input_audio_buffer.speech_started" },
    hangUp: functionCall("h1", "hang_up"),
  },
  "gpt-live": {
    agent: gptLive({ apiKey: "sk" }),
    ready: { type: "session.started" },
    speech: { type: "session.input_transcript.delta", delta: "Wait" },
    hangUp: { type: "response.event", delegation_id: "d", event: functionCall("h1", "hang_up") },
  },
  elevenlabs: {
    agent: elevenlabs({ apiKey: "xi", agentId: "a", url: "wss://agent.test/" }),
    ready: {
      type: "conversation_initiation_metadata",
      conversation_initiation_metadata_event: {
        agent_output_audio_format: "pcm_8000",
        user_input_audio_format: "pcm_8000",
      },
    },
    speech: { type: "interruption", interruption_event: { event_id: 1 } },
    hangUp: {
      type: "client_tool_call",
      client_tool_call: { tool_call_id: "h1", tool_name: "hang_up", parameters: {} },
    },
  },
  deepgram: {
    agent: deepgram({ apiKey: "dg" }),
    ready: { type: "SettingsApplied" },
    speech: { type: "UserStartedSpeaking" },
    hangUp: {
      type: "FunctionCallRequest",
      functions: [{ id: "h1", name: "hang_up", arguments: "{}", client_side: true }],
    },
  },
};

const endings = { openai: 3.5, "gpt-live": 1.5, elevenlabs: 3.5, deepgram: 3.5 } as const;

describe("a hang_up that comes while the callee speaks", () => {
  const begun = async (name: keyof typeof protocols) => {
    const { agent, ready, speech, hangUp } = protocols[name];
    const talk = await talking(agent);
    talk.mind.receive(ready);
    await seconds(2);
    talk.mind.receive(speech);
    talk.line.hear(3_000, 100);
    await seconds(0.1);
    talk.mind.receive(hangUp);
    return talk;
  };

  test.each(["openai", "elevenlabs", "deepgram"] as const)(
    "%s: waits for as long as they are heard, and three seconds where their end isn't reported",
    async (name) => {
      const { line, ends } = await begun(name);
      await speaks(line, 10);
      await seconds(2.5);
      expect(ends).toEqual([]);
      await seconds(endings[name] - 2.5);
      expect(ends).toEqual(["agent_hung_up"]);
    },
  );

  test("gpt-live: waits for a second, and is off when more is understood of what they say", async () => {
    const { ends } = await begun("gpt-live");
    await seconds(0.8);
    expect(ends).toEqual([]);
    await seconds(endings["gpt-live"] - 0.8);
    expect(ends).toEqual(["agent_hung_up"]);
    const other = await begun("gpt-live");
    await seconds(0.5);
    other.mind.receive(protocols["gpt-live"].speech);
    await seconds(20);
    expect(other.ends).toEqual([]);
  });

  test.each([
    ["openai", { type: "input_audio_buffer.speech_stopped" }],
    ["deepgram", { type: "ConversationText", role: "user", content: "Wait, one question" }],
    [
      "elevenlabs",
      { type: "user_transcript", user_transcription_event: { user_transcript: "Wait" } },
    ],
  ] as const)("%s: is off when they have finished: the agent responds", async (name, stopped) => {
    const { line, mind, ends } = await begun(name);
    await speaks(line, 1);
    mind.receive(stopped);
    await seconds(20);
    expect(ends).toEqual([]);
    expect(JSON.stringify(mind.messages)).toContain("the call goes on");
  });

  test("elevenlabs: doesn't wait once they were understood, on a line that is never silent", async () => {
    const { agent, ready, speech, hangUp } = protocols.elevenlabs;
    const { line, mind, ends } = await talking(agent);
    mind.receive(ready);
    mind.receive(speech);
    await speaks(line, 2);
    mind.receive({ type: "user_transcript", user_transcription_event: { user_transcript: "Bye" } });
    await speaks(line, 2);
    mind.receive(hangUp);
    await speaks(line, 0.7);
    expect(ends).toEqual(["agent_hung_up"]);
  });

  test("waits for half a minute at most, on a line that is never silent", async () => {
    const { line, ends } = await begun("openai");
    await speaks(line, 29);
    expect(ends).toEqual([]);
    await speaks(line, 1.5);
    expect(ends).toEqual(["agent_hung_up"]);
  });

  test("waits for what the agent says meanwhile, too", async () => {
    const { line, mind, ends } = await begun("openai");
    await speaks(line, 1);
    await seconds(2.5);
    const delta = Buffer.alloc(8 * 4_000, 1).toString("base64");
    mind.receive({ type: "response.output_audio.delta", delta });
    await seconds(3.9);
    expect(ends).toEqual([]);
    await seconds(1.4);
    expect(ends).toEqual(["agent_hung_up"]);
  });
});

test("a hang_up that the agent has cancelled doesn't end the call, and is not answered", async () => {
  const { agent, ready, hangUp } = protocols.deepgram;
  const { mind, ends } = await talking(agent);
  mind.receive(ready);
  mind.receive(new Uint8Array(16_000).fill(77).buffer);
  mind.receive(hangUp);
  const { length } = mind.messages;
  mind.receive({ type: "FunctionCallCancelled", functions: [{ id: "h1", name: "hang_up" }] });
  await seconds(29);
  expect(ends).toEqual([]);
  expect(mind.messages.slice(length).filter(({ type }) => type !== "KeepAlive")).toEqual([]);
});

test("openai: a transcript of an earlier turn, which comes late, leaves a hang_up alone", async () => {
  const { line, mind, ends } = await talking(protocols.openai.agent);
  mind.receive({ type: "session.updated" });
  mind.receive({ type: "input_audio_buffer.speech_started" });
  line.hear(3_000, 100);
  mind.receive({ type: "input_audio_buffer.speech_stopped" });
  mind.receive({ type: "response.created", response: { id: "r1" } });
  mind.receive(functionCall("h1", "hang_up", { response_id: "r1" }));
  mind.receive({ type: "response.done", response: { id: "r1", status: "completed" } });
  await seconds(0.1);
  const type = "conversation.item.input_audio_transcription.completed";
  mind.receive({ type, item_id: "i1", transcript: "Goodbye." });
  await seconds(2);
  expect(ends).toEqual(["agent_hung_up"]);
});

test("a response.done that is lost after hang_up costs three seconds", async () => {
  const { mind, ends } = await talking(protocols.openai.agent);
  mind.receive({ type: "session.updated" });
  mind.receive({ type: "response.created", response: { id: "r1" } });
  const delta = Buffer.alloc(8_000, 1).toString("base64"); // A second.
  mind.receive({ type: "response.output_audio.delta", response_id: "r1", delta });
  mind.receive(functionCall("h1", "hang_up", { response_id: "r1" }));
  await seconds(3.9);
  expect(ends).toEqual([]);
  await seconds(0.5);
  expect(ends).toEqual(["agent_hung_up"]);
});

describe("tools of OpenAI", () => {
  const run = vi.fn((_: unknown): unknown => "found");
  const parameters = { type: "object", properties: { id: { type: "number" } } };
  const tools = { look_up: { description: "", parameters, run } };
  const agent = openaiRealtime({ apiKey: "sk", greeting: false, tools });
  const call = (response_id: string, id: string, args = '{"id":7}') => ({
    type: "response.output_item.done",
    response_id,
    item: {
      type: "function_call",
      call_id: id,
      name: "look_up",
      arguments: args,
      status: "completed",
    },
  });
  const ready = async () => {
    run.mockClear();
    const talk = await talking(agent);
    talk.mind.receive({ type: "session.updated" });
    talk.mind.receive({ type: "response.created", response: { id: "r1" } });
    return talk;
  };
  const asked = ({ messages }: Socket) =>
    messages.filter(({ type }) => type === "response.create").length;

  test("of a response that the callee has interrupted aren't run", async () => {
    const { mind } = await ready();
    mind.receive({ type: "input_audio_buffer.speech_started" });
    mind.receive(call("r1", "c1"));
    mind.receive({ type: "response.done", response: { id: "r1", status: "cancelled" } });
    mind.receive(call("r1", "c2"));
    await seconds(1);
    expect(run).not.toHaveBeenCalled();
  });

  test("with arguments that the model has not finished get an error", async () => {
    const { mind, errors } = await ready();
    for (const [at, args] of ["", '{"id":'].entries()) mind.receive(call("r1", `c${at}`, args));
    await settled();
    expect(run).not.toHaveBeenCalled();
    expect(errors).toHaveLength(2);
    const results = mind.messages.filter(({ type }) => type === "conversation.item.create");
    expect(results.map(({ item }) => Object(item).output)).toEqual([
      "The arguments must be JSON.",
      "The arguments must be JSON.",
    ]);
  });

  test("run once for an id within a response, and again in another response", async () => {
    const { mind } = await ready();
    for (const response of ["r1", "r1", "r2", "r2"]) {
      mind.receive(call(response, "call_0"));
      await settled();
    }
    expect(run).toHaveBeenCalledTimes(2);
  });

  test("a result that comes while the callee speaks asks for no response before they have finished and the service had a second", async () => {
    run.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 1_000, "found")));
    const { line, mind } = await ready();
    mind.receive(call("r1", "c1"));
    mind.receive({ type: "response.done", response: { id: "r1", status: "completed" } });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await speaks(line, 4);
    expect(JSON.stringify(mind.messages)).toContain("found");
    expect(asked(mind)).toBe(0);
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    await seconds(0.9);
    expect(asked(mind)).toBe(0);
    await seconds(0.2);
    expect(asked(mind)).toBe(1);
    await seconds(20);
    expect(asked(mind)).toBe(1);
  });

  test("nor if the service responds by itself, knowing the result", async () => {
    const { line, mind } = await ready();
    mind.receive(call("r1", "c1"));
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await speaks(line, 2);
    mind.receive({ type: "conversation.item.added", item: { type: "function_call_output" } });
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    mind.receive({ type: "response.created", response: { id: "r2" } });
    await seconds(2);
    mind.receive({ type: "response.done", response: { id: "r2", status: "completed" } });
    await seconds(10);
    expect(asked(mind)).toBe(0);
  });

  test("a result asks at once when the service has responded to the callee", async () => {
    run.mockImplementation(() => "found");
    const { mind } = await ready();
    mind.receive({ type: "input_audio_buffer.speech_started" });
    mind.receive({ type: "input_audio_buffer.speech_stopped" });
    mind.receive({ type: "response.created", response: { id: "r2" } });
    mind.receive(call("r2", "c1"));
    mind.receive({ type: "response.done", response: { id: "r2", status: "completed" } });
    await settled();
    expect(asked(mind)).toBe(1);
  });

  test("a result is answered, too, where the end of the speech is never reported", async () => {
    const { line, mind } = await ready();
    mind.receive({ type: "response.done", response: { id: "r1", status: "completed" } });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await speaks(line, 1);
    mind.receive(call("r1", "c1"));
    await seconds(2.5);
    expect(asked(mind)).toBe(0);
    await seconds(0.5);
    expect(asked(mind)).toBe(1);
  });
});

describe("a transient error of OpenAI", () => {
  const fails = (mind: Socket, id: string, begins = true) => {
    if (begins) mind.receive({ type: "response.created", response: { id } });
    const status_details = { type: "failed", error: { type: "server_error" } };
    mind.receive({ type: "response.done", response: { id, status: "failed", status_details } });
  };
  const asked = ({ messages }: Socket) =>
    messages.filter(({ type }) => type === "response.create").length;

  const begun = async (options?: SessionOptions) => {
    const talk = await talking(openaiRealtime({ apiKey: "sk", greeting: false }), options);
    talk.mind.receive({ type: "session.updated" });
    return talk;
  };

  test("is followed by another response after 250 and after 1,000 ms, and then by the end", async () => {
    const { mind, ends } = await begun();
    for (const [at, wait] of [0.25, 1].entries()) {
      fails(mind, "r");
      await seconds(wait - 0.001);
      expect(asked(mind)).toBe(at);
      await seconds(0.001);
      expect(asked(mind)).toBe(at + 1);
    }
    expect(ends).toEqual([]);
    fails(mind, "r");
    await settled();
    expect(ends).toEqual(["agent_silent"]);
  });

  test("is followed by as many as `retries`, and with 0 by silence alone", async () => {
    const three = await begun({ retries: 3 });
    for (const count of [1, 2, 3]) {
      fails(three.mind, "r");
      await seconds(1);
      expect(asked(three.mind)).toBe(count);
    }
    const { mind, ends } = await begun({ retries: 0 });
    fails(mind, "r");
    await seconds(29);
    expect([asked(mind), ends]).toEqual([0, []]);
    await seconds(2);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("isn't repeated where the callee has heard something of the response, or a tool was called", async () => {
    const run = vi.fn(() => "booked");
    const tools = { book: { description: "Books.", run } };
    const agent = openaiRealtime({ apiKey: "sk", greeting: false, tools });
    for (const output of [
      {
        type: "response.output_audio.delta",
        response_id: "r",
        item_id: "i",
        delta: Buffer.alloc(800, 0x20).toString("base64"),
      },
      {
        type: "response.output_item.done",
        response_id: "r",
        item: { type: "function_call", call_id: "c", name: "book", arguments: "{}" },
      },
    ]) {
      const { mind } = await talking(agent);
      mind.receive({ type: "session.updated" });
      mind.receive({ type: "response.created", response: { id: "r" } });
      mind.receive(output);
      fails(mind, "r", false);
      await seconds(5);
      // The result of the tool asks for one response, and the failure for none.
      expect(asked(mind)).toBe(output.response_id && output.item ? 1 : 0);
    }
    expect(run).toHaveBeenCalledOnce();
  });

  test("isn't repeated once the service has begun another by itself, and anew after what the callee says", async () => {
    const { mind, ends } = await begun();
    fails(mind, "r1");
    mind.receive({ type: "response.created", response: { id: "r2" } });
    await seconds(5);
    expect(asked(mind)).toBe(0);
    for (let turn = 0; turn < 4; turn++) {
      mind.receive({ type: "input_audio_buffer.speech_started" });
      mind.receive({ type: "input_audio_buffer.speech_stopped" });
      fails(mind, "r");
      await seconds(3);
    }
    expect([asked(mind), ends]).toEqual([4, []]);
  });

  test("whose request was one of the application's is asked for by its words again", async () => {
    const { mind } = await talking(openaiRealtime({ apiKey: "sk", greeting: "Hello!" }));
    mind.receive({ type: "session.updated" });
    fails(mind, "r");
    await seconds(0.25);
    const [first, again] = mind.messages.filter(({ type }) => type === "response.create");
    expect(first).toHaveProperty("response.instructions");
    expect(again).toEqual(first);
  });

  test("asks for nothing while the callee speaks", async () => {
    const { line, mind } = await talking(openaiRealtime({ apiKey: "sk", greeting: false }));
    mind.receive({ type: "session.updated" });
    fails(mind, "r");
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await speaks(line, 5);
    expect(asked(mind)).toBe(0);
  });
});

describe("a greeting of Deepgram", () => {
  const agent = deepgram({ apiKey: "dg", greeting: "Hello, I am a machine." });
  const greetings = ({ messages }: Socket) =>
    messages.filter(({ type }) => type === "InjectAgentMessage").length;

  test("goes out before what the callee has said so far", async () => {
    const { line, mind } = await talking(agent);
    await speaks(line, 1);
    mind.receive({ type: "SettingsApplied" });
    const [first, second] = mind.sent;
    expect(String(first)).toContain("InjectAgentMessage");
    expect(second).toBeInstanceOf(Uint8Array);
  });

  test.each([
    [{ type: "InjectionRefused", message: "" }, "INJECTION_REFUSED"],
    [
      { type: "Warning", description: "", code: "INJECT_AGENT_MESSAGE_DURING_USER_SPEECH" },
      "INJECT_AGENT_MESSAGE_DURING_USER_SPEECH",
    ],
  ])(
    "that is refused by %j is said again a second after the callee's turn",
    async (refusal, code) => {
      const { line, mind, errors } = await talking(agent);
      mind.receive({ type: "SettingsApplied" });
      mind.receive({ type: "UserStartedSpeaking" });
      mind.receive(refusal);
      expect(errors).toEqual([expect.objectContaining({ code })]);
      await speaks(line, 3);
      mind.receive({ type: "ConversationText", role: "user", content: "Hello?" });
      await seconds(0.9);
      expect(greetings(mind)).toBe(1);
      await seconds(20);
      expect(greetings(mind)).toBe(2);
    },
  );
});

test("a greeting of Deepgram that is refused while the agent speaks is said again after that", async () => {
  const { mind } = await talking(deepgram({ apiKey: "dg", greeting: "Hello" }));
  mind.receive({ type: "SettingsApplied" });
  mind.receive(new Uint8Array(80_000).fill(77).buffer); // Five seconds.
  mind.receive({ type: "InjectionRefused", message: "" });
  const { length } = mind.sent;
  await seconds(5.4);
  expect(mind.sent).toHaveLength(length);
  await seconds(0.2);
  expect(mind.sent).toHaveLength(length + 1);
});

describe("a response that was cancelled", () => {
  const audio = (response_id: string) => ({
    type: "response.output_audio.delta",
    response_id,
    item_id: "i",
    delta: Buffer.alloc(8_000, 1).toString("base64"),
  });

  test("is not played where its audio comes after its end, and one that begins anew is", async () => {
    const { line, mind, talk } = await talking(protocols.openai.agent);
    mind.receive({ type: "session.updated" });
    mind.receive({ type: "response.created", response: { id: "r1" } });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    mind.receive({ type: "response.done", response: { id: "r1", status: "cancelled" } });
    mind.receive(audio("r1"));
    mind.receive(audio("r1"));
    await seconds(3);
    expect([line.ms, talk.metrics.audio.dropped]).toEqual([0, 2_000]);
    mind.receive({ type: "response.created", response: { id: "r1" } });
    mind.receive(audio("r1"));
    await seconds(3);
    expect(line.ms).toBe(1_000);
  });
});

describe("speech whose end is never reported ends the call", () => {
  test("though nothing of it was heard on the line", async () => {
    const { mind, ends } = await talking(protocols.openai.agent);
    mind.receive({ type: "session.updated" });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await seconds(44);
    expect(ends).toEqual([]);
    await seconds(2);
    expect(ends).toEqual(["agent_silent"]);
  });

  test("also on a line that is never silent, after four times the limit", async () => {
    const { line, mind, ends } = await talking(protocols.openai.agent, { silenceTimeout: 10_000 });
    mind.receive({ type: "session.updated" });
    mind.receive({ type: "input_audio_buffer.speech_started" });
    await speaks(line, 45);
    expect(ends).toEqual([]);
    await speaks(line, 11);
    expect(ends).toEqual(["agent_silent"]);
  });
});

test("of an error of 8 MB no more is searched than a code can be long", async () => {
  const long = "x".repeat(2 ** 22 - 1_000); // Twice in a message of at most 8 MiB.
  const search = vi.spyOn(String.prototype, "toLowerCase");
  const match = vi.spyOn(RegExp.prototype, "test");
  const mind = new Socket();
  const errors: unknown[] = [];
  const line = new Socket();
  const onError = (error: unknown) => errors.push(error);
  connectAgent(line, protocols.elevenlabs.agent, { open: () => mind, onError });
  line.receive(start);
  await settled();
  mind.receive(protocols.elevenlabs.ready);
  mind.receive({ type: "error", error_event: { code: long, message: long } });
  const lengths = [
    ...search.mock.contexts.map((text) => String(text).length),
    ...match.mock.calls.map(([text]) => String(text).length),
  ];
  vi.restoreAllMocks();
  expect(errors).toHaveLength(1);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(1_000);
});

describe("a call whose id comes again, where responses have no names", () => {
  const calls = {
    deepgram: (id: string, args: object) => ({
      type: "FunctionCallRequest",
      functions: [{ id, name: "book", arguments: JSON.stringify(args), client_side: true }],
    }),
    elevenlabs: (id: string, parameters: object) => ({
      type: "client_tool_call",
      client_tool_call: { tool_call_id: id, tool_name: "book", parameters },
    }),
  };

  test.each(["deepgram", "elevenlabs"] as const)(
    "%s: runs once with the same arguments, also after its result and those of others",
    async (name) => {
      const run = vi.fn((_: unknown) => "booked");
      const tools = { book: { description: "Books.", parameters: { type: "object" }, run } };
      const common = { tools, apiKey: "key" };
      const agent =
        name === "deepgram"
          ? deepgram(common)
          : elevenlabs({ ...common, agentId: "a", url: "wss://agent.test/" });
      const { mind } = await talking(agent);
      mind.receive(protocols[name].ready);
      const call = async (id: string, args: object) => {
        mind.receive(calls[name](id, args));
        await settled();
      };
      await call("1", { people: 4 });
      await call("1", { people: 4 });
      await call("2", { people: 4 });
      await call("1", { people: 4 });
      expect(run.mock.calls.map(([args]) => args)).toEqual([{ people: 4 }, { people: 4 }]);
      await call("1", { people: 5 });
      const long = "x".repeat(3_000);
      for (const text of [`${long}1`, `${long}2`, `${long}1`]) await call("3", { text });
      expect(run).toHaveBeenCalledTimes(5);
    },
  );

  test("without an id, each call runs", async () => {
    const run = vi.fn();
    const { mind } = await talking(plain({}, { tools: { t: { description: "", run } } }));
    mind.receive({ type: "ready" });
    for (const id of ["", ""]) mind.receive({ type: "tool", id, name: "t" });
    await settled();
    expect(run).toHaveBeenCalledTimes(2);
  });
});

test("a hang_up that was cancelled leaves alone what the agent says next", async () => {
  const { line, mind, ends } = await talking(protocols.openai.agent);
  mind.receive({ type: "session.updated" });
  mind.receive(functionCall("h1", "hang_up"));
  mind.receive({ type: "input_audio_buffer.speech_started" });
  mind.receive({ type: "input_audio_buffer.speech_stopped" });
  mind.receive({ type: "response.created", response: { id: "r1" } });
  await seconds(5);
  mind.receive({ type: "input_audio_buffer.speech_started" });
  const delta = Buffer.alloc(8_000, 1).toString("base64");
  mind.receive({ type: "response.output_audio.delta", response_id: "r1", delta });
  await seconds(2);
  expect([line.ms, ends]).toEqual([0, []]); // The response was interrupted: its audio is late.
});
