import { custom, type GenericSchema, strictObject } from "valibot";
import { presence } from "../../rules/check.ts";
import { isText } from "../../rules/kind.ts";
import { isTimezone } from "./clock.ts";

/** When contacts may be called, by the clock on their wall. */
export interface Window {
  /** Such as `"mon-fri"`, `"sat"` or `"mon,wed-fri"`; a window past midnight belongs to the day it starts on. */
  readonly days: string;
  /** `"09:00"`: the first minute. */
  readonly from: string;
  /** `"20:00"`: the first minute that is outside again; up to `"24:00"`. At or before `from`, it is the next day's. */
  readonly to: string;
  /** IANA, such as `"Europe/Berlin"`: for the contacts that have none of their own. */
  readonly timezone: string;
}

const names = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** The days of a text as numbers, Sunday is 0; empty when it is none. */
export const daysOf = (text: string): readonly number[] => {
  const days = new Set<number>();
  for (const part of text.toLowerCase().split(",")) {
    const [from = -1, to = from] = part.split("-").map((name) => names.indexOf(name.trim()));
    if (from < 0 || to < 0 || part.split("-").length > 2) return [];
    for (let day = from; ; day = (day + 1) % 7) {
      days.add(day);
      if (day === to) break;
    }
  }
  return [...days];
};

/** Minutes since midnight; `NaN` when it is no time of day. */
export const minutesOf = (text: string): number => {
  const [, hours, minutes] = /^([01]\d|2[0-4]):([0-5]\d)$/.exec(text) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return total <= 1440 ? total : Number.NaN;
};

/** The rules of a window. */
export const WindowSchema: GenericSchema<unknown, Window> = /* @__PURE__ */ strictObject(
  {
    days: /* @__PURE__ */ custom<string>(
      (value) => isText(value) && daysOf(value).length > 0,
      'must be days such as "mon-fri" or "mon,wed,sat"',
    ),
    from: /* @__PURE__ */ custom<string>(
      (value) => isText(value) && minutesOf(value) < 1440,
      'must be a time such as "09:00"',
    ),
    to: /* @__PURE__ */ custom<string>(
      (value) => isText(value) && minutesOf(value) > 0,
      'must be a time such as "20:00"',
    ),
    timezone: /* @__PURE__ */ custom<string>(
      (value) => isText(value) && isTimezone(value),
      'must be an IANA time zone such as "Europe/Berlin"',
    ),
  },
  presence,
);
