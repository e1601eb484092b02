import { custom, type GenericSchema, lazy } from "valibot";
import { check, fieldsOf, isText } from "../lib/check.ts";
import { type BuiltAction, inRequest } from "./in-request.ts";

/** The schema of an action, with those of its fields. */
export type ActionSchema<A> = GenericSchema<unknown, A> & { readonly entries: object };

/** Names in a sentence: `play, stream or dial`. */
const listed = (names: readonly string[]): string =>
  [names.slice(0, -1).join(", "), ...names.slice(-1)].filter(Boolean).join(" or ");

/**
 * A schema that selects another by the value's `action`.
 *
 * @param rule - which actions there are, as the end of a sentence: their names by default
 */
export const byAction = <A>(
  schemas: Readonly<Record<string, GenericSchema<unknown, A>>>,
  rule: string = `must be ${listed(Object.keys(schemas))}`,
): GenericSchema<unknown, A> => {
  const none = custom<A>(() => false, rule);
  return lazy((value): GenericSchema<unknown, A> => {
    const { action } = fieldsOf(value);
    return (isText(action) && Object.hasOwn(schemas, action) && schemas[action]) || none;
  });
};

/**
 * A checked action, without fields that are left to a default, which the request for a call can have.
 *
 * @throws {BadParametersException} that names a field and its rule
 */
export const build = <A extends BuiltAction>(
  schema: GenericSchema<unknown, A>,
  fields: () => object,
): A =>
  inRequest(
    check(schema, () =>
      Object.fromEntries(Object.entries(fields()).filter(([, value]) => value !== undefined)),
    ),
  );
