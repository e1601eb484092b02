import { custom, type GenericSchema, type OptionalSchema, optional } from "valibot";
import { isText } from "./check.ts";

/** Whether a text or a list has something in it. */
const isSome = (value: unknown): boolean =>
  (isText(value) || Array.isArray(value)) && value.length > 0;

/** Whether a value is a secret, or a list of secrets. */
export const isSecret = (value: unknown): boolean => isSome(value) && [value].flat().every(isSome);

/**
 * The rule of a duration that a carrier takes in seconds.
 *
 * @param min - milliseconds, as `max`
 */
export const wholeSeconds = (min: number, max: number): GenericSchema<number> =>
  custom(
    (value) => typeof value === "number" && value >= min && value <= max && value % 1000 === 0,
    `must be milliseconds, whole seconds from ${min} to ${max}`,
  );

/**
 * The rule of `callsPerSecond`.
 *
 * @param usual - what the carrier gives an account
 */
export const callRate = (usual: number): OptionalSchema<GenericSchema<number>, number> =>
  optional(
    custom<number>(
      (value) => typeof value === "number" && value > 0 && value < 2 ** 31,
      "must be a number above 0",
    ),
    usual,
  );
