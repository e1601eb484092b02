import {
  type CustomIssue,
  type CustomSchema,
  custom,
  type ErrorMessage,
  type GenericSchema,
  safeParse,
} from "valibot";
import { BadParametersException, type ParameterIssue } from "../errors.ts";

/** What a function returns, or `undefined` when it throws. */
export const withoutThrowing = <T>(work: () => T): T | undefined => {
  try {
    return work();
  } catch {
    return;
  }
};

/** Whether a value can be called. */
export const isFunction = (value: unknown): boolean => typeof value === "function";

/** Whether a value is a string. */
export const isText = (value: unknown): value is string => typeof value === "string";

/** Whether a value is an object with named fields: neither null, nor a list, nor a function. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The message of the rule for a service that does more than place calls. */
export const serviceRule = "must be made by twilio() or the like: twilioCalls() only places calls";

/** The fields of an object; none of anything else. */
export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  isRecord(value) ? value : {};

/** The kind of a value, for a message that must not repeat the value. */
export const kindOf = (value: unknown): string => {
  if (value == null) return String(value);
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
};

/** Printable ASCII without a space at either end: what every runtime sends unchanged. */
const headerValue = /^[!-~]([ -~]*[!-~])?$/;

/** Whether fetch accepts a key as a header value; its error for any other value repeats the value. */
export const isKey = (key: unknown): key is string => isText(key) && headerValue.test(key);

/** Whether this is a web page, where every visitor can read a key. */
export const isPage = (): boolean => "window" in globalThis && "document" in globalThis;

/** @throws {BadParametersException} that names a parameter and the rule that it breaks */
export const fail: (param: string, message: string) => never = (param, message) => {
  throw new BadParametersException([{ param, message }]);
};

/** A schema made of a function that returns the rule that a value breaks, if any. */
export const ruleSchema = <T>(
  rule: (value: unknown) => string | undefined,
): CustomSchema<T, ErrorMessage<CustomIssue> | undefined> =>
  custom<T>(
    (value) => !rule(value),
    ({ input }) => rule(input) ?? "",
  );

/** The schema of what is either so or not. */
export const flag: CustomSchema<boolean, string> = custom(
  (value) => typeof value === "boolean",
  "must be true or false",
);

/** The message of an object's schema: the value is no object, or a field is absent or unknown. */
export const presence = ({
  expected,
  input,
}: {
  readonly expected: string | null;
  readonly input?: unknown;
}): string => {
  if (expected === "Object") return `must be an object, not ${kindOf(input)}`;
  return expected === "never" ? "is unknown" : "is missing";
};

/**
 * A name as an exception may show it: without digits and of at most 26 letters (`dangerouslyAllowUnverified`). Any text
 * can be the name of a field, a secret too.
 */
export const shownName = (name: unknown): string =>
  /^[a-z][a-z_]{0,25}$/i.exec(String(name))?.[0] ?? "a field";

/** 7 digits or more, with what may stand between the digits of a telephone number. */
const telephone = /\+?\(?\p{Nd}(?:[^\p{L}\p{Nd}:]{0,5}\p{Nd}){6,}/gu;

/** A text without anything that looks like a telephone number. */
export const withoutTelephones = (text: string): string => text.replace(telephone, "***");

/** The path of an issue, such as `on_busy.media_url`. */
const nameOf = (path: readonly { readonly key: unknown }[]): string =>
  path.map(({ key }) => shownName(key)).join(".");

/** The known name that is most like an unknown one, if any. */
export const nearest = (known: readonly string[], unknown: string): string | undefined => {
  const given = unknown.toLowerCase();
  return known.find((name) => {
    const lower = name.toLowerCase();
    return (
      lower.startsWith(given.slice(0, 3)) ||
      lower.includes(given.slice(0, 5)) ||
      given.includes(lower)
    );
  });
};

/**
 * A checked copy of a value, with its defaults filled in.
 *
 * @param read - returns the value; a getter or a proxy of the caller's may throw in it
 * @param name - what the value is called, for the message about one that is no object
 * @throws {BadParametersException} that names each field and its rule; valibot's own issues are
 * dropped, because they hold the values
 */
export const check = <T>(
  schema: GenericSchema<unknown, T>,
  read: () => unknown,
  name = "a field",
): T => {
  let found: ParameterIssue[] = [{ param: "a field", message: "can't be read" }];
  try {
    const { success, output, issues } = safeParse(schema, read());
    if (success) return output;
    found = issues.map(({ path, message, expected }) => {
      const param = path ? nameOf(path) : name;
      const known = Object.keys(fieldsOf(fieldsOf(schema).entries));
      const meant = expected === "never" && nearest(known, param);
      return { param, message: meant ? `${message}: did you mean ${meant}?` : message };
    });
  } catch {
    // What was thrown may hold a value.
  }
  throw new BadParametersException(found);
};
