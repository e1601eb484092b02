import { custom, type GenericSchema, is, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { presence } from "../check.ts";
import { isKey } from "../options.ts";

/**
 * What may be configured about an emulator.
 *
 * @see contract.md
 */
export interface EmulatorOptions {
  /**
   * The account's key.
   *
   * @defaultValue a new one: `ak_` and 43 base64url characters
   */
  readonly apiKey?: string | undefined;
  /**
   * The numbers that the account may call from, in E.164.
   *
   * @defaultValue any number
   */
  readonly numbers?: readonly string[] | undefined;
}

/** The options of one emulator, checked. */
export interface EmulatorSettings {
  readonly apiKey?: string | undefined;
  readonly numbers?: readonly string[] | undefined;
}

/** The rules of the options, in the order in which they are told. */
export const EmulatorSettingsSchema: GenericSchema<unknown, EmulatorSettings> =
  /* @__PURE__ */ strictObject(
    {
      apiKey: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<string>(isKey, "must be a string that is a legal header value"),
      ),
      numbers: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<readonly string[]>(
          (value) =>
            Array.isArray(value) &&
            value.every((number) => is(CallParams.entries.from_number, number)),
          "must be a list of E.164 numbers",
        ),
      ),
    },
    presence,
  );
