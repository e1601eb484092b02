import type { CountryCode, PhoneNumber } from "libphonenumber-js/min";
import { UsageError } from "../../command/failure.ts";

/** What a text is: exactly one telephone number, as E.164 in its one spelling, or why it is none. */
type Reading =
  | { readonly number: string; readonly reason?: undefined }
  | { readonly number?: undefined; readonly reason: string };

/** Reads a number as somebody wrote it down. It never guesses: a wrong guess calls somebody else. */
export type Read = (text: string) => Reading;

const reasons = {
  empty: "is missing",
  several: "must be exactly one telephone number: digits in groups, and nothing else",
  country: 'needs "+" and its country code, or give --country',
  trunk:
    "needs its leading 0, or + and its country code: it may have lost it, or be something else",
  unknown: "is no telephone number that there can be",
} as const;

/** What may stand between two groups of digits. */
const between =
  /^[ \u00a0\u202f]?(?:[-./\u2010\u2011\u2013]|\)?[ \u00a0\u202f]?\(|\))?[ \u00a0\u202f]?$/;
const hyphen = /^[-\u2010\u2011\u2013]$/;

/** What a spreadsheet makes of numbers, and what looks like one to who only counts digits. */
const decimal = /^\+?\d+\.\d+$/;
const date = /^(?:\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|(?:19|20)\d\d[-./]\d{1,2}[-./]\d{1,2})$/;

/** A group of so many digits is a whole number: what follows is something else, but for an extension. */
const whole = 7;

/** Whether a text is one number in groups, whatever its digits say. */
const isOne = (text: string): boolean => {
  const groups = text.match(/\d+/g) ?? [];
  const [before = "", ...separators] = text.split(/\d+/);
  const after = separators.pop();
  if (!/^\+?\(?$/.test(before) || after !== "" || decimal.test(text) || date.test(text))
    return false;
  return separators.every((separator, index) => {
    const group = groups[index] ?? "";
    const next = groups[index + 1] ?? "";
    const isLast = index === separators.length - 1;
    if (isLast && hyphen.test(separator) && next.length <= 5) return true;
    if (group.length >= whole || (isLast && next.length < 2)) return false;
    // "030 1234 / 030 5678": a number begins anew.
    const isParted = separator.includes("/") || / [^ ()] /.test(separator);
    return between.test(separator) && !(isParted && next.startsWith("0"));
  });
};

/**
 * Whether its country writes a number with a 0 that this text lacks, or in no way at all: short
 * numbers, such as those of services.
 */
const lacksTrunk = (text: string, number: PhoneNumber): boolean =>
  !/^\(?[+0]/.test(text) && /^\D*0|^\d+$/.test(number.formatNational());

/** E.164, which is taken as it is: numbering plans change, and no list of them is the service's. */
const e164 = /^\+[1-9]\d{6,14}$/;

/** Where a 0 may follow the code of a country: only its plan knows whether it belongs there. */
const zero = /^\+\d{1,3}0/;

/**
 * Reads numbers, those without a country by one. One telephone has one spelling, so a 0 that belongs
 * to the national way of writing is left out: `+49 (0)30 123456` is `+4930123456`.
 *
 * @throws {UsageError} when there is no such country
 */
export const reader = async (country?: string): Promise<Read> => {
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js/min");
  const code = country?.toUpperCase();
  const isKnown = (text: string | undefined): text is CountryCode | undefined =>
    text === undefined || isSupportedCountry(text);
  if (!isKnown(code)) throw new UsageError("--country must be a code of two letters, such as DE");
  const options = { extract: false, ...(code && { defaultCountry: code }) };
  return (given) => {
    const text = given.trim();
    if (!text) return { reason: reasons.empty };
    if (!isOne(text)) return { reason: reasons.several };
    if (!code && !text.startsWith("+")) return { reason: reasons.country };
    const isPlain = e164.test(text);
    if (isPlain && !zero.test(text)) return { number: text };
    const number = parsePhoneNumberFromString(text, options);
    if (!number?.isPossible() || !number.isValid() || number.ext)
      return isPlain ? { number: text } : { reason: reasons.unknown };
    return lacksTrunk(text, number) ? { reason: reasons.trunk } : { number: number.number };
  };
};
