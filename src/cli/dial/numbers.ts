import type { CountryCode, PhoneNumber } from "libphonenumber-js/min";
import type { NumberReading } from "../../campaigns/index.ts";
import { UsageError } from "../command.ts";

/** Reads a number as somebody wrote it down. It never guesses: a wrong guess calls somebody else. */
export type ReadNumber = (text: string) => NumberReading;

const reasons = {
  empty: "is missing",
  several: "must be exactly one telephone number: digits in groups, and nothing else",
  country: 'needs "+" and its country code, or pass --country',
  trunk: "lacks a national prefix (0) or a country code (+49)",
  unknown: "is not a possible telephone number",
} as const;

/** What may separate two groups of digits. */
const between =
  /^[ \u00a0\u202f]?(?:[-./\u2010\u2011\u2013]|\)?[ \u00a0\u202f]?\(|\))?[ \u00a0\u202f]?$/;
const hyphen = /^[-\u2010\u2011\u2013]$/;

/** Not telephone numbers, though they have as many digits: decimals of a spreadsheet, and dates. */
const decimal = /^\+?\d+\.\d+$/;
const date = /^(?:\d{1,2}[-./]\d{1,2}[-./](?:19|20)\d\d|(?:19|20)\d\d[-./]\d{1,2}[-./]\d{1,2})$/;

/** What may stand between two numbers of one cell: "030 1234 / 5678", "030 1234 - 5678". */
const alternative = /\/|[ \u00a0\u202f][-\u2010\u2011\u2013][ \u00a0\u202f]/g;

/** Whether a text is an area code at most, with or without its country code. */
const isAreaCode = (text: string): boolean => {
  const groups = text.replace("(0)", " ").match(/\d+/g) ?? [];
  return groups.length <= (/^(?:\+|00)/.test(text) ? 2 : 1);
};

/** Whether a number may end where an alternative follows, so that the cell may contain two. */
const mayBeTwo = (text: string, isPossible: (text: string) => boolean): boolean =>
  [...text.matchAll(alternative)]
    .map(({ index }) => text.slice(0, index).trim())
    .some((first) => !isAreaCode(first) && isPossible(first));

/** A group of this many digits is a complete number: only an extension may follow. */
const complete = 7;

/** Whether a text has the form of one number in groups. */
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
    if (group.length >= complete || (isLast && next.length < 2)) return false;
    // "030 1234 / 030 5678" is two numbers.
    const isParted = separator.includes("/") || / [^ ()] /.test(separator);
    return between.test(separator) && !(isParted && next.startsWith("0"));
  });
};

/**
 * Whether the text lacks the 0 with which its country writes the number, or the number is a short one
 * that has no other form, such as those of services.
 */
const lacksTrunk = (text: string, number: PhoneNumber): boolean =>
  !/^\(?[+0]/.test(text) && /^\D*0|^\d+$/.test(number.formatNational());

/** E.164 is accepted as it is: numbering plans change, and the service knows them better. */
const e164 = /^\+[1-9]\d{6,14}$/;

/** A 0 after the country code: only the country's numbering plan knows whether it belongs there. */
const zero = /^\+\d{1,3}0/;

/**
 * Returns a reader of numbers. One telephone has one spelling, so the 0 of the national format is
 * dropped: `+49 (0)30 123456` is `+4930123456`.
 *
 * @param country - the country of numbers without a country code
 * @throws {UsageError} if there is no such country
 */
export const numberReader = async (country?: string): Promise<ReadNumber> => {
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js/min");
  const code = country?.toUpperCase();
  const isKnown = (text: string | undefined): text is CountryCode | undefined =>
    text === undefined || isSupportedCountry(text);
  if (!isKnown(code)) throw new UsageError("--country must be a code of two letters, such as DE");
  const options = { extract: false, ...(code && { defaultCountry: code }) };
  const isPossible = (text: string): boolean =>
    parsePhoneNumberFromString(text, options)?.isPossible() ?? false;
  return (given) => {
    const text = given.trim();
    if (!text) return { reason: reasons.empty };
    if (!isOne(text)) return { reason: reasons.several };
    if (!code && !text.startsWith("+")) return { reason: reasons.country };
    if (mayBeTwo(text, isPossible)) return { reason: reasons.several };
    const isPlain = e164.test(text);
    if (isPlain && !zero.test(text)) return { number: text };
    const number = parsePhoneNumberFromString(text, options);
    if (!number?.isPossible() || !number.isValid() || number.ext)
      return isPlain ? { number: text } : { reason: reasons.unknown };
    return lacksTrunk(text, number) ? { reason: reasons.trunk } : { number: number.number };
  };
};
