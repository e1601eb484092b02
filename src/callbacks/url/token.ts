/** A secret, or several while one replaces another: the first signs, and every one is accepted. */
export type Secret = string | readonly string[];

/** What a signed URL carries for you: a small JSON object. Whoever sees the URL can read it. */
export type Context = Readonly<Record<string, unknown>>;

/**
 * The secrets, or none when one of them is too short: whoever holds a signed URL can try secrets on it
 * for as long as they like. It also catches the `undefined` of a variable that isn't set.
 */
export const secretsOf = (secret: unknown): readonly string[] => {
  const all: unknown[] = [secret].flat();
  return all.every((one): one is string => typeof one === "string" && one.length > 15) ? all : [];
};

export const secretRule = "must be 16 characters or more, or a list of such";
