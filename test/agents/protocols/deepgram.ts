import type { agent as Deepgram } from "@deepgram/sdk";
import { level, pcm } from "../../conformance/models/sound.ts";
import { type Behaviour, levelOf, Model } from "../model.ts";
import { type AgentServer, type Peer, type Received, serveAgent } from "../server.ts";

type FromAgent =
  | Deepgram.AgentV1Welcome
  | Deepgram.AgentV1SettingsApplied
  | Deepgram.AgentV1UserStartedSpeaking
  | Deepgram.AgentV1ConversationText
  | Deepgram.AgentV1FunctionCallRequest
  | Deepgram.AgentV1AgentAudioDone;

type FromClient =
  | Deepgram.AgentV1Settings
  | Deepgram.AgentV1InjectAgentMessage
  | Deepgram.AgentV1InjectUserMessage
  | Deepgram.AgentV1SendFunctionCallResponse
  | Deepgram.AgentV1KeepAlive;

/** A voice agent of Deepgram. */
export const serveDeepgram = (behaviour: Behaviour = {}): Promise<AgentServer> => {
  const sessions = new WeakMap<Peer, (message: Received) => void>();
  return serveAgent({
    protocol: "token",
    accept: (peer: Peer, message?: Received) => {
      const session = sessions.get(peer) ?? converse(peer, behaviour);
      sessions.set(peer, session);
      if (message) session(message);
    },
  });
};

const converse = (peer: Peer, behaviour: Behaviour) => {
  let coding = pcm(8_000);
  const send = (message: FromAgent) => peer.send(message);
  const model = new Model(
    {
      begin: () => send({ type: "ConversationText", role: "assistant", content: "…" }),
      audio: (answer, ms) => peer.send(coding.write(level(levelOf(answer), ms, coding.rate))),
      tool: (_, id, name, args) => {
        const wish = { id, name, arguments: JSON.stringify(args), client_side: true };
        send({ type: "FunctionCallRequest", functions: [wish] });
      },
      done: (_, wasCut) => {
        if (!wasCut) send({ type: "AgentAudioDone" });
      },
      heard: () => send({ type: "UserStartedSpeaking" }),
    },
    behaviour,
  );
  peer.socket.on("close", () => model.stop());
  send({ type: "Welcome", request_id: "request_1" });
  return (received: Received): void => {
    if (received instanceof Uint8Array) {
      model.hear(coding.read(received), received.length / 2 / (coding.rate / 1000));
      return;
    }
    const message = received as unknown as FromClient;
    if (message.type === "Settings") {
      coding = pcm(message.audio.output?.sample_rate ?? 0);
      send({ type: "SettingsApplied" });
    }
    if (/^Inject/.test(message.type)) model.answer();
    if (message.type === "FunctionCallResponse") model.answer();
  };
};
