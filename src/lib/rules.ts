import { fail, isFunction, isRecord, isText, nearest, shownName } from "./check.ts";

// The rules of an agent's options and of each message on a media socket, which a bundle has without valibot: with it
// `connectAgent` is 1.1 kB larger, compressed, and a message is checked as fast.

/** A test of a value, and the rule as the end of a sentence that begins with the value's name. */
export type Rule = readonly [isKept: (value: unknown) => boolean, rule: string];

/** Fields of an object, each with its rule or with fields of its own. */
export interface Fields {
  readonly [name: string]: Rule | Fields;
}

/** The options of one function, each with its rule. */
export type OptionRules<Options> = Readonly<Record<keyof Options, Rule>>;

export const textRule: Rule = [isText, "must be a string"];
export const functionRule: Rule = [isFunction, "must be a function"];
export const booleanRule: Rule = [(value) => typeof value === "boolean", "must be a boolean"];
export const objectRule: Rule = [isRecord, "must be an object"];
export const countRule: Rule = [
  (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 31,
  "must be a whole number from 0",
];
export const durationRule: Rule = [
  (value) => typeof value === "number" && value > 0 && value < 2 ** 31,
  "must be a number of milliseconds above 0 and below 2 ** 31",
];

/** The rule of what may only be one of some values. */
export const oneOf = (...allowed: readonly unknown[]): Rule => [
  (value) => allowed.includes(value),
  `must be ${allowed.join(" or ")}`,
];

/** The message of an object's field, or of the object itself, that is not there. */
export const missing = "is missing";

export const isRule = (what: Rule | Fields): what is Rule => Array.isArray(what);

/**
 * The first field that breaks its rule, by its path, and the rule. Other fields may be there.
 *
 * @param isOptional - whether a field may be left out or undefined
 */
export const faultIn = (
  object: Readonly<Record<string, unknown>>,
  fields: Fields,
  isOptional = false,
): readonly [name: string, rule: string] | undefined => {
  for (const name of Object.keys(fields)) {
    const what = fields[name];
    const value = object[name];
    if (!what || (isOptional && value === undefined)) continue;
    if (isRule(what)) {
      if (!what[0](value)) return [name, name in object ? what[1] : missing];
    } else {
      if (!isRecord(value)) return [name, missing];
      const fault = faultIn(value, what, isOptional);
      if (fault) return [`${name}.${fault[0]}`, fault[1]];
    }
  }
  return undefined;
};

/**
 * Checks options; those that are left out or undefined have defaults.
 *
 * @throws {BadParametersException} (`placed: "no"`) that names the option and the rule, never the value
 */
export const checkOptions = <Options>(options: unknown, rules: OptionRules<Options>): void => {
  if (!isRecord(options)) fail("options", objectRule[1]);
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(rules, name)) continue;
    const meant = nearest(Object.keys(rules), name);
    fail(shownName(name), meant ? `is unknown: did you mean ${meant}?` : "is unknown");
  }
  const fault = faultIn(options, rules, true);
  if (fault) fail(...fault);
};
