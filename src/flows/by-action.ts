import { custom, type GenericSchema, lazy, object, pipe, transform } from "valibot";
import { isRecord, isText } from "../lib/check.ts";

/** The schema of an action, with those of its fields. */
export type ActionSchema<A> = GenericSchema<unknown, A> & { readonly entries: object };

/**
 * A schema that selects another by the value's `action`.
 *
 * @param rule - which actions there are, as the end of a sentence
 */
export const byAction = <A>(
  schemas: Readonly<Record<string, GenericSchema<unknown, A>>>,
  rule: string,
): GenericSchema<unknown, A> => {
  // Refuses everything, and names the field.
  const none: GenericSchema<unknown, A> = pipe(
    object({ action: custom<never>(() => false, rule) }, rule),
    transform(({ action }) => action),
  );
  return lazy((value): GenericSchema<unknown, A> => {
    const name = isRecord(value) ? value.action : undefined;
    return (isText(name) && Object.hasOwn(schemas, name) && schemas[name]) || none;
  });
};
