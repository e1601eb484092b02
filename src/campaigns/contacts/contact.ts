import { custom, exactOptional, type GenericSchema, optional, strictObject } from "valibot";
import { utf8 } from "../../bytes/utf8.ts";
import { CallParams } from "../../calls/params.ts";
import { presence } from "../../rules/check.ts";
import { isTimezone } from "../window/clock.ts";

/** Somebody who is to be called. */
export interface Contact {
  /** E.164. A campaign has a telephone once. */
  readonly to_number: string;
  /** Your own name for the contact, at most 64 bytes: signed URLs and results carry it. */
  readonly id?: string | undefined;
  /** IANA: the contact's own, in place of the window's. */
  readonly timezone?: string | undefined;
  /** What a flow may say; only those that the option `variables` names are kept. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Where it stands in its list; counted from 1 otherwise. */
  readonly line?: number | undefined;
}

/** A contact that can't be taken, and why. */
export interface RefusedContact {
  /** Where it stands in its list. */
  readonly line: number;
  /** The field and its rule, never the value. */
  readonly reason: string;
}

const variables = (value: unknown): boolean =>
  value === undefined ||
  (Object(value) === value &&
    Object.values(Object(value)).every((each) => typeof each === "string"));

/** The rules of a contact. */
export const ContactSchema: GenericSchema<unknown, Contact> = /* @__PURE__ */ strictObject(
  {
    to_number: CallParams.entries.to_number,
    id: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<string>(
        (value) => typeof value === "string" && /^\P{C}+$/u.test(value) && utf8(value).length <= 64,
        "must be a text of 1 to 64 bytes",
      ),
    ),
    timezone: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<string>(
        (value) => typeof value === "string" && isTimezone(value),
        'must be an IANA time zone such as "Europe/Berlin"',
      ),
    ),
    variables: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<Readonly<Record<string, string>>>(
        variables,
        "must be an object of strings",
      ),
    ),
    line: /* @__PURE__ */ exactOptional(
      /* @__PURE__ */ custom<number | undefined>(
        (value) => value === undefined || Number.isSafeInteger(value),
        "must be a whole number",
      ),
    ),
  },
  presence,
);
