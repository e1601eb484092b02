import { custom, type GenericSchema, optional, picklist, strictObject } from "valibot";
import { check, fail, fieldsOf, isRecord, isText, kindOf, presence } from "../lib/check.ts";
import type { Utterance } from "./turns.ts";

const expectations = ["respond", "stop", "ignore"] as const satisfies Utterance["expect"][];

const duration = custom<number>(
  (value) => typeof value === "number" && Number.isFinite(value) && value >= 0,
  "must be 0 or more",
);
const timeout = optional(
  custom<number>((value) => typeof value === "number" && value >= 0, "must be 0 or more"),
);
const hertz = custom<number>(
  (value) => typeof value === "number" && Number.isFinite(value) && value > 0,
  "must be a number above 0",
);
const text = custom<string>(isText, ({ input }) => `must be a string, not ${kindOf(input)}`);
const expect = optional(picklist(expectations, 'must be "respond", "stop" or "ignore"'));

const voice = strictObject(
  {
    audio: custom<Int16Array>((value) => value instanceof Int16Array, "must be Int16Array"),
    sampleRate: custom<number>(
      (value) => Number.isInteger(value) && Number(value) >= 4_000 && Number(value) <= 192_000,
      "must be a whole number from 4 000 to 192 000",
    ),
  },
  presence,
);
const audio = custom<Int16Array | Uint8Array>(
  (value) => value instanceof Int16Array || value instanceof Uint8Array,
  "must be Int16Array or Uint8Array",
);

/** The fields of each act. A typo in one would change the figures. */
const fields = {
  say: { voice, expect },
  tone: { hertz, ms: duration, expect },
  silence: { ms: duration },
  until: { ms: duration },
  "until-prompt": {},
  listen: { ms: duration },
  "until-quiet": { ms: optional(duration), timeout },
  "until-speech": { ms: duration, timeout },
  "until-keys": { keys: text, timeout },
  press: { digits: text },
  hangup: {},
} as const;

/** The other forms of `say`, by the field that they have. */
const says = {
  audio: { audio, expect },
  text: { ms: duration, text, confidence: optional(custom<number>(() => true)), expect },
} as const;

const isType = (value: unknown): value is keyof typeof fields =>
  isText(value) && Object.hasOwn(fields, value);

const fieldsFor = (type: keyof typeof fields, act: object): Record<string, GenericSchema> => {
  if (type !== "say") return fields[type];
  if ("audio" in act) return says.audio;
  return "text" in act ? says.text : fields.say;
};

/** @throws {BadParametersException} that names the fields of an act of the caller that break a rule */
export const checkAct = (act: unknown): void => {
  const given = isRecord(act) ? act : fail("acts", `must be objects, not ${kindOf(act)}`);
  const type = isType(given.type)
    ? given.type
    : fail("type", `must be ${Object.keys(fields).join(", ")}`);
  check(strictObject({ type: text, ...fieldsFor(type, given) }, presence), () => given);
};

/** What an act expects. */
export const expectationOf = (act: unknown): Utterance["expect"] => {
  const given = fieldsOf(act).expect;
  return expectations.find((each) => each === given) ?? "respond";
};
