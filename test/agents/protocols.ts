import type { RealtimeServerEvent } from "openai/resources/realtime/realtime";
import {
  type Agent,
  deepgram,
  elevenlabs,
  gemini,
  gptLive,
  openaiRealtime,
  type Tools,
} from "outdial/agents";
import type { Behaviour, Conversation, ModelClock } from "../conformance/models/model.ts";
import {
  protocols as models,
  type ProtocolName,
  protocolNames,
} from "../conformance/models/protocols.ts";
import { type AgentServer, type Peer, type Received, serveAgent, type Taking } from "./server.ts";

/** The time of the process. */
const processTime: ModelClock = {
  now: () => performance.now(),
  after: (milliseconds, work) => {
    const timer = setTimeout(work, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** What a model does on real sockets, where no time is to be lost. */
const onSockets: Behaviour = {
  ...{ answers: [2_000], further: false, latency: 0, loudness: 400, onset: 0, patience: 300 },
  ...{ speaksFirst: true, sampleRate: 22_050 },
};

/** Of a model whose process is held up: it says an answer at once, and hears one speech where the line is late within it. */
export const unhurried = { delta: 60_000, patience: 1_000 } satisfies Behaviour;

/** Begins a conversation in OpenAI's protocol, in the time of the process. */
export const converse = (
  send: (event: RealtimeServerEvent) => void,
  behaviour: Behaviour,
): Conversation => {
  const post = (event: object) => send(event as RealtimeServerEvent);
  const conversation = models.openai(post, processTime, { ...onSockets, ...behaviour }, () => {});
  if (conversation.welcome) post(conversation.welcome);
  return conversation;
};

/** The key that gets a signed URL of ElevenLabs. */
const elevenKey = "xi-key";

/** What of a server only one protocol has. */
const own: Readonly<
  Partial<
    Record<
      ProtocolName,
      {
        readonly protocol?: string;
        /** Whether its JSON comes in binary messages. */
        readonly isBinary?: boolean;
        readonly answer?: (
          url: string,
          ...given: Parameters<NonNullable<Taking["answer"]>>
        ) => object | undefined;
        readonly behaviour?: Behaviour;
      }
    >
  >
> = {
  openai: { protocol: "realtime" },
  deepgram: { protocol: "token" },
  gemini: { isBinary: true },
  elevenlabs: {
    protocol: "convai",
    answer: (server, { headers, url = "" }) =>
      headers["xi-api-key"] === elevenKey && url.includes("/get-signed-url?agent_id=")
        ? { signed_url: `${server}?conversation_signature=1` }
        : undefined,
  },
  // Its track is as fast as its speech.
  "gpt-live": { behaviour: { delta: 40, pace: 100 } },
};

/** Serves a protocol on loopback; the model may behave by how many connections there were before. */
const serve = async (
  name: ProtocolName,
  given: Behaviour | ((count: number) => Behaviour) = {},
): Promise<AgentServer> => {
  const { protocol, isBinary, answer, behaviour } = own[name] ?? {};
  const conversations = new WeakMap<Peer, Conversation>();
  const encoder = new TextEncoder();
  let count = 0;
  const begin = (peer: Peer): Conversation => {
    const send = (message: object | Uint8Array) =>
      peer.send(isBinary ? encoder.encode(JSON.stringify(message)) : message);
    const wanted = typeof given === "function" ? given(count++) : given;
    const how = { ...onSockets, ...wanted, ...behaviour };
    const conversation = models[name](send, processTime, how, () => peer.socket.close(1000));
    peer.socket.on("close", conversation.stop);
    conversations.set(peer, conversation);
    if (conversation.welcome) send(conversation.welcome);
    return conversation;
  };
  const server: AgentServer = await serveAgent({
    ...(protocol && { protocol }),
    ...(answer && { answer: (request) => answer(server.url, request) }),
    accept: (peer: Peer, message?: Received) => {
      const conversation = conversations.get(peer) ?? begin(peer);
      if (message) conversation.receive(message);
    },
  });
  return server;
};

export const serveOpenai = (
  behaviour?: Behaviour | ((count: number) => Behaviour),
): Promise<AgentServer> => serve("openai", behaviour);

export type Name = ProtocolName;
export const names: readonly Name[] = protocolNames;

const apiKey = "sk-MARKED";
const greeting = "Hello, I am a machine.";

const agents: Readonly<Record<ProtocolName, (server: AgentServer, tools?: Tools) => Agent>> = {
  openai: ({ url }, tools) => openaiRealtime({ apiKey, url, tools }),
  "gpt-live": ({ url }, tools) => gptLive({ apiKey, url, tools }),
  elevenlabs: ({ http }, tools) =>
    elevenlabs({ apiKey: elevenKey, agentId: "agent_1", url: http, tools }),
  deepgram: ({ url }, tools) => deepgram({ apiKey, url, greeting, tools }),
  gemini: ({ url }, tools) => gemini({ apiKey, url, tools }),
};

/** A protocol on real sockets, from both ends. */
export interface Served {
  readonly serve: (behaviour?: Behaviour) => Promise<AgentServer>;
  readonly agent: (server: AgentServer, tools?: Tools) => Agent;
}

const served = (name: ProtocolName): Served => ({
  serve: (behaviour) => serve(name, behaviour),
  agent: agents[name],
});

export const protocols: Readonly<Record<ProtocolName, Served>> = {
  openai: served("openai"),
  "gpt-live": served("gpt-live"),
  elevenlabs: served("elevenlabs"),
  deepgram: served("deepgram"),
  gemini: served("gemini"),
};
