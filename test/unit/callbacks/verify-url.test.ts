import fc from "fast-check";
import { expect, test } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { canonical, signUrl, verifyUrl } from "../../../src/callbacks/signed-url.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { processorTime } from "../processor.ts";

const secret = "a secret that was made at random";
const secrets = fc.string({ unit: "grapheme", minLength: 16, maxLength: 80 });
const contexts = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 });
/** Without a field `__proto__`, which is dropped at every depth. */
const small = contexts.filter((context) => {
  const json = JSON.stringify(context);
  return json.length < 300 && !json.includes('"__proto__"');
});

test("whatever is signed comes back, over whatever host", () =>
  fc.assert(
    fc.asyncProperty(
      fc.webUrl({ validSchemes: ["https"], withQueryParameters: true }),
      small,
      secrets,
      async (url, context, secret) => {
        const signed = await signUrl(url, { secret, context });
        const moved = new URL(signed);
        moved.host = "tunnel.test:8443";
        const sent = JSON.parse(JSON.stringify(context));
        expect(await verifyUrl(moved.href, { secret })).toEqual(sent);
        expect(await verifyUrl(new Request(signed).url, { secret })).toEqual(sent);
      },
    ),
  ));

test("a field __proto__ of a context is dropped, at every depth", async () => {
  const context = JSON.parse(
    '{"a":{"__proto__":{"b":1},"c":[{"__proto__":2}]},"__proto__":{"d":3}}',
  );
  const url = await signUrl("https://app.test/status", { secret, context });
  expect(JSON.stringify(await verifyUrl(url, { secret }))).toBe('{"a":{"c":[{}]}}');
});

test("the query that was there is the query that arrives", () =>
  fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string({ minLength: 1 }), fc.string()), async (query) => {
      const url = new URL("https://app.test/status");
      for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
      const signed = new URL(await signUrl(url.href, { secret }));
      signed.searchParams.delete("outdial");
      expect([...signed.searchParams]).toEqual([...url.searchParams]);
    }),
  ));

test("whatever text is put anywhere is refused, and nothing but a refusal is thrown", () =>
  fc.assert(
    fc.asyncProperty(fc.string(), fc.nat(), fc.nat(9), async (text, where, cut) => {
      const signed = await signUrl("https://app.test/status?a=1", { secret });
      const start = "https://app.test/".length;
      const at = start + (where % (signed.length - start));
      const changed = signed.slice(0, at) + text + signed.slice(at + cut);
      if (canonical(new URL(changed)) === canonical(new URL(signed))) return;
      await expect(verifyUrl(changed, { secret })).rejects.toThrow(RefusedException);
    }),
    { numRuns: 500 },
  ));

test("any text at all is refused, and nothing but a refusal is thrown", () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(fc.string(), fc.webUrl()), async (url) => {
      await expect(verifyUrl(url, { secret })).rejects.toThrow(RefusedException);
    }),
  ));

test("a fragment, which is never sent, doesn't matter", async () => {
  const signed = await signUrl("https://app.test/status#top", { secret });
  expect(signed).toMatch(/#top$/);
  expect(await verifyUrl(signed, { secret })).toEqual({});
  expect(await verifyUrl(signed.replace("#top", ""), { secret })).toEqual({});
});

test.each(["?", "#", "\\", "?a="])(
  "a host ends before %j: a signed path after it isn't the path",
  async (end) => {
    const { pathname, search } = new URL(await signUrl("https://app.test/status", { secret }));
    const moved = `https://app.test${end}${pathname}${search}`;
    await expect(verifyUrl(moved, { secret })).rejects.toThrow(RefusedException);
  },
);

test.each(["x", "x:", "//x", " https://x"])(
  "a path that comes after %j isn't the path",
  async (start) => {
    const { pathname, search } = new URL(await signUrl("https://app.test/status", { secret }));
    expect(await verifyUrl(pathname + search, { secret })).toEqual({});
    const moved = start + pathname + search;
    await expect(verifyUrl(moved, { secret })).rejects.toThrow(RefusedException);
  },
);

test("a URL that takes long to search takes no long time", async () => {
  const started = processorTime();
  for (const piece of ["&outdial=1.a.", "/", "?outdial=", "&outdial=1.", "://"]) {
    const long = `https://app.test/${piece.repeat(2000)}`;
    await expect(verifyUrl(long, { secret })).rejects.toThrow(RefusedException);
  }
  expect(processorTime() - started).toBeLessThan(1000);
});

test.each(["", "too short", [], [secret, ""], undefined])("a secret like %j is refused", (wrong) =>
  expect(verifyUrl("https://app.test", { secret: wrong as never })).rejects.toThrow(
    BadParametersException,
  ),
);

const publicUrls = ["", "app.test", "/status", "https:/app.test", "https://[", " https://a"];

test.each([...publicUrls, 7, undefined, new URL("https://app.test")])(
  "a publicUrl like %j is refused",
  (wrong) =>
    expect(verifyUrl("https://a", { secret, publicUrl: wrong as never })).rejects.toMatchObject({
      issues: [{ param: "publicUrl", message: "must be an absolute URL" }],
    }),
);

test("options that are none are refused by their name", () =>
  expect(verifyUrl("https://app.test", 7 as never)).rejects.toMatchObject({
    issues: [{ param: "options" }],
  }));

test("of a publicUrl the path counts, in any spelling, and nothing else", async () => {
  const signed = await signUrl("https://app.test/voice/%C3%A9?a=1", { secret });
  const inside = signed.replace("https://app.test/voice/%C3%A9", "http://10.0.0.7/status");
  for (const publicUrl of ["https://app.test/voice/é", "wss://other.test/voice/%c3%a9?b=2#top"]) {
    expect(await verifyUrl(inside, { secret, publicUrl })).toEqual({});
  }
  const elsewhere = verifyUrl(inside, { secret, publicUrl: "https://app.test/voice" });
  await expect(elsewhere).rejects.toThrow(RefusedException);
});
