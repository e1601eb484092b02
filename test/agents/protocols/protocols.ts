import {
  type Agent,
  deepgram,
  elevenlabs,
  gemini,
  gptLive,
  openaiRealtime,
  type Tools,
} from "outdial/agents";
import type { Behaviour } from "../model.ts";
import type { AgentServer } from "../server.ts";
import { serveDeepgram } from "./deepgram.ts";
import { key, serveElevenlabs } from "./elevenlabs.ts";
import { serveGemini } from "./gemini.ts";
import { serveGptLive } from "./gpt-live.ts";
import { serveOpenai } from "./openai.ts";

/** A protocol, from both ends. */
export interface Protocol {
  readonly serve: (behaviour?: Behaviour) => Promise<AgentServer>;
  readonly agent: (server: AgentServer, tools?: Tools) => Agent;
}

const apiKey = "sk-MARKED";
const greeting = "Hello, I am a machine.";

export type Name = "openai" | "gpt-live" | "elevenlabs" | "deepgram" | "gemini";

export const names: readonly Name[] = ["openai", "gpt-live", "elevenlabs", "deepgram", "gemini"];

export const protocols: Readonly<Record<Name, Protocol>> = {
  openai: {
    serve: serveOpenai,
    agent: ({ url }, tools) => openaiRealtime({ apiKey, url, tools }),
  },
  "gpt-live": {
    serve: serveGptLive,
    agent: ({ url }, tools) => gptLive({ apiKey, url, tools }),
  },
  elevenlabs: {
    serve: serveElevenlabs,
    agent: ({ http }, tools) => elevenlabs({ apiKey: key, agentId: "agent_1", url: http, tools }),
  },
  deepgram: {
    serve: serveDeepgram,
    agent: ({ url }, tools) => deepgram({ apiKey, url, greeting, tools }),
  },
  gemini: {
    serve: serveGemini,
    agent: ({ url }, tools) => gemini({ apiKey, url, tools }),
  },
};
