import fc from "fast-check";
import type { Entry } from "../conformance/entries.ts";
import type { Telling } from "./secrets.ts";

/** What a service, or what stands before it, does with one POST. */
export interface Step {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** After how many chunks of the body it stalls; it ends there when absent. */
  readonly stall?: boolean | undefined;
  readonly redirected?: boolean | undefined;
  /** In the place of an answer. */
  readonly instead?: "nothing" | "rejection" | "junk" | undefined;
  /** What the rejection is, or what comes in the place of a Response. */
  readonly thrown?: unknown;
}

/** Whether a POST that is answered so may have placed a call, by the contract. */
export const mayPlace = (
  { status, redirected, instead }: Step,
  refuses: Entry["refuses"],
): boolean => Boolean(instead || redirected) || !refuses(status);

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(200, 202, 202, 202, 403, 404, 405, 422, 429, 500, 503) },
  { weight: 2, arbitrary: fc.constantFrom(201, 299, 300, 301, 302, 303, 307, 308, 401, 408, 409) },
  { weight: 1, arbitrary: fc.integer({ min: 200, max: 599 }) },
);

/** JSON in the service's shapes, with a text that tells in any of its places. */
const shaped = (reported: string): fc.Arbitrary<string> => {
  const leaf = fc.oneof(
    { weight: 4, arbitrary: fc.constant(reported) },
    { weight: 3, arbitrary: fc.constantFrom("body", "to_number", "missing", "no", "") },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 1, arbitrary: fc.constant({ toString: 1, valueOf: null }) },
  );
  const entry = fc.record(
    { loc: fc.oneof(leaf, fc.array(leaf, { maxLength: 4 })), msg: leaf, type: leaf, input: leaf },
    { requiredKeys: [] },
  );
  const list = fc.array(fc.oneof({ weight: 4, arbitrary: entry }, leaf), { maxLength: 4 });
  const fields = {
    detail: fc.oneof(leaf, list),
    message: leaf,
    errors: list,
    code: leaf,
    type: leaf,
    id: fc.constantFrom("cs_1", "cs_1", "", 7, null),
    data: fc.oneof(leaf, fc.record({ id: fc.constantFrom("", "cs_1", null) })),
  };
  return fc
    .tuple(fc.record(fields, { requiredKeys: [] }), fc.dictionary(fc.constant(reported), leaf))
    .map((parts) => JSON.stringify(Object.assign({}, ...parts)));
};

const anyBody = (reported: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant('{"data":{"id":"cs_1"}}') },
    { weight: 6, arbitrary: shaped(reported) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(shaped(reported), fc.double({ min: 0, max: 1, noNaN: true }))
        .map(([text, part]) => text.slice(0, text.length * part)),
    },
    { weight: 1, arbitrary: fc.json() },
    {
      weight: 1,
      arbitrary: fc.constantFrom("", "null", "<h1>no</h1>", `<pre>${reported.slice(0, 200)}`),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom("[", '{"a":', '{"detail":[', '{"errors":[{"loc":['), fc.nat(20_000))
        .map(([open, times]) => open.repeat(times)),
    },
  );

const anyHeaders = (reported: string): fc.Arbitrary<Readonly<Record<string, string>>> =>
  fc.dictionary(
    fc.constantFrom("retry-after", "x-request-id", "request-id", "content-type", "x-other"),
    fc.oneof(
      fc.constant(reported.replace(/[^ -~]/g, "").trim()),
      fc.constantFrom(
        "0",
        "1",
        "soon",
        "9".repeat(400),
        "-1",
        "text/html",
        "f81d4fae-7dec-11d0-a765",
      ),
      fc.stringMatching(/^[!-~]{0,20}$/),
    ),
    { maxKeys: 3 },
  );

/** What a fetch may reject with: the platforms' errors, and a wrapper's that tell too much. */
const thrown = (reported: string): fc.Arbitrary<unknown> => {
  const shapes = (message: string, code: unknown) =>
    Object.assign(new TypeError(message), { code, request: { headers: { "X-API-Key": message } } });
  const error = fc
    .tuple(
      fc.constantFrom(
        reported,
        "fetch failed",
        "read ECONNRESET",
        `https://a.test/${reported}`,
        "bad portal",
      ),
      fc.constantFrom(undefined, "ECONNRESET", "EPIPE", "UND_ERR_SOCKET", reported, 7),
    )
    .map(([message, code]) => shapes(message, code));
  const hostile = fc.constantFrom<() => unknown>(
    () =>
      new Proxy(
        {},
        {
          get: () => {
            throw new Error(reported);
          },
        },
      ),
    () =>
      Object.defineProperty(new Error(reported), "cause", {
        get: () => {
          throw new Error(reported);
        },
      }),
    () => ({ message: Symbol("x"), code: Object.create(null) }),
    () => undefined,
    () => reported,
  );
  return fc.oneof(
    error,
    fc.tuple(error, error).map(([outer, cause]) => Object.assign(outer, { cause })),
    hostile.map((make) => make()),
  );
};

const junk = fc.constantFrom<unknown>(
  undefined,
  null,
  "text",
  {},
  { ok: true },
  { status: "202" },
  { status: 500, headers: null },
  { status: 202, body: { getReader: () => ({ read: async () => ({ value: "text" }) }) } },
);

/** One POST's fate, with a text that tells a secret in any of its parts. */
export const step = (telling: fc.Arbitrary<Telling>): fc.Arbitrary<Step & { tokens: string[] }> =>
  telling.chain(({ text, token }) =>
    fc
      .record({
        status: statuses,
        headers: anyHeaders(text),
        body: anyBody(text),
        stall: fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, fc.constant(true)),
        redirected: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
        instead: fc.oneof(
          { weight: 12, arbitrary: fc.constant(undefined) },
          { weight: 2, arbitrary: fc.constant("rejection" as const) },
          { weight: 1, arbitrary: fc.constantFrom("nothing" as const, "junk" as const) },
        ),
        rejection: thrown(text),
        junk,
      })
      .map(({ rejection, junk, ...rest }) => ({
        ...rest,
        thrown: rest.instead === "junk" ? junk : rejection,
        tokens: token === undefined ? [] : [token],
      })),
  );
