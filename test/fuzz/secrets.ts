import fc from "fast-check";

const codes = (text: string, write: (hex: string) => string): string =>
  [...text].map((one) => write(one.charCodeAt(0).toString(16).padStart(2, "0"))).join("");

type Encode = (text: string) => string;

/** What changes no more than how a text looks. */
const looks: Readonly<Record<string, Encode>> = {
  plain: String,
  upper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
};

/** What services, proxies and logs do to a text before they repeat it. */
const encodings: Readonly<Record<string, Encode>> = {
  plain: String,
  spaced: (text) => [...text].join(" "),
  percent: encodeURIComponent,
  "all percent": (text) => codes(text, (hex) => `%${hex}`),
  json: (text) => codes(text, (hex) => `\\u00${hex}`),
  html: (text) => [...text].map((one) => `&#${one.charCodeAt(0)};`).join(""),
  hex: (text) => codes(text, String),
  base64: btoa,
  "base64 of more": (text) => btoa(`user:${text}:`),
};

const encoding = fc.constantFrom(...Object.values(encodings));

/** Up to two encodings, one after the other. */
const encoder = fc.tuple(fc.constantFrom(...Object.values(looks)), encoding, encoding).map(
  ([look, inner, outer]) =>
    (text: string) =>
      outer(inner(look(text))),
);

/** A telephone number as people and services write it: with its country, or without. */
const written = fc.constantFrom<(number: string) => string>(
  String,
  (number) => number.slice(1),
  (number) => number.slice(2),
  (number) => `(${number.slice(2, 5)}) ${number.slice(5, 8)}-${number.slice(8)}`,
  (number) => number.replace(/(...)(?=.)/g, "$1."),
);

/** A key of any legal characters, long enough that no word holds it by chance. */
export const key: fc.Arbitrary<string> = fc.stringMatching(/^[!-~]{12,40}$/);

/** The secrets of one call. */
export interface Secrets {
  readonly key: string;
  readonly numbers: readonly string[];
}

/** A text that repeats one of the secrets, and how it was written: what nothing may show. */
export interface Telling {
  readonly text: string;
  readonly token: string;
  /** The same for where the numbers of others may stay: in the id of a request. */
  readonly own: string;
}

/** The number of somebody else, which must not be shown either. */
const foreign = "+493012345678";

/** Texts with the secrets of a call in them, in any encoding; or with another's number, as people write it. */
export const telling = ({ key, numbers }: Secrets): fc.Arbitrary<Telling> =>
  fc
    .tuple(
      fc.oneof(
        fc.tuple(fc.constant(key), encoder).map(([secret, encode]) => ({ token: encode(secret) })),
        fc
          .tuple(fc.constantFrom(...numbers), written, encoder)
          .map(([number, write, encode]) => ({ token: encode(write(number)) })),
        written.map((write) => ({ token: write(foreign), isForeign: true })),
      ),
      fc.constantFrom("", "The key ", "sent: [", '{"to":"'),
      fc.constantFrom("", " is not valid.", "]", '"}'),
    )
    .map(([{ token, isForeign = false }, before, after]) => {
      const text = `${before}${token}${after}`;
      return { text, token, own: isForeign ? "" : text };
    });
