import fc from "fast-check";
import { expect, test } from "vitest";
import { canonical, signUrl, verifyUrl } from "../../../src/callbacks/signed-url.ts";
import { go, lenient, lowerCase, requests, whatwg, zealous } from "./normalisers.ts";

const secret = "a secret that was made at random";
const context = { order: 17 };

/** Pieces of URLs, with all that somebody may spell in another way. */
const piece = fc.oneof(
  fc.constantFrom(..."abzAZ09-._~!$&'()*+,;=:@/?[]{}|^`\"<> \\%#é€😀\t\n"),
  fc.constantFrom("..", "%2e", "%2E%2e", "//", "%2F", "%2f", "%5c", "%25", "%2525", "%ff", "%00"),
  fc.constantFrom("%c3%a9", "%C3%A9", "%7e", "%7E", "%27", "%21", "%28%29%2a", "%zz", "%4", "%%41"),
  fc.constantFrom("outdial=1.e30.x", "&outdial=", "?", "=", "+", "%20", "%2B", "%26", "%3D", "%3B"),
  fc.string({ unit: "grapheme", maxLength: 3 }),
);
const text = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(""));
const url = fc
  .tuple(text, fc.option(text))
  .map(([path, query]) => `https://app.test/${path}${query === null ? "" : `?${query}`}`);

test("each byte has one spelling of three characters, or is itself", () => {
  const spellings = Array.from({ length: 256 }, (_, byte) =>
    canonical(new URL(`https://app.test?%${byte.toString(16).padStart(2, "0")}`)).slice(2),
  );
  expect(new Set(spellings)).toHaveLength(256);
  expect(spellings.filter((one) => !/^([\w.~!()*-]|%[\dA-F]{2})$/.test(one))).toEqual([]);
});

/** A URL that has been signed, or nothing where signUrl refuses it by its rule. */
const signedOf = (url: string): Promise<string | undefined> =>
  signUrl(url, { secret, context }).catch(() => undefined);

const normalisers = { whatwg, requests, go, lowerCase, zealous, lenient };

test.each(Object.entries(normalisers))("what is signed is verified after %s", (_, normalise) =>
  fc.assert(
    fc.asyncProperty(url, async (url) => {
      const signed = await signedOf(url);
      if (!signed) return;
      const sent = normalise(signed);
      expect(await verifyUrl(sent, { secret })).toEqual(context);
      expect(await verifyUrl(sent.replace("https://app.test", ""), { secret })).toEqual(context);
    }),
    { numRuns: 300 },
  ),
);

test("what is signed is verified after any of them, one after the other", () =>
  fc.assert(
    fc.asyncProperty(
      url,
      fc.array(fc.constantFrom(...Object.values(normalisers)), { maxLength: 5 }),
      async (url, chain) => {
        const signed = await signedOf(url);
        if (!signed) return;
        const sent = chain.reduce((sent, normalise) => normalise(sent), signed);
        expect(await verifyUrl(sent, { secret })).toEqual(context);
      },
    ),
    { numRuns: 500 },
  ));

test.each(Object.entries({ whatwg, requests, go }))(
  "%s leaves a signed URL as it is",
  (_, normalise) =>
    fc.assert(
      fc.asyncProperty(url, async (url) => {
        const signed = (await signedOf(url))?.replace(/#.*/, "");
        if (signed) expect(normalise(signed)).toBe(signed);
      }),
      { numRuns: 300 },
    ),
);

test("the one spelling is its own, and names the same path and query", () =>
  fc.assert(
    fc.property(url, (url) => {
      const parsed = new URL(url);
      const once = canonical(parsed);
      const again = new URL(`https://app.test${once}`);
      expect(canonical(again)).toBe(once);
      expect(once).toMatch(/^\/([\w.~!()*$&+,;=:@/?-]|%[\dA-F]{2})*$/);
      const bytes = (part: string) =>
        part.replace(/%([\da-f]{2})/gi, (_, code) => `<${code.toLowerCase()}>`);
      const spelled = (part: string) =>
        bytes(
          part.replace(/%[\da-f]{2}|[\s\S]/gi, (one) =>
            one.length > 1 ? one : `%${one.charCodeAt(0).toString(16).padStart(2, "0")}`,
          ),
        );
      // Reported apart are `/` and `%2F` and the like: only what the RFCs call plain is the same.
      expect(spelled(once)).toBe(spelled(parsed.pathname + parsed.search));
    }),
  ));
