import type { CountryCode } from "libphonenumber-js/min";
import { UsageError } from "../../command/failure.ts";

/** A number as somebody wrote it down, as E.164; what it can't read stays as it is, to be refused. */
export type Normalise = (text: string) => string;

/** Only what means nothing is left out: a `(0)` in it would. */
const bare: Normalise = (text) => text.replace(/[\s.\u00a0-]+/g, "");

/**
 * Reads numbers, those without a country by one.
 *
 * @throws {UsageError} when there is no such country
 */
export const normaliser = async (country: string | undefined): Promise<Normalise> => {
  if (country === undefined) return bare;
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js/min");
  const code = country.toUpperCase();
  const isKnown = (text: string): text is CountryCode => isSupportedCountry(text);
  if (!isKnown(code)) throw new UsageError("--country must be a code of two letters, such as DE");
  return (text) => parsePhoneNumberFromString(text, code)?.number ?? bare(text);
};
