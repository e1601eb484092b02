import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { isException } from "../../../src/errors.ts";
import { holdsKey } from "../../../src/http/redact.ts";
import { Client } from "../../../src/index.ts";

const e164 = /^\+[1-9]\d{6,14}$/;

/** The contract's rules for what is sent, stated once more and apart from the source. */
const allowed = (body: Record<string, unknown>): boolean => {
  const known = ["from_number", "to_number", "flow_url", "status_callback_url", "record"];
  const isUrl = (text: unknown) => {
    if (typeof text !== "string" || text.length > 2083) return false;
    const { protocol, username, password } = new URL(text);
    return protocol === "https:" && username === "" && password === "";
  };
  return (
    Object.keys(body).every((name) => known.includes(name)) &&
    e164.test(String(body.from_number)) &&
    e164.test(String(body.to_number)) &&
    isUrl(body.flow_url) &&
    isUrl(body.status_callback_url) &&
    ["boolean", "undefined"].includes(typeof body.record)
  );
};

/** A valid object with up to two of its fields replaced; now and then anything at all. */
const spoiled = (valid: object, spoilers: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc
        .tuple(fc.subarray(Object.keys(spoilers), { maxLength: 2 }), fc.record(spoilers))
        .map(([names, wrong]) => ({
          ...valid,
          ...Object.fromEntries(names.map((name) => [name, wrong[name]])),
        })),
    },
    { weight: 1, arbitrary: fc.anything() },
  );

const number = fc.oneof(
  fc.stringMatching(/^\+[1-9][0-9]{6,14}$/),
  fc.stringMatching(/^\+?[0-9 ]{0,17}$/),
  fc.anything(),
);
const url = fc.oneof(
  fc.webUrl({ validSchemes: ["https"] }),
  fc.webUrl({ validSchemes: ["http", "https"], withFragments: true, withQueryParameters: true }),
  fc.string().map((path) => `https://app.test/${path}`),
  fc.anything(),
);
const params = spoiled(
  {
    from_number: "+12025550177",
    to_number: "+12025550188",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
  },
  {
    from_number: number,
    to_number: number,
    flow_url: url,
    status_callback_url: url,
    record: fc.oneof(fc.boolean(), fc.anything()),
    other: fc.anything(),
  },
);
const header = fc.oneof(fc.string(), fc.stringMatching(/^[!-~]{1,20}$/));
const options = spoiled(
  { apiKey: "ak_1", baseUrl: "https://voice.test" },
  {
    apiKey: fc.oneof(
      fc.stringMatching(/^[!-~]{1,20}$/),
      fc.string({ unit: "binary" }),
      fc.func(fc.string()),
      fc.anything(),
    ),
    baseUrl: fc.oneof(fc.webUrl({ validSchemes: ["https"] }), fc.string(), fc.anything()),
    timeout: fc.oneof(
      fc.integer({ min: 1, max: 200 }),
      fc.double({ max: 200 }),
      fc.string(),
      fc.object(),
    ),
    retries: fc.oneof(fc.nat(2), fc.anything()),
    path: fc.oneof(fc.constantFrom("auto", "calls", "voice/calls"), fc.anything()),
    headers: fc.oneof(fc.dictionary(header, header), fc.anything()),
    signal: fc.oneof(fc.constant(new AbortController().signal), fc.anything()),
  },
);
const answer = fc.oneof(
  fc.constant(() => Response.json({ data: { id: "cs_1" } })),
  fc
    .tuple(
      fc.integer({ min: 200, max: 599 }),
      fc.string(),
      fc.dictionary(
        fc.constantFrom("retry-after", "x-request-id"),
        fc.stringMatching(/^[0-9a-z]{0,9}$/),
      ),
    )
    .map(
      ([status, body, headers]) =>
        () =>
          new Response([204, 205, 304].includes(status) ? null : body, { status, headers }),
    ),
  fc.json().map((json) => () => new Response(json)),
  fc.anything().map((thrown) => () => Promise.reject(thrown)),
);

test("no input makes create send what the contract refuses, or throw what is not documented", async () => {
  let sent = 0;
  let placed = 0;
  await fc.assert(
    fc.asyncProperty(params, options, answer, async (input, given, respond) => {
      const fetch = async (target: string, init: RequestInit): Promise<Response> => {
        sent++;
        const body = JSON.parse(await new Response(init.body ?? null).text());
        expect(allowed(body), JSON.stringify(body)).toBe(true);
        expect(new URL(target).protocol).toMatch(/^https?:$/);
        new Headers(init.headers);
        return respond() as Promise<Response>;
      };
      // Some answers ask to wait for seconds: the deadline keeps a run short.
      const complete = Object(given) === given ? { timeout: 200, ...Object(given), fetch } : given;
      try {
        const call = await create(input as never, complete as never);
        expect(call.id).toBeTypeOf("string");
        placed++;
      } catch (error) {
        if (!isException(error)) throw error;
        expect(["no", "maybe"]).toContain(error.placed);
      }
    }),
    { numRuns: 3_000 },
  );
  // Enough of the runs must have come through, or the property shows nothing.
  expect(sent).toBeGreaterThan(100);
  expect(placed).toBeGreaterThan(30);
});

test("valid parameters and options are always sent, once, just as they are", async () => {
  const valid = fc.record(
    {
      from_number: fc.stringMatching(/^\+[1-9][0-9]{6,14}$/),
      to_number: fc.stringMatching(/^\+[1-9][0-9]{6,14}$/),
      flow_url: fc.webUrl({ validSchemes: ["https"], withQueryParameters: true }),
      status_callback_url: fc.webUrl({ validSchemes: ["https"], withFragments: true }),
      record: fc.boolean(),
    },
    { requiredKeys: ["from_number", "to_number", "flow_url", "status_callback_url"] },
  );
  await fc.assert(
    fc.asyncProperty(valid, fc.stringMatching(/^[!-~]{1,60}$/), async (input, apiKey) => {
      // A URL of the same few characters may have the key in it: that is refused.
      fc.pre(!holdsKey(apiKey, JSON.stringify(input)));
      const bodies: unknown[] = [];
      const fetch = async (_: string, init: RequestInit) => {
        expect(new Headers(init.headers).get("x-api-key")).toBe(apiKey);
        bodies.push(JSON.parse(await new Response(init.body ?? null).text()));
        return Response.json({ id: "cs_1" });
      };
      await create(input, { apiKey, baseUrl: "https://voice.test", fetch });
      expect(bodies).toEqual([input]);
    }),
    { numRuns: 500 },
  );
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const good = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
const baseUrl = "https://voice.test";

/** A fetch that gives one answer after the other. */
const answering = (...answers: readonly (Response | Error)[]) => {
  const left = [...answers];
  return vi.fn(async (_url: string, _init?: RequestInit) => {
    const answer = left.shift();
    if (answer instanceof Response) return answer;
    throw answer ?? new Error("asked once more");
  });
};

test("a 429 without Retry-After is tried again after a second", async () => {
  vi.useFakeTimers();
  const fetch = answering(new Response("", { status: 429 }), Response.json({ id: "cs_1" }));
  const call = create(good, { apiKey: "ak_1", baseUrl, fetch, retries: 1 });
  await vi.advanceTimersByTimeAsync(999);
  expect(fetch).toHaveBeenCalledOnce();
  await vi.advanceTimersByTimeAsync(1);
  expect((await call).id).toBe("cs_1");
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("a 429 that asks to wait up to the deadline is reported at once", async () => {
  vi.useFakeTimers();
  const fetch = answering(new Response("", { status: 429, headers: { "retry-after": "1" } }));
  const call = create(good, { apiKey: "ak_1", baseUrl, fetch, retries: 1, timeout: 1_000 });
  const refused = expect(call).rejects.toMatchObject({ name: "ServiceException", code: 429 });
  await vi.advanceTimersByTimeAsync(0);
  await refused;
});

test.each([
  ["a network that fails", new Error("gone")],
  ["a second 404", new Response("", { status: 404 })],
])("a client remembers a path when it answered, not before: %s", async (_, second) => {
  const fetch = answering(new Response("", { status: 404 }), second, Response.json({ id: "cs_1" }));
  const client = new Client("ak_1", { baseUrl, fetch });
  await expect(client.calls.create(good)).rejects.toThrow();
  await client.calls.create(good);
  expect(fetch.mock.calls.map(([url]) => url)).toEqual([
    `${baseUrl}/api/v1/calls/initiate`,
    `${baseUrl}/api/v1/voice/calls/initiate`,
    `${baseUrl}/api/v1/calls/initiate`,
  ]);
});

test.each([
  [
    { flow_url: "http://127.0.0.1/flow" },
    {},
    "flow_url must be https, as baseUrl is remote (no call was placed)",
  ],
  [{}, { apiKey: () => "a\n" }, "apiKey must give a legal header value (no call was placed)"],
  [{}, {}, "HTTP 202 without the id of a call (a call may have been placed)"],
])("what goes wrong is reported in these words (%#)", async (params, options, words) => {
  const fetch = answering(Response.json({}, { status: 202 }));
  const call = create({ ...good, ...params }, { apiKey: "ak_1", baseUrl, fetch, ...options });
  await expect(call).rejects.toMatchObject({ message: words });
});

test("a page without https, which lacks crypto.randomUUID, gets keys of its own, too", async () => {
  const { crypto } = globalThis;
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const fetch = answering(Response.json({ id: "cs_1" }), Response.json({ id: "cs_2" }));
  const options = { apiKey: "ak_1", baseUrl, fetch, idempotent: true };
  for (const id of ["cs_1", "cs_2"]) expect(await create(good, options)).toMatchObject({ id });
  const keys = fetch.mock.calls.map(([, init]) =>
    new Headers(init?.headers).get("idempotency-key"),
  );
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key).toMatch(/^[\w-]{36}$/);
});
