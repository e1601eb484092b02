import type { Address } from "../agent.ts";

/** So many letters and digits of a secret, one after the other, are a piece of it. */
const piece = 8;

const bare = (text: unknown): string =>
  String(text)
    .toLowerCase()
    .replace(/[^a-z\d]/g, "");

/** What shows an agent who asks: the values of headers, and subprotocols. A shorter one is a name. */
export const secretsOf = ({ headers, protocols, ticket }: Address): readonly string[] =>
  [headers, protocols, ticket?.headers]
    .flatMap((each) => Object.values(each ?? {}))
    .map(bare)
    .filter(({ length }) => length > piece);

/** Whether a word holds one of some secrets, or a piece of one, whatever stands between its letters. */
export const isTelling = (word: unknown, secrets: readonly string[]): boolean => {
  const letters = bare(word);
  for (let at = 0; at + piece <= letters.length; at++) {
    if (secrets.some((secret) => secret.includes(letters.slice(at, at + piece)))) return true;
  }
  return false;
};
