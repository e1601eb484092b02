import { type Action, actions, fieldsOf } from "../../flows/action.ts";

/** How many unknown fields are named, and how much of a name. */
const mostNamed = 20;
const longestName = 80;

/** What a flow answered, without what no action has. */
interface Known {
  readonly action: unknown;
  /** The fields that were left out, such as `ringback` or `on_busy.volume`; the first 20. */
  readonly unknown: readonly string[];
}

const isAction = (name: unknown): name is Action["action"] =>
  typeof name === "string" && Object.hasOwn(actions, name);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Leaves out the fields that an action doesn't know, and those of the actions in it: services have
 * more of them, and their own builders always write some.
 */
export const knownIn = (value: unknown, place = ""): Known => {
  if (!isRecord(value) || !isAction(value.action)) return { action: value, unknown: [] };
  const fields = fieldsOf(value.action);
  const action: Record<string, unknown> = {};
  const unknown: string[] = [];
  for (const [name, field] of Object.entries(value)) {
    if (!fields.includes(name)) unknown.push(`${place}${name}`.slice(0, longestName));
    else {
      const inner = knownIn(field, `${place}${name}.`);
      action[name] = inner.action;
      unknown.push(...inner.unknown);
    }
  }
  return { action, unknown: unknown.slice(0, mostNamed) };
};
