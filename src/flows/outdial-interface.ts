import { fail } from "../lib/check.ts";
import { type AnyAction, basicSchemas } from "./actions.ts";
import { wirePrompt } from "./prompts.ts";
import type { Gather } from "./say.ts";
import type { CarrierWebhooks } from "./webhooks.ts";

/**
 * An action as outdial's own interface writes it: a `say` and a `gather` continue at their `flow_url` alone. A new action
 * doesn't compile until it has its form here.
 */
const wireOf = (action: AnyAction): object => {
  switch (action.action) {
    case "play":
    case "stream":
    case "dial":
    case "hangup":
      return action;
    case "say":
    case "gather": {
      const { as, on, next, tries, otherwise, ...fields }: Partial<Gather<string>> = {
        ...action,
        action: "gather",
      };
      const prompts = action.prompts.map(wirePrompt);
      return { ...fields, action: action.action, prompts };
    }
  }
};

/**
 * The response in the form of outdial's own interface. A service has the basic actions, and any other only if its request
 * announces it.
 *
 * @throws {BadParametersException} that names an action that the service hasn't announced
 */
export const respondJson: CarrierWebhooks["respond"] = async (decide, input) => {
  const action = await decide();
  const { action: name } = action;
  if (name === "gather" && action.speech) {
    fail("speech", "must be left out: outdial's own interface takes keys alone");
  }
  if (!(Object.hasOwn(basicSchemas, name) || input?.call.actions?.includes(name))) {
    fail("action", `must not be ${name}: this service has not announced it`);
  }
  // Not Response.json, to whose content type Bun adds a charset.
  return new Response(JSON.stringify(wireOf(action)), {
    headers: { "Content-Type": "application/json" },
  });
};
