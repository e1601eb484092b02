import type {
  AudioClientEvent,
  ClientToolCallClientEvent,
  ConversationMetadata,
  Interruption,
  Outgoing,
  Ping,
} from "@elevenlabs/types";
import { base64, decoded, level, pcm, ulaw } from "../../conformance/models/sound.ts";
import { type Behaviour, levelOf, Model } from "../model.ts";
import { type AgentServer, type Peer, type Received, serveAgent } from "../server.ts";

type FromAgent =
  | AudioClientEvent
  | ClientToolCallClientEvent
  | ConversationMetadata
  | Interruption
  | Ping;

type FromClient =
  | Outgoing.ConversationInitiationClientToOrchestratorEvent
  | Outgoing.UserAudio
  | Outgoing.ClientToolResultClientToOrchestratorEvent
  | Outgoing.PongClientToOrchestratorEvent;

/** The key that gets a signed URL. */
export const key = "xi-key";

/** An agent of ElevenLabs: it hears μ-law and speaks 22.05 kHz, as it may be set. */
export const serveElevenlabs = async (behaviour: Behaviour = {}): Promise<AgentServer> => {
  const sessions = new WeakMap<Peer, (message: FromClient) => void>();
  const server: AgentServer = await serveAgent({
    protocol: "convai",
    answer: ({ headers, url = "" }) =>
      headers["xi-api-key"] === key && url.includes("/get-signed-url?agent_id=")
        ? { signed_url: `${server.url}?conversation_signature=1` }
        : undefined,
    accept: (peer: Peer, message?: Received) => {
      const session = sessions.get(peer) ?? converse(peer, behaviour);
      sessions.set(peer, session);
      if (message) session(message as unknown as FromClient);
    },
  });
  return server;
};

const converse = (peer: Peer, behaviour: Behaviour) => {
  const voice = pcm(22_050);
  let events = 0;
  let answering = 0;
  const send = (message: FromAgent) => peer.send(message);
  const model = new Model(
    {
      begin: () => {
        answering = ++events;
      },
      audio: (answer, ms) => {
        const samples = level(levelOf(answer), ms, voice.rate);
        const audio_base_64 = base64(voice.write(samples));
        send({ type: "audio", audio_event: { audio_base_64, event_id: answering } });
      },
      tool: (_, tool_call_id, tool_name, parameters) => {
        const call = { tool_call_id, tool_name, parameters, event_id: answering };
        send({ type: "client_tool_call", client_tool_call: call });
      },
      done: () => {},
      heard: () => send({ type: "interruption", interruption_event: { event_id: ++events } }),
    },
    behaviour,
  );
  peer.socket.on("close", () => model.stop());
  return (message: FromClient): void => {
    if ("user_audio_chunk" in message) {
      const samples = ulaw.read(decoded(message.user_audio_chunk));
      model.hear(samples, samples.length / 8);
    } else if (message.type === "conversation_initiation_client_data") {
      send({
        type: "conversation_initiation_metadata",
        conversation_initiation_metadata_event: {
          conversation_id: "conv_1",
          agent_output_audio_format: "pcm_22050",
          user_input_audio_format: "ulaw_8000",
        },
      });
      send({ type: "ping", ping_event: { event_id: 1 } });
      model.answer();
    } else if (message.type === "client_tool_result") model.answer();
  };
};
