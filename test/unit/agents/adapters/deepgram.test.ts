import type { agent as Deepgram } from "@deepgram/sdk";
import { expect, test } from "vitest";
import { type DeepgramOptions, deepgram } from "../../../../src/agents/adapters/deepgram.ts";
import type { AgentMessage, Codec } from "../../../../src/agents/agent.ts";

const apiKey = "dg-MARKED";
const codecOf = (options: Partial<DeepgramOptions> = {}, sampleRate: 8000 | 16000 = 8000) => {
  const codec = deepgram({ apiKey, ...options }).codec({ sampleRate });
  return { codec, read: (event: object) => codec.decode(JSON.stringify(event)) };
};
const sent = (messages: readonly AgentMessage[]) =>
  messages.map((message) => JSON.parse(String(message)));
const applied: Deepgram.AgentV1SettingsApplied = { type: "SettingsApplied" };

/** What is sent once the service has said that it is there. */
const welcomed = (codec: Codec) => {
  expect(codec.open()).toEqual([]); // Before that the service takes nothing.
  const welcome = { type: "Welcome", request_id: "r1" } satisfies Deepgram.AgentV1Welcome;
  const [send] = codec.decode(JSON.stringify(welcome));
  return send?.type === "send" ? sent(send.messages) : [];
};

test("the settings have the stream's rate, both ways, and no greeting: it may ring yet", () => {
  const options = { instructions: "Be brief.", greeting: "Hello!" };
  expect(welcomed(codecOf(options, 16000).codec)).toEqual([
    {
      type: "Settings",
      audio: {
        input: { encoding: "linear16", sample_rate: 16000 },
        output: { encoding: "linear16", sample_rate: 16000, container: "none" },
      },
      agent: {
        listen: { provider: { type: "deepgram", version: "v1", model: "nova-3" } },
        think: {
          provider: { type: "open_ai", model: "gpt-4o-mini" },
          prompt: "Be brief.",
          functions: [
            {
              name: "hang_up",
              description: expect.any(String),
              parameters: { type: "object", properties: {} },
            },
          ],
        },
        speak: { provider: { type: "deepgram", model: "aura-2-thalia-en" } },
      },
    } satisfies Deepgram.AgentV1Settings,
  ]);
  const speak = { provider: { type: "deepgram", model: "aura-2-zeus-en" } };
  const [settings] = welcomed(codecOf({ settings: { speak } }).codec);
  expect(settings.agent.speak).toEqual(speak);
});

test("the greeting is said once it is set up and the callee is there, in either order", () => {
  const greet = {
    type: "InjectAgentMessage",
    message: "Hello!",
    behavior: "queue",
  } satisfies Deepgram.AgentV1InjectAgentMessage;
  const late = codecOf({ greeting: "Hello!" });
  expect(late.codec.answered()).toEqual([]);
  // Before it is ready: then it gets what the callee has said so far, such as "Hello?".
  const [send, ready] = late.read(applied);
  expect(ready).toEqual({ type: "ready", begins: "agent" });
  expect(send?.type === "send" && sent(send.messages)).toEqual([greet]);
  const warm = codecOf({ greeting: "Hello!" });
  expect(warm.read(applied)).toEqual([{ type: "ready", begins: "agent" }]);
  expect(sent(warm.codec.answered())).toEqual([greet]);
  expect(codecOf().read(applied)).toEqual([{ type: "ready", begins: "callee" }]);
});

test("a greeting that is refused is reported, and due again: ten times at most", () => {
  const { codec, read } = codecOf({ greeting: "Hello!" });
  read(applied);
  const greeting = codec.answered();
  expect(codec.due?.()).toEqual([]);
  const refused: Deepgram.AgentV1InjectionRefused = {
    type: "InjectionRefused",
    message: "dg-MARKED",
  };
  for (let at = 0; at < 12; at++) {
    expect(read(refused)).toEqual([{ type: "error", code: "INJECTION_REFUSED" }]);
    expect(codec.due?.()).toEqual(at < 9 ? greeting : []);
    expect(codec.due?.()).toEqual([]);
  }
});

test("audio is binary, both ways", () => {
  const { codec } = codecOf();
  const audio = new Uint8Array([1, 2]);
  expect(codec.encode(audio)).toEqual([audio]);
  expect(codec.decode(audio)).toEqual([{ type: "audio", audio, item: "1" }]);
});

test("trap: what comes of an answer after the callee has spoken is dropped", () => {
  const { codec, read } = codecOf();
  const audio = new Uint8Array([1, 2]);
  expect(
    read({ type: "UserStartedSpeaking" } satisfies Deepgram.AgentV1UserStartedSpeaking),
  ).toEqual([{ type: "interrupted" }]);
  expect(codec.decode(audio)).toEqual([]);
  const text = { type: "ConversationText", role: "user", content: "Wait" } as const;
  expect(read(text satisfies Deepgram.AgentV1ConversationText)).toEqual([
    { type: "speech_stopped" },
    { type: "transcript", who: "callee", text: "Wait", final: true },
  ]);
  // The user's text ends their response: the answer's audio may come before its own text.
  expect(codec.decode(audio)).toEqual([{ type: "audio", audio, item: "2" }]);
  const answer = { type: "ConversationText", role: "assistant", content: "Yes?" } as const;
  expect(read(answer satisfies Deepgram.AgentV1ConversationText)).toEqual([
    { type: "transcript", who: "agent", text: "Yes?", final: true, item: "2" },
  ]);
  expect(codec.decode(audio)).toHaveLength(1);
  expect(read({ type: "AgentAudioDone" } satisfies Deepgram.AgentV1AgentAudioDone)).toEqual([
    { type: "response_done" },
  ]);
  expect(codec.interrupted([])).toEqual([]);
});

test("functions of the client are asked for, cancelled and answered; the server's are its own", () => {
  const { codec, read } = codecOf();
  const wish = (id: string, client_side: boolean) =>
    ({ id, name: "look_up", arguments: "{}", client_side }) as const;
  expect(
    read({
      type: "FunctionCallRequest",
      functions: [wish("c1", true), wish("c2", false)],
    } satisfies Deepgram.AgentV1FunctionCallRequest),
  ).toEqual([{ type: "tool", id: "c1", name: "look_up", arguments: "{}" }]);
  expect(
    read({
      type: "FunctionCallCancelled",
      functions: [{ id: "c1", name: "look_up" }],
    } satisfies Deepgram.AgentV1FunctionCallCancelled),
  ).toEqual([{ type: "tool_cancelled", id: "c1" }]);
  const result = { id: "c1", name: "look_up", output: "yes", isError: false, reply: true };
  expect(sent(codec.toolResult(result))).toEqual([
    {
      type: "FunctionCallResponse",
      id: "c1",
      name: "look_up",
      content: "yes",
    } satisfies Deepgram.AgentV1SendFunctionCallResponse,
  ]);
});

test("who says nothing for 8 s is kept alive; of an error its word is reported", () => {
  const { codec, read } = codecOf();
  read(applied);
  expect(codec.keepAlive?.after).toBe(8000);
  expect(sent(codec.keepAlive ? [codec.keepAlive.message] : [])).toEqual([
    { type: "KeepAlive" } satisfies Deepgram.AgentV1KeepAlive,
  ]);
  const error = { type: "Error", description: "dg-MARKED", code: "TOO_SLOW" } as const;
  expect(read(error satisfies Deepgram.AgentV1Error)).toEqual([
    { type: "response_done", outcome: "failed" },
    { type: "error", code: "TOO_SLOW" },
  ]);
  expect(codecOf().read(error)[2]).toEqual({ type: "end", reason: "agent_lost" }); // No settings yet.
});

test("the key is in a header or a subprotocol, and never in the URL", async () => {
  expect(await deepgram({ apiKey }).address()).toEqual({
    url: "wss://agent.deepgram.com/v1/agent/converse",
    headers: { Authorization: "Token dg-MARKED" },
    protocols: ["token", "dg-MARKED"],
  });
});

test("what the application says is injected, word for word or as if spoken", () => {
  const { codec } = codecOf();
  expect(sent(codec.say?.("Hello!", "a1") ?? [])).toEqual([
    {
      type: "InjectAgentMessage",
      message: "Hello!",
      behavior: "queue",
    } satisfies Deepgram.AgentV1InjectAgentMessage,
  ]);
  expect(sent(codec.reply?.("Ask.", "a1") ?? [])).toEqual([
    {
      type: "InjectUserMessage",
      content: "[instruction] Ask.",
    } satisfies Deepgram.AgentV1InjectUserMessage,
  ]);
  expect([codec.cancel, codec.retry]).toEqual([undefined, undefined]);
});

test("what the service refuses of it is known, and is no refusal of the greeting", () => {
  const refusals: object[] = [
    { type: "InjectionRefused", message: "dg-MARKED" } satisfies Deepgram.AgentV1InjectionRefused,
    {
      type: "Warning",
      description: "dg-MARKED",
      code: "INJECT_AGENT_MESSAGE_DURING_USER_SPEECH",
    } satisfies Deepgram.AgentV1Warning,
  ];
  for (const refused of refusals) {
    const { codec, read } = codecOf({ greeting: "Hello!" });
    read(applied);
    codec.answered();
    for (const ask of [codec.say, codec.reply]) {
      ask?.("Ask.", "a1");
      expect(read(refused)).toEqual([{ type: "refused" }]);
      expect(codec.due?.()).toEqual([]);
    }
  }
});

test("context is added to the prompt, and stays when the instructions change", () => {
  const { codec } = codecOf({ instructions: "Sell." });
  expect(sent(codec.addContext?.("It rains.") ?? [])).toEqual([
    { type: "UpdatePrompt", prompt: "It rains." } satisfies Deepgram.AgentV1UpdatePrompt,
  ]);
  const [settings] = welcomed(codecOf({ instructions: "Sell." }).codec);
  expect(sent(codec.setInstructions?.("Help.") ?? [])).toEqual([
    {
      type: "UpdateThink",
      think: { ...settings.agent.think, prompt: "Help.\n\nIt rains." },
    } satisfies Deepgram.AgentV1UpdateThink,
  ]);
});

test("new instructions keep the language models of `settings`, fallbacks too", () => {
  const provider = { type: "google", model: "gemini-2.5-flash" } as const;
  const one = { provider, prompt: "Sell.", functions: [] };
  for (const think of [one, [one, { ...one, provider: { ...provider, model: "gemini-3" } }]]) {
    const { codec } = codecOf({ settings: { think } });
    const [update] = sent(codec.setInstructions?.("Help.") ?? []);
    expect(update.think).toEqual(
      Array.isArray(think)
        ? think.map((each) => ({ ...each, prompt: "Help." }))
        : { ...think, prompt: "Help." },
    );
  }
});

test("the rest of what the application has interrupted is dropped, as the service goes on with it", () => {
  const { codec, read } = codecOf();
  const audio = new Uint8Array([1, 2]);
  codec.interrupted([]);
  expect(codec.decode(audio)).toEqual([]);
  read({ type: "AgentAudioDone" } satisfies Deepgram.AgentV1AgentAudioDone);
  expect(codec.decode(audio)).toEqual([{ type: "audio", audio, item: "2" }]);
});
