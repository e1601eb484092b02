import { base64, decoded, level, pcm } from "../../conformance/models/sound.ts";
import { type Behaviour, levelOf, Model } from "../model.ts";
import { type AgentServer, type Peer, type Received, serveAgent } from "../server.ts";

/** A message of the client, as far as the server reads it. */
interface FromClient {
  readonly setup?: object;
  readonly realtimeInput?: {
    readonly text?: string;
    readonly audio?: { readonly data?: string; readonly mimeType?: string };
  };
  readonly toolResponse?: object;
}

/** A conversation, on a socket of any kind. */
interface GeminiConversation {
  readonly receive: (message: FromClient) => void;
  readonly stop: () => void;
}

/** Google's Live API: it hears 16 kHz and speaks 24 kHz, and cannot be truncated. */
const converseGemini = (
  send: (message: object) => void,
  behaviour: Behaviour,
): GeminiConversation => {
  const [heard, voice] = [pcm(16_000), pcm(24_000)];
  let isSetUp = false;
  const content = (serverContent: object) => send({ serverContent });
  const end = (isCut: boolean) => {
    if (!isCut) content({ generationComplete: true });
    content({ turnComplete: true });
  };
  const { toolTurn } = behaviour;
  let hasEnded = false;
  /** Ends the turn that a tool call has left open. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  const close = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const model = new Model(
    {
      begin: () => {},
      audio: (answer, ms) => {
        const data = base64(voice.write(level(levelOf(answer), ms, voice.rate)));
        content({
          modelTurn: { parts: [{ inlineData: { data, mimeType: "audio/pcm;rate=24000" } }] },
        });
      },
      tool: (_, id, name, args) => {
        if (toolTurn === "before" && !hasEnded) end(false);
        hasEnded = toolTurn === "before";
        send({ toolCall: { functionCalls: [{ id, name, args }] } });
        if (toolTurn !== "open") return;
        close();
        timer = setTimeout(() => {
          close();
          end(false);
        }, 2_000);
      },
      done: (_, wasCut) => {
        if (!hasEnded && !timer) end(wasCut);
        hasEnded = false;
      },
      heard: () => {
        content({ interrupted: true });
        if (timer) end(true);
        close();
      },
    },
    behaviour,
  );
  return {
    receive: (message) => {
      if (message.setup) {
        isSetUp = true;
        send({ setupComplete: {} });
        return;
      }
      if (!isSetUp) throw new Error("Nothing is taken before the setup");
      const { text, audio } = message.realtimeInput ?? {};
      if (text && timer) {
        content({ interrupted: true });
        end(true);
      }
      if (text || message.toolResponse) {
        close();
        model.answer();
      }
      if (!audio) return;
      if (audio.mimeType !== "audio/pcm;rate=16000") throw new Error("Another rate");
      const samples = heard.read(decoded(audio.data));
      model.hear(samples, samples.length / 16);
    },
    stop: () => {
      close();
      model.stop();
    },
  };
};

/** A server of it, whose JSON comes in binary messages. */
export const serveGemini = (behaviour: Behaviour = {}): Promise<AgentServer> => {
  const sessions = new WeakMap<Peer, GeminiConversation>();
  const encoder = new TextEncoder();
  return serveAgent({
    accept: (peer: Peer, message?: Received) => {
      const send = (each: object) => peer.send(encoder.encode(JSON.stringify(each)));
      const session = sessions.get(peer) ?? converseGemini(send, behaviour);
      if (!sessions.has(peer)) peer.socket.on("close", session.stop);
      sessions.set(peer, session);
      if (message && !(message instanceof Uint8Array)) session.receive(message);
    },
  });
};
