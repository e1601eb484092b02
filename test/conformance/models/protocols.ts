import * as agents from "outdial/agents";
import { deepgram } from "./deepgram.ts";
import { elevenlabs } from "./elevenlabs.ts";
import { gemini } from "./gemini.ts";
import { gptLive } from "./gpt-live.ts";
import type { Behaviour, Protocol } from "./model.ts";
import { openai } from "./openai.ts";

/** The names of the protocols that the models of these tests speak. */
export const protocolNames = ["openai", "deepgram", "elevenlabs", "gpt-live", "gemini"] as const;

export type ProtocolName = (typeof protocolNames)[number];

/** A service's end of each protocol: on any socket, and in any time. */
export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  openai,
  deepgram,
  elevenlabs,
  gemini,
  "gpt-live": gptLive,
};

/** An agent of a protocol, whose endpoint is a model of the test. */
export const agentOf = (
  name: ProtocolName,
  { greeting }: Behaviour = {},
  tools?: agents.Tools,
): agents.Agent => {
  const common = { apiKey: "sk-MARKED", dangerouslyAllowBrowser: true, tools };
  return {
    openai: () => agents.openaiRealtime({ ...common, greeting: greeting ?? false }),
    deepgram: () => agents.deepgram({ ...common, greeting }),
    elevenlabs: () =>
      agents.elevenlabs({ ...common, agentId: "agent_1", greeting, url: "wss://agent.test/" }),
    "gpt-live": () => agents.gptLive({ ...common, greeting }),
    gemini: () => agents.gemini({ ...common, greeting: greeting ?? false }),
  }[name]();
};
