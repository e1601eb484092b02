import { fail, isText } from "../lib/check.ts";
import type { CarrierWebhooks } from "../service.ts";
import type { AnyAction } from "./actions.ts";
import type { Prompt } from "./prompts.ts";
import type { Gather } from "./say.ts";
import type { WirePrompt } from "./wire.ts";

const wirePrompt = (prompt: Prompt): WirePrompt => (isText(prompt) ? { text: prompt } : prompt);

/** An action as outdial's own interface writes it: a `say` and a `gather` continue at their `flow_url` alone. */
const jsonOf = (action: AnyAction): string => {
  if (action.action !== "say" && action.action !== "gather") return JSON.stringify(action);
  const { as, on, next, tries, otherwise, ...fields }: Partial<Gather<string>> = {
    ...action,
    action: "gather",
  };
  const prompts = action.prompts.map(wirePrompt);
  return JSON.stringify({ ...fields, action: action.action, prompts });
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
  if (name === "gather" && action.speech) {
    fail("speech", "must be left out: outdial's own interface takes keys alone");
  }
  if (name === "say" || name === "gather") {
    if (!input?.call.actions?.includes(name)) {
      fail("action", `must not be ${name}: this service has not announced it`);
    }
  }
  // Not Response.json, to whose content type Bun adds a charset.
  return new Response(jsonOf(action), {
    headers: { "Content-Type": "application/json" },
  });
};
