/** Keeps the secrets of one call out of what others say. */
export interface Redaction {
  /**
   * A text without the key, and without anything that looks like a telephone number; `undefined` when
   * it still holds a secret, is too long to be an explanation, or is no text.
   */
  readonly words: (text: unknown) => string | undefined;
  /** Whether a text holds the key or one of the call's numbers, in any usual encoding. */
  readonly holds: (text: string) => boolean;
}

/** The longest text that is looked at. */
const longest = 4_096;

/** 7 digits or more, with what may stand between the digits of a number. */
const telephone = /\+?\(?\p{Nd}(?:[\s\p{Pd}\p{Cf}().+/_]{0,5}\p{Nd}){6,}/gu;

/** Letters and digits alone, in one case: what stands between them, or how wide they are, is no matter. */
const bare = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]/gu, "");

/** The escapes of URLs, mails, JSON, JavaScript and HTML; what secrets are made of has two hex digits. */
const escapes = /(?:[%=]|\\x|\\u00|\\u\{0*|&#x0*)([\da-f]{2})[;}]?|&#(\d+);|&[a-z]+;/gi;

const unescaped = (text: string): string =>
  text.replace(escapes, (_, hex, decimal) => String.fromCharCode(decimal ?? `0x${hex}`));

/** What hexadecimal and base64 in a text stand for, wherever in a longer text they were cut. */
const decoded = (text: string): readonly string[] => {
  const whole = text.replaceAll("-", "+").replaceAll("_", "/");
  return [
    ...(whole.match(/[\da-f]{14,}/gi) ?? []).flatMap((hex) =>
      [hex, hex.slice(1)].map((cut) => unescaped(cut.replace(/../g, "%$&"))),
    ),
    ...(whole.match(/[a-z\d+/]{8,}/gi) ?? []).flatMap((base64) =>
      [0, 1, 2, 3].map((cut) => {
        const isOdd = (base64.length - cut) % 4 === 1;
        return atob(base64.slice(cut, isOdd ? -1 : undefined));
      }),
    ),
  ];
};

/** The ways to read a text: unbroken, and without one or two layers of escapes or encodings. */
const readings = (broken: string, layers = 2): readonly string[] => {
  const text = broken.replace(/\s/g, "");
  const inner = layers ? [unescaped(text), ...decoded(text)] : [];
  return [text, ...inner.flatMap((each) => readings(each, layers - 1))];
};

/** The most of a number that is its country's affair, which numbers in national form leave out. */
const countryCode = 3;

/**
 * Makes the redaction of a call. Services and platforms repeat in their errors what they were sent,
 * so every text of theirs passes through it before it enters an exception.
 *
 * @param keys - those that the call was tried with; the list may grow
 * @param numbers - E.164
 */
export const redactor = (keys: readonly string[], numbers: readonly string[]): Redaction => {
  const national = numbers.map((number) =>
    number.slice(1 + Math.min(countryCode, number.length - 8)),
  );
  const holds = (text: string): boolean =>
    readings(text).some((reading) => {
      const letters = bare(reading);
      return (
        national.some((number) => letters.includes(number)) ||
        keys.some((key) => {
          const needle = bare(key);
          // A key that is mostly of other characters is looked for with them.
          return needle.length < 8
            ? reading.toLowerCase().includes(key.toLowerCase().replaceAll(" ", ""))
            : letters.includes(needle);
        })
      );
    });
  return {
    holds,
    words: (text) => {
      if (Object(text) === text || text == null || String(text).length > longest) return;
      const clean = keys
        .reduce((left, key) => left.replaceAll(key, "***"), String(text))
        .replace(telephone, "***");
      return holds(clean) ? undefined : clean;
    },
  };
};
