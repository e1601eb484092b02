import { createHmac } from "node:crypto";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { decoded, utf8 } from "../../../src/lib/encoding.ts";
import { hmacKeys, isMacOf, macOf } from "../../../src/lib/hmac.ts";

afterEach(() => void vi.restoreAllMocks());

const secret = fc.string({ unit: "grapheme", minLength: 1 });

test("a MAC is the one that another implementation makes", () =>
  fc.assert(
    fc.asyncProperty(secret, fc.uint8Array(), async (secret, data) => {
      const bytes = new Uint8Array(data);
      const mac = await macOf(secret, bytes);
      expect(mac).toEqual(new Uint8Array(createHmac("sha256", secret).update(data).digest()));
      expect(await isMacOf(["another", secret], mac, bytes)).toBe(true);
      expect(await isMacOf(["another"], mac, bytes)).toBe(secret === "another");
    }),
  ));

test("a key is imported once, and the latest 32 are kept", async () => {
  const imported = vi.spyOn(crypto.subtle, "importKey");
  const keys = hmacKeys(utf8);
  for (let round = 0; round < 3; round++) {
    for (let one = 0; one < 32; one++) await keys(`secret ${one}`);
  }
  expect(imported).toHaveBeenCalledTimes(32);
  await keys("one more");
  await keys("secret 31");
  expect(imported).toHaveBeenCalledTimes(33);
  await keys("secret 0");
  expect(imported).toHaveBeenCalledTimes(34);
});

test("a key that can't be imported is tried again", async () => {
  const keys = hmacKeys(utf8);
  vi.spyOn(crypto.subtle, "importKey").mockRejectedValueOnce(new Error("busy"));
  await expect(keys("a secret")).rejects.toThrow("busy");
  expect(await keys("a secret")).toMatchObject({ type: "secret", extractable: false });
});

test("secrets of another form are other keys", async () => {
  const text = "AAAAAAAAAAAAAAAAAAAAAAAA";
  const mac = await macOf(text, utf8("data"));
  expect(await isMacOf([text], mac, utf8("data"))).toBe(true);
  expect(await isMacOf([text], mac, utf8("data"), hmacKeys(decoded))).toBe(false);
});
