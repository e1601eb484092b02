import { type GenericSchema, safeParse } from "valibot";
import { RefusedException } from "../refused.ts";

/** Whether a value is nested deeper than some levels; it looks no further than that. */
const isDeeper = (value: unknown, levels: number): boolean =>
  Object(value) === value &&
  (!levels || Object.values(Object(value)).some((inner) => isDeeper(inner, levels - 1)));

/**
 * What the raw body of a verified request says.
 *
 * @throws {RefusedException} `not_utf8`, `not_json`, `too_deep` or `wrong_shape`
 */
export const messageIn = <T>(body: Uint8Array, schema: GenericSchema<unknown, T>): T => {
  let step: "not_utf8" | "not_json" | "too_deep" | "wrong_shape" = "not_utf8";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    step = "not_json";
    const message: unknown = JSON.parse(text);
    step = "too_deep";
    if (!isDeeper(message, 32)) {
      step = "wrong_shape";
      const { success, output } = safeParse(schema, message);
      if (success) return output;
    }
  } catch {
    // The parsers' own errors quote what they read.
  }
  throw new RefusedException(step);
};
