import { fail, isText } from "../lib/check.ts";
import type { CarrierWebhooks } from "../service.ts";
import type { AnyAction } from "./actions.ts";
import type { Prompt } from "./prompts.ts";
import type { WireAction, WirePrompt } from "./wire.ts";

const wirePrompt = (prompt: Prompt): WirePrompt => (isText(prompt) ? { text: prompt } : prompt);

/** An action in the form of outdial's own interface: a `say` and a `gather` continue at their `flow_url` alone. */
const wireOf = (action: AnyAction): WireAction => {
  if (action.action !== "say" && action.action !== "gather") return action;
  const { language, flow_url } = action;
  const prompts = action.prompts.map(wirePrompt);
  if (action.action === "say") return { action: "say", prompts, language, flow_url };
  const { digits, finish_on_key, timeout_ms } = action;
  return {
    ...{ action: "gather", prompts, language },
    ...{ digits, finish_on_key, timeout_ms, flow_url: flow_url ?? "" },
  };
};

/**
 * The response in the form of outdial's own interface. A service has the four actions of `basic`, and more only if its
 * request announces them.
 *
 * @throws {BadParametersException} that names an action that the service hasn't announced
 */
export const respondJson: CarrierWebhooks["respond"] = async (decide, input) => {
  const action = await decide();
  const { action: name } = action;
  if (name === "say" || name === "gather") {
    if (!input?.call.actions?.includes(name)) {
      fail("action", `must not be ${name}: this service announces no ${name} in its flow requests`);
    }
  }
  // Not Response.json, to whose content type Bun adds a charset.
  return new Response(JSON.stringify(wireOf(action)), {
    headers: { "Content-Type": "application/json" },
  });
};
