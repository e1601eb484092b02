/** Removes the secrets of one call from what a service or a platform answers. */
export interface Redaction {
  /**
   * A text with `***` in place of the key and the call's numbers; `undefined` when it seems to hold
   * them in another spelling, is no text, or when the texts of this response are too long together.
   */
  readonly redact: (text: unknown) => string | undefined;
  /** Whether a text holds the key, most of it, or one of the call's numbers. */
  readonly holds: (text: string) => boolean;
}

/** The most characters of a response's texts that are kept. */
const most = 4_096;

/** Keys that are shorter may occur in a text by chance. */
const shortestKey = 8;

const escaped = (text: string): string => text.replace(/\W/g, "\\$&");

/**
 * A text in which each character is as it is, percent-encoded, or escaped as in JSON, HTML or XML, which leave letters
 * and digits as they are.
 */
const inAnyEncoding = (text: string): string =>
  [...text]
    .map((character) => {
      const hex = character.charCodeAt(0).toString(16);
      const more = /[a-z\d]/i.test(character) ? "" : `|\\\\u00${hex}|&#?\\w+;`;
      return `(?:\\\\?${escaped(character)}|%${hex}${more}${character === " " ? "|\\+" : ""})`;
    })
    .join("");

/** A key in base64 or base64url, alone or inside a longer text, where it can start at three positions. */
const inBase64 = (key: string): readonly string[] =>
  [0, 1, 2].map((before) => {
    const text = btoa(" ".repeat(before) + key).slice(
      Math.ceil((before * 4) / 3),
      Math.floor(((before + key.length) * 4) / 3),
    );
    const either = text.replace(/\+/g, "(?:[+-]|%2B)").replace(/\//g, "(?:[/_]|%2F)");
    // The last character may hold the end of the key and the beginning of the rest.
    return `${either}[\\w+/-]?(?:=|%3D)*`;
  });

/** Longer keys, such as a PEM, have no pattern, which takes a tenth of a second to compile. */
const longestKey = 256;

/** The spellings of a key: as it is, percent-encoded, escaped, in base64 and base64url. */
const keyPattern = (key: string): string =>
  [inAnyEncoding(key), ...(key.length < shortestKey ? [] : inBase64(key))].join("|");

/** Whether a text holds a key of 8 characters or more, in one of its spellings; of a PEM, most of its second line. */
export const holdsKey = (key: string, text: string): boolean => {
  const searched = key.length > longestKey ? key.slice(100, 148) : key;
  return key.length >= shortestKey && new RegExp(keyPattern(searched), "i").test(text);
};

/** What stands between the digits of a written telephone number. */
const separator = "[\\s().,_\\/\\u2010-\\u2015-]{0,3}";

/** The spellings of an E.164 number: with or without its country code, with separators or without. */
const numberPattern = (number: string): string => {
  const digits = number.slice(1);
  const spellings = [0, 1, 2, 3].map((code) =>
    [...digits.slice(Math.min(code, digits.length - 7))]
      .map((digit) => `(?:${digit}|%3${digit})`)
      .join(separator),
  );
  return `(?:\\+|%2B|00)?(?:${spellings.join("|")})`;
};

/** A header or a scheme of credentials, and what may be its value. */
const credentials = /(x-api-key|authorization|bearer|basic)["':=\s]{1,4}(?=\S*\d)\S{12}/i;

const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^a-z\d]/g, "");

/** The first three quarters of a key: services cut a key short when they name it. */
const mostOf = (key: string): string => {
  const letters = lettersAndDigits(key);
  return letters.slice(0, Math.max(shortestKey, (letters.length * 3) >> 2));
};

/**
 * The redaction of one call. Services and platforms repeat in their errors what was sent to them, so
 * every text of theirs passes through it before it enters an exception.
 *
 * @param keys - those that the call was tried with
 * @param numbers - E.164
 * @param pieces - of what is too long for a key: a text that holds most of one is left out
 */
export const redactor = (
  keys: readonly string[],
  numbers: readonly string[],
  pieces: readonly string[] = [],
): Redaction => {
  const secrets = new RegExp(
    [
      "(?!)", // Without any key and number nothing matches.
      ...keys.filter(({ length }) => length <= longestKey).map(keyPattern),
      ...numbers.map(numberPattern),
    ].join("|"),
    "gi",
  );
  const parts = [...keys, ...pieces].map(mostOf).filter(({ length }) => length >= shortestKey);
  const holds = (text: string): boolean =>
    text.search(secrets) >= 0 ||
    credentials.test(text) ||
    parts.some((part) => lettersAndDigits(text).includes(part));
  let left = most;
  return {
    holds,
    redact: (given) => {
      if (!/string|number|boolean/.test(typeof given)) return;
      const text = String(given);
      left -= text.length;
      if (left < 0) return;
      const shown = text.replace(secrets, "***");
      return holds(shown) ? undefined : shown;
    },
  };
};
