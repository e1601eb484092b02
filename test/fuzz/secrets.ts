import fc from "fast-check";
import type { Carrier } from "../conformance/services/carrier.ts";

/** How services, proxies and logs write a key that they repeat; redaction knows each of them. */
const keySpellings: readonly ((key: string) => string)[] = [
  String,
  encodeURIComponent,
  (key) => JSON.stringify(key).slice(1, -1),
  btoa,
  (key) => btoa(`user:${key}:`),
  (key) => btoa(key).replaceAll("+", "-").replaceAll("/", "_"),
];

/** A telephone number as people and services write it: with its country, or without. */
const written = fc.constantFrom<(number: string) => string>(
  String,
  (number) => number.slice(1),
  (number) => number.slice(2),
  (number) => `(${number.slice(2, 5)}) ${number.slice(5, 8)}-${number.slice(8)}`,
  (number) => number.replace(/(...)(?=.)/g, "$1."),
);

/** A key of any legal characters, long enough that no word holds it by chance; a carrier may take others. */
export const keyOf = (carrier?: Carrier): fc.Arbitrary<string> =>
  fc.stringMatching(carrier?.hasOwnKeys ? /^ak_[a-z]{12}$/ : /^[!-~]{12,40}$/);

/** The secrets of one call. */
export interface Secrets {
  readonly key: string;
  readonly numbers: readonly string[];
}

/** A text that repeats one of the secrets, and how the secret is written in it: what nothing may show. */
export interface Telling {
  readonly text: string;
  readonly token: string | undefined;
}

/** Texts with the secrets of a call in them, in the spellings that services use. */
export const telling = ({ key, numbers }: Secrets, carrier?: Carrier): fc.Arbitrary<Telling> =>
  fc
    .tuple(
      fc.oneof(
        ...(carrier ? [fc.constant("{token}")] : []),
        carrier?.hasOwnKeys
          ? fc.constantFrom(
              ...carrier
                .keyFor(key)
                .split("\n")
                .filter(({ length }) => length > 40),
            )
          : fc.constantFrom(...keySpellings).map((write) => write(key)),
        fc.tuple(fc.constantFrom(...numbers), written).map(([number, write]) => write(number)),
      ),
      fc.constantFrom("", "The key ", "sent: [", '{"to":"'),
      fc.constantFrom("", " is not valid.", "]", '"}'),
    )
    .map(([token, before, after]) => ({ text: `${before}${token}${after}`, token }))
    // The credentials of the request take its place: the carrier knows them when it sees them.
    .map(({ text, token }) => ({ text, token: token === "{token}" ? undefined : token }));
