import { fail, isText } from "../lib/check.ts";
import { type AnyAction, basicSchemas, branchesOf, type Dial } from "./actions.ts";
import { wirePrompt } from "./prompts.ts";
import type { Gather } from "./say.ts";
import type { CarrierWebhooks, Decision } from "./webhooks.ts";

const without = <Fields extends object, Name extends keyof Fields>(
  fields: Fields,
  ...names: readonly Name[]
): Omit<Fields, Name> => {
  const rest = { ...fields };
  for (const name of names) delete rest[name];
  return rest;
};

/** A branch that this interface nests. */
const isNested = (branch: AnyAction | string): boolean =>
  !isText(branch) &&
  (branch.action === "hangup" || (branch.action === "play" && branch.next === undefined));

/**
 * A `dial`: what this interface can't nest is decided at a URL of the flow's own, whose request says what came of it.
 *
 * @throws {BadParametersException} that names a field, where the service doesn't say that
 */
const wireDial = async (
  action: Dial<string>,
  { signOwn }: Decision,
  announced: readonly string[],
): Promise<object> => {
  const { next, on_busy, on_no_answer, on_failure, ...plain } = action;
  const branches = branchesOf(action);
  const own = branches.find(([, branch]) => !isNested(branch));
  if (!(next || own) || !signOwn) return without(action, "next");
  const [name, rule] = own ? [own[0], "must be a play or a hangup"] : ["next", "must be left out"];
  if (!announced.includes("dialed")) fail(name, `${rule}: this service has not announced dialed`);
  if (plain.flow_url) fail(name, `${rule} beside flow_url`);
  return { ...plain, flow_url: await signOwn() };
};

/**
 * An action as outdial's own interface writes it: it continues at its `flow_url` alone. A new action doesn't compile until
 * it has its form here.
 */
const wireOf = async (
  action: AnyAction,
  decision: Decision,
  announced: readonly string[],
): Promise<object> => {
  switch (action.action) {
    case "hangup":
      return action;
    case "play":
    case "stream":
      return without(action, "next");
    case "dial":
      return wireDial(action, decision, announced);
    case "record": {
      const { next, ...fields } = action;
      return { ...fields, prompts: action.prompts.map(wirePrompt) };
    }
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
  const decision = await decide();
  const { action } = decision;
  // Only a service whose response can't have what follows is led elsewhere.
  if (action.action === "redirect") return fail("flow_url", "must be left out");
  const { action: name } = action;
  const announced = input?.call.actions ?? [];
  if (name === "gather" && action.speech) {
    fail("speech", "must be left out: outdial's own interface takes keys alone");
  }
  if (!(Object.hasOwn(basicSchemas, name) || announced.includes(name))) {
    fail("action", `must not be ${name}: this service has not announced it`);
  }
  // Not Response.json, to whose content type Bun adds a charset.
  return new Response(JSON.stringify(await wireOf(action, decision, announced)), {
    headers: { "Content-Type": "application/json" },
  });
};
