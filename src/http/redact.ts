import { withoutThrowing } from "../lib/check.ts";

/** Removes the secrets of one call from what a service or a platform answers. */
export interface Redaction {
  /**
   * A text with `***` in place of the key and the call's numbers; `undefined` when it seems to hold
   * them in another spelling, is no text, or when the texts of this response are too long together.
   */
  readonly redact: (text: unknown) => string | undefined;
  /** Whether a text holds the key, most of it, or one of the call's numbers. */
  readonly hasSecret: (text: string) => boolean;
}

/** How many characters of a response's texts are kept. */
const textLimit = 4_096;

/** Keys that are shorter may occur in a text by chance. */
const shortestKey = 8;

/** Keys that are longer, such as a PEM or a JWT, are searched for in pieces. */
const longestKey = 256;

/** A piece of such a key. */
const pieceLength = 24;

/**
 * One character of a text: percent-encoded as the bytes of its UTF-8, or as one byte, escaped as in JSON, HTML or XML, or as it
 * is.
 */
const spelled =
  /((?:%[cd][\da-f]|%e[\da-f]%[89ab][\da-f])%[89ab][\da-f])|%([\da-f]{2})|\\u([\da-f]{4})|(&#?\w+;)|\\?([\s\S])/gi;

/** What stands for a character of HTML or XML that is escaped: letters and digits are not. */
const entity = "\0";

/** One character for each that is spelled. */
const decoded = (text: string): string =>
  text.replace(
    spelled,
    (_, bytes?: string, percent?: string, json?: string, escaped?: string, same?: string) => {
      // Bytes that are no UTF-8 are no character.
      if (bytes) return withoutThrowing(() => decodeURIComponent(bytes)) ?? entity;
      if (escaped) return entity;
      return same ?? String.fromCharCode(Number(`0x${percent ?? json}`));
    },
  );

/** The pattern of a text, decoded: a form has `+` for a space. */
const patternOf = (text: string): string =>
  text.replace(
    /[^a-z\d]/gi,
    (character) => `[${entity}\\${character}${character === " " ? "+" : ""}]`,
  );

/** A key in base64, alone or inside a longer text, where it can start at three positions. */
const inBase64 = (key: string): readonly string[] =>
  [0, 1, 2].map((before) =>
    btoa(" ".repeat(before) + key).slice(
      Math.ceil((before * 4) / 3),
      Math.floor(((before + key.length) * 4) / 3),
    ),
  );

/** The spellings of a key: as it is, in base64 and in base64url. */
const keyPattern = (key: string): string =>
  [
    patternOf(key),
    ...(key.length < shortestKey ? [] : inBase64(key)).map(
      // The last character may hold the end of the key and the beginning of the rest.
      (text) => `${text.replaceAll("+", "[+-]").replaceAll("/", "[/_]")}[\\w+/-]?=*`,
    ),
  ].join("|");

/** The key that was searched for last, and its pattern, which costs more than a call. */
let last: readonly [key: string, pattern: RegExp] | undefined;

/** Whether a text holds a key of 8 characters or more, in one of its spellings; of a PEM, most of its second line. */
export const holdsKey = (key: string, text: string): boolean => {
  if (key.length < shortestKey) return false;
  if (last?.[0] !== key) {
    const searched = key.length > longestKey ? key.slice(100, 148) : key;
    last = [key, new RegExp(keyPattern(searched), "i")];
  }
  const [, pattern] = last;
  return pattern.test(text) || (/[%&\\]/.test(text) && pattern.test(decoded(text)));
};

/** What stands between the digits of a written telephone number, decoded. */
const separator = `[\\s().,_/+:|*${entity}\\x80-\\xff\\u2010-\\u2015-]{0,3}`;

/** The spellings of a number, `+` and digits: with or without its country code, with separators or without; a text, without `+`, as it is. */
const numberPattern = (number: string): string => {
  // A text may begin as a number does: none of its characters may be a pattern.
  if (!/^\+\p{Nd}+$/u.test(number)) return patternOf(number);
  const digits = number.slice(1);
  const code = Math.max(0, Math.min(3, digits.length - 7));
  return `(?:\\+|00)?${[...digits.slice(0, code)].map((digit) => `(?:${digit}${separator})?`).join("")}${[...digits.slice(code)].join(separator)}`;
};

/** A header or a scheme of credentials, and what may be its value. */
const credentials = /(x-api-key|authorization|bearer|basic)["':=\s]{1,4}(?=\S*\d)\S{12}/i;

const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^a-z\d]/g, "");

/**
 * What no text may have of a secret, as it is or in base64, in letters and digits: pieces of up to 24, of a short one the
 * first three quarters. Services cut a key short when they name it.
 */
const piecesOf = (secret: string): readonly string[] => {
  const { length } = lettersAndDigits(secret);
  const size = Math.max(shortestKey, Math.min(pieceLength, (length * 3) >> 2));
  const pieces = new RegExp(`.{${size}}`, "g");
  return [secret, ...inBase64(secret)].flatMap(
    (text) => lettersAndDigits(text).match(pieces) ?? [],
  );
};

/**
 * The redaction of one call. Services and platforms repeat in their errors what was sent to them, so
 * every text of theirs passes through it before it enters an exception.
 *
 * @param keys - those that the call was tried with
 * @param numbers - E.164; and texts
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
  const parts = [...keys, ...pieces].flatMap(piecesOf);
  const hasSecret = (given: string): boolean =>
    [given, decoded(given)].some((text) => {
      const letters = lettersAndDigits(text);
      return (
        text.search(secrets) >= 0 ||
        credentials.test(text) ||
        parts.some((part) => letters.includes(part))
      );
    });
  let left = textLimit;
  return {
    hasSecret,
    redact: (given) => {
      if (!/string|number|boolean/.test(typeof given)) return;
      const text = String(given);
      left -= text.length;
      if (left < 0) return;
      const characters: string[] = text.match(spelled) ?? [];
      decoded(text).replace(secrets, (found, at: number) => {
        characters.fill("", at, at + found.length)[at] = "***";
        return "";
      });
      // A key may have in it what is the spelling of a character.
      const shown = characters.join("").replace(secrets, "***");
      return hasSecret(shown) ? undefined : shown;
    },
  };
};
