import { isText } from "../../rules/kind.ts";

/** What a field must be, and how that is told: the end of a sentence that begins with its name. */
export interface Rule {
  readonly isKept: (value: unknown) => boolean;
  readonly rule: string;
}

/** Fields that a message must have, each with its rule or with fields of its own. It may have more. */
export interface Fields {
  readonly [name: string]: Rule | Fields;
}

/** What is told of a field that isn't there. */
export const missing = "is missing";

/** The most audio in one message, in characters of base64. (Four seconds of 16 kHz are 171 kB.) */
const mostAudio = 1_048_576;

export const text: Rule = { isKept: isText, rule: "must be a string" };

export const order: Rule = {
  isKept: (value) => Number.isInteger(value) && Number(value) >= 0,
  rule: "must be a whole number from 0",
};

/** Whether it decodes is found out by decoding it. */
export const audioB64: Rule = {
  isKept: (value) =>
    isText(value) && value.length <= mostAudio && /^[A-Za-z0-9+/]*={0,2}$/.test(value),
  rule: "must be base64 of at most 1 MiB",
};

export const oneOf = (...wanted: readonly unknown[]): Rule => ({
  isKept: (value) => wanted.includes(value),
  rule: `must be ${wanted.join(" or ")}`,
});

export const isRule = (what: Rule | Fields): what is Rule => typeof what.isKept === "function";

/** The first field that breaks its rule, by its path, and the rule; undefined when none does. */
export const faultIn = (message: object, fields: Fields, path = ""): string | undefined => {
  for (const [name, what] of Object.entries(fields)) {
    const value: unknown = Reflect.get(message, name);
    const field = path + name;
    if (!(name in message)) return `${field} ${missing}`;
    if (isRule(what)) {
      if (!what.isKept(value)) return `${field} ${what.rule}`;
      continue;
    }
    if (typeof value !== "object" || !value) return `${field} ${missing}`;
    const fault = faultIn(value, what, `${field}.`);
    if (fault) return fault;
  }
  return undefined;
};
