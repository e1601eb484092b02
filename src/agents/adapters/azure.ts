import { fail } from "../../lib/check.ts";
import type { Agent, LineFormat } from "../agent.ts";
import {
  createRealtimeCodec,
  type OpenAIRealtimeOptions,
  openaiDialect,
  realtimeRules,
  withModel,
} from "./openai-realtime.ts";
import { abilitiesOf, checkAgentOptions, keyOf } from "./shared.ts";

/** The options of `azure`. */
export interface AzureOptions extends Omit<OpenAIRealtimeOptions, "url" | "model"> {
  /** The resource: `wss://{resource}.openai.azure.com/openai/v1/realtime`. */
  readonly url: string;
  /** The name of the model's deployment. */
  readonly model: string;
  /**
   * The name of the deployment that transcribes the callee; `false` for none.
   *
   * @defaultValue `false`
   */
  readonly transcription?: string | false | undefined;
}

/**
 * An agent of OpenAI's Realtime API on Azure, with the resource's key in a header. With a token of Entra in the place of a
 * key use `openaiRealtime` with `url` and `model`. It needs a runtime whose WebSocket sends headers: Node, Deno, Bun or
 * Workers.
 *
 * @param options - the key, the resource and the deployment, and what the agent is to do
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an option breaks its rule
 *
 * @example An agent on Azure
 * ```ts
 * import { azure } from "outdial/agents";
 *
 * const agent = azure({
 *   apiKey: "key",
 *   url: "wss://resource.openai.azure.com/openai/v1/realtime",
 *   model: "deployment",
 * });
 * console.log(agent.name); // azure
 * ```
 * @see docs/agents.md
 */
export const azure = (options: AzureOptions): Agent => {
  checkAgentOptions(options, realtimeRules);
  const { url, model, tools } = options;
  if (url === undefined)
    fail("url", "is missing: wss://{resource}.openai.azure.com/openai/v1/realtime");
  if (model === undefined) fail("model", "is missing: the name of a deployment");
  const codec = (line: LineFormat) =>
    createRealtimeCodec({ transcription: false, ...options }, line, openaiDialect);
  return {
    name: "azure",
    tools,
    address: async () => ({
      url: withModel(url, model),
      headers: { "api-key": await keyOf(options) },
    }),
    can: abilitiesOf(codec({ sampleRate: 8000 })),
    codec,
  };
};
