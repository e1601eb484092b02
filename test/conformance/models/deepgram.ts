import type { agent as Deepgram } from "@deepgram/sdk";
import { Model, type Protocol } from "./model.ts";
import { pcm } from "./sound.ts";

type FromAgent =
  | Deepgram.AgentV1SettingsApplied
  | Deepgram.AgentV1UserStartedSpeaking
  | Deepgram.AgentV1ConversationText
  | Deepgram.AgentV1FunctionCallRequest
  | Deepgram.AgentV1AgentAudioDone
  | Deepgram.AgentV1InjectionRefused;

type FromClient =
  | Deepgram.AgentV1Settings
  | Deepgram.AgentV1InjectAgentMessage
  | Deepgram.AgentV1InjectUserMessage
  | Deepgram.AgentV1SendFunctionCallResponse
  | Deepgram.AgentV1KeepAlive;

/** A voice agent of Deepgram. */
export const deepgram: Protocol = (post, clock, behaviour) => {
  const send = (message: FromAgent) => post(message);
  const text = (role: "user" | "assistant") =>
    send({ type: "ConversationText", role, content: "…" });
  let coding = pcm(8_000);
  const model = new Model(
    {
      coding: () => coding,
      begin: () => text("assistant"),
      audio: (_, bytes) => post(bytes),
      tools: (calls) =>
        send({
          type: "FunctionCallRequest",
          functions: calls.map(({ id, name, args }) => ({
            ...{ id, name, arguments: JSON.stringify(args), client_side: true },
          })),
        }),
      done: (_, isCut) => {
        if (!isCut) send({ type: "AgentAudioDone" });
      },
      speech: () => send({ type: "UserStartedSpeaking" }),
      speechStopped: () => text("user"),
    },
    clock,
    behaviour,
  );
  return {
    model,
    welcome: { type: "Welcome", request_id: "request_1" } satisfies Deepgram.AgentV1Welcome,
    receive: (received) => {
      if (received instanceof Uint8Array) {
        model.hear(received);
        return;
      }
      const message = received as FromClient;
      if (message.type === "Settings") {
        coding = pcm(message.audio.output?.sample_rate ?? 0);
        send({ type: "SettingsApplied" });
      } else if (/^Inject/.test(message.type)) {
        if (model.isSpeech || model.isMaking) send({ type: "InjectionRefused", message: "…" });
        else model.answer();
      } else if (message.type === "FunctionCallResponse" && !model.isMaking) model.answer();
    },
    stop: () => model.stop(),
  };
};
