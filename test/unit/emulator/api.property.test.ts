import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEmulator } from "../../../src/emulator/index.ts";
import { processorTime } from "../processor.ts";

const apiKey = "ak_0123456789";
const own = "+12025550199";

const { fetch } = createEmulator({
  apiKey,
  numbers: [own],
  clock: "instant",
  responseTimeout: 100,
  fetch: () => new Response(null, { status: 204 }),
});

/** Mostly the first, so that a request often gets past a check. */
const mostly = <T>(right: T, ...wrong: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(right) }, ...wrong);

const route = fc.constantFrom("/api/v1/calls/initiate", "/api/v1/voice/calls/initiate");
const path = fc.oneof(
  { weight: 6, arbitrary: route },
  fc.webPath(),
  route.map((text) => `${text}/`),
  route.map((text) => text.toUpperCase()),
  route.map((text) => text.replace("calls", "c%61lls%2f")),
);
const query = mostly(
  "",
  fc.webQueryParameters().map((text) => `?${text}`),
);
const method = mostly(
  "POST",
  fc.constantFrom("GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "PROPFIND", "post", "x"),
);
const key = mostly<string | undefined>(
  apiKey,
  fc.constantFrom(undefined, "", "x", `${apiKey}x`, apiKey.slice(1)),
  fc.string({ unit: "grapheme-ascii" }),
);
const mediaType = mostly<string | undefined>(
  "application/json",
  fc.constantFrom(undefined, "text/plain", "application/json;charset=utf-8", "multipart/form-data"),
  fc.string({ unit: "grapheme-ascii" }),
);

const number = mostly(own, fc.constantFrom("+12025550198", "+1", "", "12025550199"), fc.string());
const to = fc
  .oneof(
    fc.integer({ min: 0, max: 199 }).map((each) => `+120255501${String(each).padStart(2, "0")}`),
    // Those that never answer, drop the line or fail after the call have cases of their own.
    fc.constantFrom("+12025550110", "+12025550111", "+12025550115", "junk"),
  )
  .filter((each) => !/1[234678]$/.test(each));
const url = mostly(
  "https://app.test/x",
  fc.webUrl(),
  fc.constantFrom("http://localhost/", "https://u:p@app.test/", "", "https://", "javascript:0"),
  fc.string(),
);
const junk = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof<fc.MaybeWeightedArbitrary<unknown>[]>({ weight: 9, arbitrary: right }, fc.jsonValue());
const fields = fc.record(
  {
    from_number: junk(number),
    to_number: junk(to),
    flow_url: junk(url),
    status_callback_url: url,
    record: junk(fc.boolean()),
  },
  { requiredKeys: ["from_number", "to_number", "flow_url", "status_callback_url"] },
);
const others = fc.dictionary(
  fc.oneof(fc.constantFrom("", "toString", "__proto__", "recrod"), fc.string()),
  fc.jsonValue(),
  { noNullPrototype: true },
);
const params = fc
  .tuple(fields, mostly<object>({}, others))
  .map((parts) => Object.fromEntries(parts.flatMap((part) => Object.entries(part))));
const body = fc.oneof(
  { weight: 4, arbitrary: params.map((value) => JSON.stringify(value)) },
  fc.json(),
  fc.string(),
  fc.uint8Array({ maxLength: 200 }),
  fc.integer({ min: 65_530, max: 65_540 }).map((size) => " ".repeat(size)),
  fc.constant(`${"[".repeat(30_000)}${"]".repeat(30_000)}`),
);

/** Every status that the contract names. */
const statuses = [202, 400, 403, 404, 405, 413, 415, 422, 429, 503];

const isRefusal = (status: number, seen: unknown): boolean => {
  const { detail, message } = Object(seen);
  if (typeof message !== "string" || message === "") return false;
  if (status !== 422) return typeof detail === "string" && detail !== "";
  return (
    Array.isArray(detail) &&
    detail.length > 0 &&
    detail.every(
      ({ loc, msg, type }) =>
        Array.isArray(loc) && typeof msg === "string" && typeof type === "string",
    )
  );
};

describe("any request", () => {
  it("gets a status and a body of the contract, at once", async () => {
    const seen = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.record({ path, query, method, key, mediaType, body }),
        async (request) => {
          const headers = new Headers();
          try {
            if (request.key !== undefined) headers.set("X-API-Key", request.key);
            if (request.mediaType !== undefined) headers.set("Content-Type", request.mediaType);
          } catch {
            return; // No platform sends it.
          }
          const bodiless = /^(get|head)$/i.test(request.method);
          const start = processorTime();
          const response = await fetch(`https://emulator.test${request.path}${request.query}`, {
            method: request.method,
            headers,
            body: bodiless ? null : request.body,
          });
          const { status } = response;
          const text = await response.text();
          expect(processorTime() - start).toBeLessThan(1_000);
          expect(statuses).toContain(status);
          if (status === 405) expect(response.headers.get("Allow")).toBe("POST");
          if (status === 429 || status === 503)
            expect(response.headers.get("Retry-After")).toBe("1");
          if (status >= 400 && request.method !== "HEAD") {
            expect(isRefusal(status, JSON.parse(text))).toBe(true);
          }
          seen.set(status, (seen.get(status) ?? 0) + 1);
        },
      ),
      { numRuns: 2_000 },
    );
    // The requests are worth something: they get to every check.
    expect([...seen.keys()].sort()).toEqual(statuses);
  });

  it("is refused when its body stalls", async () => {
    const response = await fetch("https://emulator.test/api/v1/calls/initiate", {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }),
      duplex: "half",
    } as RequestInit);
    expect(response.status).toBe(400);
  });
});
