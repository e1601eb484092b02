import type { Agent } from "../../agent.ts";
import { checkOptions, keyOf } from "../key.ts";
import { RealtimeCodec } from "./codec.ts";
import type { OpenAIRealtimeOptions } from "./options.ts";

/** The URL with the model in it, unless it has one. */
const withModel = (url: string, model: string): string => {
  const address = new URL(url);
  if (!address.searchParams.has("model")) address.searchParams.set("model", model);
  return address.href;
};

/**
 * An agent that speaks OpenAI's Realtime protocol. A stream at 8 kHz is sent as μ-law, one at 16 kHz is
 * turned into the 24 kHz that the model takes.
 *
 * @param options - the key, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent that sells nothing
 * ```ts
 * import { openaiRealtime } from "outdial/agents";
 *
 * const agent = openaiRealtime({
 *   apiKey: () => "sk-from-a-secrets-manager",
 *   instructions: "Say at once that you are a machine. Ask whether the parcel has come.",
 *   tools: {
 *     note_answer: {
 *       description: "Notes whether the parcel has come.",
 *       parameters: { type: "object", properties: { came: { type: "boolean" } }, required: ["came"] },
 *       run: (args) => console.log(args),
 *     },
 *   },
 * });
 * console.log(agent.name); // openai
 * ```
 * @see docs/agents.md
 */
export const openaiRealtime = (options: OpenAIRealtimeOptions): Agent => {
  checkOptions(options);
  const { url = "wss://api.openai.com/v1/realtime", model = "gpt-realtime", tools } = options;
  return {
    name: "openai",
    tools,
    address: async () => {
      const key = await keyOf(options);
      return {
        url: withModel(url, model),
        headers: { Authorization: `Bearer ${key}` },
        protocols: ["realtime", `openai-insecure-api-key.${key}`],
      };
    },
    codec: (line) => new RealtimeCodec(options, line),
  };
};
