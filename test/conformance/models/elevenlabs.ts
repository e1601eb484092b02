import type {
  AgentResponse,
  AudioClientEvent,
  ClientToolCallClientEvent,
  ConversationMetadata,
  Interruption,
  Outgoing,
  Ping,
  UserTranscriptionClientEvent,
} from "@elevenlabs/types";
import { Model, type Protocol } from "./model.ts";
import { base64, decoded, pcm, ulaw } from "./sound.ts";

type FromAgent =
  | AgentResponse
  | AudioClientEvent
  | ClientToolCallClientEvent
  | ConversationMetadata
  | Interruption
  | Ping
  | UserTranscriptionClientEvent;

type FromClient =
  | Outgoing.ConversationInitiationClientToOrchestratorEvent
  | Outgoing.UserAudio
  | Outgoing.UserMessageClientToOrchestratorEvent
  | Outgoing.ClientToolResultClientToOrchestratorEvent
  | Outgoing.PongClientToOrchestratorEvent;

/** An agent of ElevenLabs: it hears μ-law, and speaks it or PCM, as it may be set. */
export const elevenlabs: Protocol = (post, clock, behaviour) => {
  const { sampleRate, speaksFirst } = behaviour;
  const voice = sampleRate ? pcm(sampleRate) : ulaw;
  const send = (message: FromAgent) => post(message);
  let events = 0;
  let answering = 0;
  const model = new Model(
    {
      coding: () => voice,
      begin: () => {
        answering = ++events;
        const event = { agent_response: "…", event_id: answering };
        send({ type: "agent_response", agent_response_event: event });
      },
      audio: (_, bytes) => {
        const audio_event = { audio_base_64: base64(bytes), event_id: answering };
        send({ type: "audio", audio_event });
      },
      tools: (calls) => {
        for (const { id, name, args } of calls) {
          const call = { tool_call_id: id, tool_name: name, parameters: args, event_id: answering };
          send({ type: "client_tool_call", client_tool_call: call });
        }
      },
      done: () => {},
      speech: () => send({ type: "interruption", interruption_event: { event_id: ++events } }),
      speechStopped: () => {
        const user_transcription_event = { user_transcript: "…", event_id: events };
        send({ type: "user_transcript", user_transcription_event });
      },
    },
    clock,
    behaviour,
  );
  return {
    model,
    receive: (received) => {
      const message = received as FromClient;
      if ("user_audio_chunk" in message) model.hear(decoded(message.user_audio_chunk), ulaw);
      else if (message.type === "conversation_initiation_client_data") {
        send({
          type: "conversation_initiation_metadata",
          conversation_initiation_metadata_event: {
            conversation_id: "conv_1",
            agent_output_audio_format: sampleRate ? `pcm_${sampleRate}` : "ulaw_8000",
            user_input_audio_format: "ulaw_8000",
          },
        } as ConversationMetadata);
        send({ type: "ping", ping_event: { event_id: 1 } });
        const { agent } = Object(message.conversation_config_override);
        if (speaksFirst || agent?.first_message) model.answer();
      } else if (message.type === "user_message") model.answer();
      else if (message.type === "client_tool_result" && !model.isMaking) model.answer();
    },
    stop: () => model.stop(),
  };
};
