import { type GenericSchema, safeParse } from "valibot";
import { BadParametersException, type ParameterIssue } from "../errors.ts";

/** The message of an object's schema: a field is absent. `check` says more of one that is too many. */
export const presence = ({ expected }: { readonly expected: string | null }): string =>
  expected === "never" ? "is unknown" : "is missing";

/**
 * Where an issue lies, such as `on_busy.media_url`, in names that look like names, without a digit and up
 * to the 26 letters of `dangerouslyAllowUnverified`: any text can be a key of an object, a secret too.
 */
const nameOf = (path: readonly { readonly key: unknown }[] = []): string =>
  path.map(({ key }) => /^[a-z][a-z_]{0,25}$/i.exec(String(key))?.[0] ?? "a field").join(".") ||
  "a field";

/** A name that is unknown, and the known one that it is most like, if any. */
const unknown = (schema: unknown, param: string): string => {
  const start = param.toLowerCase().slice(0, 4);
  const known = Object.keys(Object(Object(schema).entries));
  const meant = known.find((name) => name.toLowerCase().includes(start));
  return meant ? `is unknown: did you mean ${meant}?` : "is unknown";
};

/**
 * A checked copy of a value, its defaults filled in.
 *
 * @param read - gives the value; a getter or a proxy of the caller's may throw in it
 * @throws {BadParametersException} naming each field and its rule; valibot's own issues stay inside,
 * because they hold the values
 */
export const check = <T>(schema: GenericSchema<unknown, T>, read: () => unknown): T => {
  let found: ParameterIssue[] = [{ param: "a field", message: "can't be read" }];
  try {
    const { success, output, issues } = safeParse(schema, read());
    if (success) return output;
    found = issues.map(({ path, message, expected }) => {
      const param = nameOf(path);
      return { param, message: expected === "never" ? unknown(schema, param) : message };
    });
  } catch {
    // Whatever was thrown may hold a value.
  }
  throw new BadParametersException(found);
};
