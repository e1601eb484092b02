import { type GenericSchema, safeParse } from "valibot";
import { BadParametersException, type ParameterIssue } from "./errors.ts";

/** The message of an object's schema: what it complains of is a field that is absent or too many. */
export const presence = ({ expected }: { readonly expected: string | null }): string =>
  expected === "never" ? "is unknown" : "is missing";

/** A field's name, if it looks like one: any text can be a key of an object, a secret too. */
const nameOf = (key: unknown): string => /^[a-z]\w{0,24}$/i.exec(String(key))?.[0] ?? "a field";

/**
 * A checked copy of a value, its defaults filled in.
 *
 * @throws {BadParametersException} naming each field and its rule; valibot's own issues stay inside,
 * because they hold the values
 */
export const check = <T>(schema: GenericSchema<unknown, T>, value: unknown): T => {
  let found: ParameterIssue[] = [{ param: "a field", message: "can't be read" }];
  try {
    const { success, output, issues } = safeParse(schema, value);
    if (success) return output;
    found = issues.map(({ path, message }) => ({ param: nameOf(path?.[0].key), message }));
  } catch {
    // A getter or a proxy of the caller's threw.
  }
  throw new BadParametersException(found);
};
