import * as v from "valibot";

/** A whole number above 0. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(1));

/** What every caller has. */
const caller = {
  token: v.pipe(v.string(), v.regex(/^[!-~]{32,}$/)),
  /** What a number must start with. As long as possible: "+1" holds more than 20 countries. */
  prefixes: v.pipe(v.array(v.pipe(v.string(), v.regex(/^\+[1-9]\d{0,14}$/))), v.minLength(1)),
};

/**
 * The callers by name, as JSON.
 *
 * @param limits - the schemas of the limits that each caller has
 */
export const callersSchema = <Limits extends v.ObjectEntries>(limits: Limits) =>
  v.pipe(
    v.string(),
    v.parseJson(),
    v.record(v.string(), v.object({ ...caller, ...limits })),
    v.minEntries(1),
    v.transform((callers) =>
      Object.entries(callers).map(([name, fields]) => ({ ...fields, name })),
    ),
  );

const digest = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** Compares in constant time. */
const isSame = (one: Uint8Array, other: Uint8Array): boolean =>
  one.reduce((difference, byte, at) => difference | (byte ^ (other[at] ?? 0)), 0) === 0;

/**
 * Finds the caller whose token is in the `Authorization: Bearer` header. Every token is compared, and by
 * its digest, so the time that it takes depends on no token.
 */
export const authenticate = async <Caller extends { readonly token: string }>(
  request: Request,
  callers: readonly Caller[],
): Promise<Caller | undefined> => {
  const [, token = ""] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const received = await digest(token);
  let found: Caller | undefined;
  for (const caller of callers) if (isSame(await digest(caller.token), received)) found = caller;
  return found;
};
