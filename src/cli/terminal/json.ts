/** What JSON leaves as it is, and a terminal would obey: control characters, and those that turn the writing. */
const obeyed = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const escaped = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => {
    return `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");

/**
 * A value as one line of JSON, or `undefined` for what can't be written as such: nested too deep, or
 * with a `toJSON` that throws.
 */
export const jsonLine = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value).replace(obeyed, escaped);
  } catch {
    return;
  }
};
