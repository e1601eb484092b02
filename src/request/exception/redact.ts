/** Keeps the secrets of one call out of what others say. */
export interface Redaction {
  /**
   * A text without the key, and without anything that looks like a telephone number; `undefined` when
   * it still holds a secret, is no text, or is more than an explanation takes, with those before it.
   */
  readonly words: (text: unknown) => string | undefined;
  /** Whether a text holds the key, most of it, or one of the call's numbers, in any usual encoding. */
  readonly holds: (text: string) => boolean;
}

/** The most characters of a call's texts that are looked at, as each is read in many ways. */
const most = 4_096;

/** 7 digits or more, with what may stand between the digits of a number: not a port after an address. */
export const telephone: RegExp = /\+?\(?\p{Nd}(?:[^\p{L}\p{Nd}:]{0,5}\p{Nd}){6,}/gu;

/** Letters and digits alone, in one case: what stands between them, or how wide they are, is no matter. */
const bare = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]/gu, "");

/** The escapes of URLs, mails, JSON, JavaScript, CSS and HTML; what secrets are made of has two hex digits. */
const escapes =
  /(?:%u00|%|=|\\x|\\u00|\\u\{0*|\\0*|&#x0*)([\da-f]{2})[;}]?|&#(\d+);?|&[a-z]+;|\\[nrt]|\p{Cc}\[\d*m/giu;

const unescaped = (text: string): string =>
  text.replace(escapes, (_, hex, decimal) =>
    hex || decimal ? String.fromCharCode(decimal ?? `0x${hex}`) : "",
  );

/** What numbers, hexadecimal and base64 in a text stand for, wherever in a longer text they were cut. */
const decoded = (text: string): readonly string[] => {
  const base64 = text.replaceAll("-", "+").replaceAll("_", "/");
  const hex = text.replace(/0x|[^\da-z]/gi, "");
  return [
    text.replace(/\d+/g, (code) => String.fromCharCode(Number(code))),
    ...(hex.match(/[\da-f]{14,}/gi) ?? []).flatMap((one) =>
      [one, one.slice(1)].map((cut) => unescaped(cut.replace(/../g, "%$&"))),
    ),
    ...(base64.match(/[a-z\d+/]{8,}/gi) ?? []).flatMap((one) =>
      [0, 1, 2, 3].map((cut) => {
        const isOdd = (one.length - cut) % 4 === 1;
        return atob(one.slice(cut, isOdd ? -1 : undefined));
      }),
    ),
  ];
};

/** The ways to read a text: unbroken, and without some layers of escapes or encodings. */
const readings = (broken: string, layers = 3): readonly string[] => {
  const text = broken.replace(/\s/g, "");
  const inner = layers ? [unescaped(text), ...decoded(text)].filter((each) => each !== text) : [];
  return [text, ...inner.flatMap((each) => readings(each, layers - 1))];
};

/** The most of a number that is its country's affair, which numbers in national form leave out. */
const countryCode = 3;

/** What a key is known by: most of it, as services cut it short; and whether with its other characters. */
const needleOf = (key: string): { readonly needle: string; readonly isBare: boolean } => {
  const letters = bare(key);
  const isBare = letters.length >= 8;
  const needle = isBare ? letters : key.toLowerCase().replaceAll(" ", "");
  return { needle: needle.slice(0, Math.max(8, (needle.length * 3) >> 2)), isBare };
};

/**
 * Makes the redaction of a call. Services and platforms repeat in their errors what they were sent,
 * so every text of theirs passes through it before it enters an exception.
 *
 * @param keys - those that the call was tried with
 * @param numbers - E.164
 */
export const redactor = (keys: readonly string[], numbers: readonly string[]): Redaction => {
  const digits = numbers.map((number) => number.slice(1));
  const national = digits.map((each) => each.slice(Math.min(countryCode, each.length - 7)));
  const needles = keys.map(needleOf);
  let left = most;
  const holds = (text: string): boolean =>
    readings(text).some((reading) => {
      const letters = bare(reading);
      return (
        national.some((number) => letters.includes(number)) ||
        needles.some(({ needle, isBare }) =>
          (isBare ? letters : reading.toLowerCase()).includes(needle),
        )
      );
    });
  return {
    holds,
    words: (given) => {
      const text = Object(given) === given || given == null ? "" : String(given);
      left -= text.length;
      if (left < 0 || (!text && given !== "")) return;
      const own = [...keys, ...numbers, ...digits].reduce(
        (rest, one) => rest.replaceAll(one, "***"),
        text,
      );
      const clean = own.replace(telephone, "***");
      const plain = unescaped(own);
      // A number that is taken out may be what breaks an encoding, or what joins its pieces; and in
      // another's number, what stands between the digits may itself be escaped.
      const isTelling =
        holds(own) || holds(clean) || (plain !== own && plain !== plain.replace(telephone, ""));
      return isTelling ? undefined : clean;
    },
  };
};
