import type {
  ConversationMetadata,
  Incoming,
  Interruption,
  Outgoing,
  Ping,
} from "@elevenlabs/types";
import { expect, test } from "vitest";
import { type ElevenLabsOptions, elevenlabs } from "../../../../src/agents/adapters/elevenlabs.ts";
import type { AgentMessage } from "../../../../src/agents/agent.ts";

const apiKey = "xi-MARKED";
const agentId = "agent_1";
const codecOf = (options: Partial<ElevenLabsOptions> = {}) => {
  const codec = elevenlabs({ apiKey, agentId, ...options }).codec({ sampleRate: 8000 });
  return { codec, read: (event: object) => codec.decode(JSON.stringify(event)) };
};
const sent = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.parse(String(message)));
test("the conversation begins with the call, and nothing is overridden unasked", () => {
  expect(codecOf().codec.open()).toEqual([]);
  expect(sent(codecOf().codec.answered())).toEqual([
    {
      type: "conversation_initiation_client_data",
      conversation_config_override: { agent: {} },
    } satisfies Outgoing.ConversationInitiationClientToOrchestratorEvent,
  ]);
  const options = {
    instructions: "Be brief.",
    greeting: "Hello!",
    voice: "v1",
    variables: { name: "Ann" },
  };
  expect(sent(codecOf(options).codec.answered())).toEqual([
    {
      type: "conversation_initiation_client_data",
      conversation_config_override: {
        agent: { prompt: { prompt: "Be brief." }, first_message: "Hello!" },
        tts: { voice_id: "v1" },
      },
      dynamic_variables: { name: "Ann" },
    } satisfies Outgoing.ConversationInitiationClientToOrchestratorEvent,
  ]);
});

test("both formats are read from what it says first: they are the agent's setting", () => {
  const { codec, read } = codecOf();
  expect(codec.formats).toBeUndefined();
  const metadata = {
    conversation_id: "conv_1",
    agent_output_audio_format: "pcm_22050",
    user_input_audio_format: "ulaw_8000",
  } as const;
  expect(
    read({
      type: "conversation_initiation_metadata",
      conversation_initiation_metadata_event: metadata,
    } satisfies ConversationMetadata),
  ).toEqual([{ type: "ready" }]);
  expect(codec.formats).toEqual({
    input: { encoding: "ulaw", sampleRate: 8000 },
    output: { encoding: "pcm", sampleRate: 22050 },
  });
  const strange = { ...metadata, user_input_audio_format: "opus_48000" };
  const event = {
    type: "conversation_initiation_metadata",
    conversation_initiation_metadata_event: strange,
  };
  expect(read(event)).toEqual([{ type: "ready" }]);
  expect(codec.formats?.input).toEqual({ encoding: "ulaw", sampleRate: Number.NaN });
});

test("trap: audio of a lower event_id than the interruption is dropped", () => {
  const { read } = codecOf();
  const audio = (event_id: number) =>
    read({
      type: "audio",
      audio_event: { audio_base_64: "AQID", event_id },
    } satisfies Incoming.AudioClientEvent);
  expect(audio(4)).toEqual([{ type: "audio", audio: new Uint8Array([1, 2, 3]), item: "1" }]);
  expect(
    read({
      type: "interruption",
      interruption_event: { event_id: 6 },
    } satisfies Interruption),
  ).toEqual([{ type: "interrupted" }]);
  expect([audio(4), audio(5), audio(6)].map(({ length }) => length)).toEqual([0, 0, 1]);
});

test.each([1e9, undefined])(
  "an interruption of event %s doesn't make the agent mute for good",
  (event_id) => {
    const { codec } = codecOf();
    codec.decode(JSON.stringify({ type: "interruption", interruption_event: { event_id } }));
    const audio_event = { audio_base_64: "AAA=", event_id: 7 };
    expect(codec.decode(JSON.stringify({ type: "audio", audio_event }))).toHaveLength(1);
  },
);

test("a ping is answered; a correction replaces the text that it corrects", () => {
  const { codec, read } = codecOf();
  expect(sent(codec.encode(new Uint8Array([1, 2, 3])))).toEqual([
    { user_audio_chunk: "AQID" } satisfies Outgoing.UserAudio,
  ]);
  const [pong] = read({
    type: "ping",
    ping_event: { event_id: 9, ping_ms: 50 },
  } satisfies Ping);
  expect(pong?.type === "send" && sent(pong.messages)).toEqual([
    { type: "pong", event_id: 9 } satisfies Outgoing.PongClientToOrchestratorEvent,
  ]);
  expect(
    read({
      type: "user_transcript",
      user_transcription_event: { user_transcript: "Yes", event_id: 1 },
    } satisfies Incoming.UserTranscriptionClientEvent),
  ).toEqual([{ type: "transcript", who: "callee", text: "Yes", final: true }]);
  expect(
    read({
      type: "agent_response",
      agent_response_event: { agent_response: "Hello", event_id: 2 },
    } satisfies Incoming.AgentResponseClientEvent),
  ).toEqual([{ type: "transcript", who: "agent", text: "Hello", final: true, item: "2" }]);
  read({
    type: "interruption",
    interruption_event: { event_id: 6 },
  } satisfies Interruption);
  expect(
    read({
      type: "agent_response_correction",
      agent_response_correction_event: {
        original_agent_response: "Hello",
        corrected_agent_response: "Hel",
        event_id: 2,
      },
    } satisfies Incoming.AgentResponseCorrectionClientEvent),
  ).toEqual([
    {
      type: "transcript",
      who: "agent",
      text: "Hel",
      final: true,
      item: "2",
      interrupted: true,
      replaces: true,
    },
  ]);
  expect(codec.interrupted([])).toEqual([]);
});

test("what it says once it has a tool's result is heard, though its last response was interrupted by the application", () => {
  const { codec, read } = codecOf();
  const audio = { type: "audio", audio_event: { audio_base_64: "/w==", event_id: 1 } };
  read({ type: "client_tool_call", client_tool_call: { tool_name: "wait", tool_call_id: "c1" } });
  codec.interrupted([]);
  expect(read(audio)).toEqual([]);
  codec.toolResult({ id: "c1", name: "wait", output: "", isError: false, reply: true });
  expect(read(audio)).toHaveLength(1);
});

test("a client tool is asked for and answered", () => {
  const { codec, read } = codecOf();
  expect(
    read({
      type: "client_tool_call",
      client_tool_call: {
        tool_name: "look_up",
        tool_call_id: "c1",
        parameters: { id: 7 },
        event_id: 1,
      },
    } satisfies Incoming.ClientToolCallClientEvent),
  ).toEqual([{ type: "tool", id: "c1", name: "look_up", arguments: { id: 7 } }]);
  const result = { id: "c1", name: "look_up", output: "no", isError: true, reply: true };
  expect(sent(codec.toolResult(result))).toEqual([
    {
      type: "client_tool_result",
      tool_call_id: "c1",
      result: "no",
      is_error: true,
    } satisfies Outgoing.ClientToolResultClientToOrchestratorEvent,
  ]);
});

/** A conversation that has begun. */
const begun = () => {
  const { codec, read } = codecOf();
  read({
    type: "conversation_initiation_metadata",
    conversation_initiation_metadata_event: {
      conversation_id: "conv_1",
      agent_output_audio_format: "pcm_8000",
      user_input_audio_format: "pcm_8000",
    },
  } satisfies ConversationMetadata);
  return { codec, read };
};

test("of an error its word is reported, and the service's limit ends the call", () => {
  const error = (error_type: "llm_timeout" | "max_duration_exceeded", { read } = begun()) =>
    read({
      type: "error",
      error_event: { code: 1011, error_type, message: "xi-MARKED" },
    } satisfies Incoming.ErrorClientEvent);
  expect(error("llm_timeout")).toEqual([
    { type: "response_done", outcome: "failed" },
    { type: "error", code: "llm_timeout" },
  ]);
  expect(error("llm_timeout", codecOf())[2]).toEqual({ type: "end", reason: "agent_lost" });
  expect(error("max_duration_exceeded")[1]).toEqual({ type: "end", reason: "session_limit" });
});

test("trap: a quota that is used up comes in another form, with its code in the words", () => {
  const message =
    "received 1002 (protocol error) This request exceeds your quota limit.; then sent 1002";
  expect(begun().read({ type: "error", message })).toEqual([
    { type: "response_done", outcome: "failed" },
    { type: "error", code: "1002" },
    { type: "end", reason: "agent_refused" },
  ]);
  expect(begun().read({ type: "error" })[1]).toEqual({ type: "error", code: "" });
});

test("the URL is asked for with the key in a header; a socket's URL is used as it stands", async () => {
  const { ticket, protocols } = await elevenlabs({ apiKey, agentId: "a&b" }).address();
  const signed = "https://api.elevenlabs.io/v1/convai/conversation/get-signed-url?agent_id=a%26b";
  expect([ticket?.url, ticket?.headers, protocols]).toEqual([
    signed,
    { "xi-api-key": apiKey },
    ["convai"],
  ]);
  expect(ticket?.read({ signed_url: "wss://x.test/" })).toBe("wss://x.test/");
  expect(await elevenlabs({ apiKey, agentId, url: "wss://x.test/" }).address()).toEqual({
    url: "wss://x.test/",
    protocols: ["convai"],
  });
});

test("what the application says is a message of the user, or an update of the context", () => {
  const { codec } = codecOf();
  const reply = (text: string) =>
    ({ type: "user_message", text }) satisfies Outgoing.UserMessageClientToOrchestratorEvent;
  expect(sent(codec.reply?.("Ask.", "a1") ?? [])).toEqual([reply("[instruction] Ask.")]);
  expect(sent(codec.reply?.(undefined, "a1") ?? [])).toEqual([reply("[instruction] Continue.")]);
  expect(sent(codec.addContext?.("It rains.") ?? [])).toEqual([
    {
      type: "contextual_update",
      text: "It rains.",
    } satisfies Outgoing.ContextualUpdateClientToOrchestratorEvent,
  ]);
  expect([codec.say, codec.setInstructions, codec.cancel]).toEqual(Array(3).fill(undefined));
});

test("the rest of what the application has interrupted is dropped, as the service goes on with it", () => {
  const { codec, read } = codecOf();
  const audio = { type: "audio", audio_event: { audio_base_64: "AQI=", event_id: 9 } };
  expect(codec.interrupted([])).toEqual([]);
  expect(read(audio)).toEqual([]);
  const text = { type: "agent_response", agent_response_event: { agent_response: "Next" } };
  for (const next of [
    () => read({ type: "user_transcript", user_transcription_event: { user_transcript: "Yes" } }),
    () => read({ ...text, agent_response_event: { ...text.agent_response_event, event_id: 10 } }),
    () => codec.reply?.("Ask.", "a1"),
  ]) {
    codec.interrupted([]);
    next();
    expect(read(audio)).toHaveLength(1);
  }
  // The service yields to the callee by itself, and may go on after a "mhm".
  read({ type: "interruption", interruption_event: { event_id: 9 } } satisfies Interruption);
  codec.interrupted([]);
  expect(read(audio)).toHaveLength(1);
});
