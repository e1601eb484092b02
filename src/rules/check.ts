import { type GenericSchema, safeParse } from "valibot";
import { BadParametersException, type ParameterIssue } from "../errors.ts";

/** The message of an object's schema: what it complains of is a field that is absent or too many. */
export const presence = ({ expected }: { readonly expected: string | null }): string =>
  expected === "never" ? "is unknown" : "is missing";

/**
 * Where an issue lies, such as `on_busy.media_url`, in names that look like names, without a digit and up
 * to the 26 letters of `dangerouslyAllowUnverified`: any text can be a key of an object, a secret too.
 */
const nameOf = (path: readonly { readonly key: unknown }[] = []): string =>
  path.map(({ key }) => /^[a-z][a-z_]{0,25}$/i.exec(String(key))?.[0] ?? "a field").join(".") ||
  "a field";

/** The name that an unknown one is most like, if any: by its first letters. */
const meantBy = (schema: unknown, param: string): string | undefined =>
  Object.keys(Object(schema).entries).find((name) =>
    name.includes(param.slice(0, 3).toLowerCase()),
  );

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
      const meant = expected === "never" && meantBy(schema, param);
      return { param, message: meant ? `${message}: did you mean ${meant}?` : message };
    });
  } catch {
    // Whatever was thrown may hold a value.
  }
  throw new BadParametersException(found);
};
