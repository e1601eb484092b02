import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import {
  hmacSha256,
  isWebhookSecret,
  randomSecret,
  webhookSigner,
} from "../../../src/server/account.ts";

/** One for all lengths: a signature leaves nothing behind. */
const sign = hmacSha256(new Uint8Array(32).fill(7));

describe("the signature", () => {
  it("is what the reference library verifies", () => {
    const secret = randomSecret();
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = JSON.stringify({ type: "call.ringing", text: "é\u{1f600}" });
    const signature = webhookSigner(secret)(`evt_1.${timestamp}.${body}`);
    const headers = { "webhook-id": "evt_1", "webhook-timestamp": timestamp };
    const webhook = new Webhook(secret);
    webhook.verify(body, { ...headers, "webhook-signature": signature });
    expect(() =>
      webhook.verify(`${body} `, { ...headers, "webhook-signature": signature }),
    ).toThrow();
  });

  it("is the HMAC-SHA256 that Node makes, for any key and text", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        // UTF-16 units, single surrogates among them: fast-check's own strings take a hundred times as long to make.
        fc.uint16Array({ maxLength: 900 }),
        (key, units) => {
          const text = String.fromCharCode(...units);
          const expected = createHmac("sha256", key).update(text).digest();
          expect(expected.equals(hmacSha256(key)(text))).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  // A "€" has three bytes: 700 of them are more than the buffer that there is at first.
  it.each(
    ["x", "€"].flatMap((character) =>
      [0, 55, 56, 63, 64, 65, 700, 2_000, 1, 100_000].map((length) => [length, character] as const),
    ),
  )("is right for %i characters %s, each after the one before", (length, character) => {
    const text = character.repeat(length);
    const expected = createHmac("sha256", new Uint8Array(32).fill(7)).update(text).digest();
    expect(Buffer.from(sign(text)).equals(expected)).toBe(true);
    expect(Buffer.from(hmacSha256(new Uint8Array(32).fill(7))(text)).equals(expected)).toBe(true);
  });

  it("takes secrets of the scheme only", () => {
    expect(isWebhookSecret(randomSecret())).toBe(true);
    expect(isWebhookSecret(`whsec_${btoa("x".repeat(24))}`)).toBe(true);
    for (const wrong of ["", "whsec_", `whsec_${btoa("x".repeat(23))}`, btoa("x".repeat(24)), 1]) {
      expect(isWebhookSecret(wrong)).toBe(false);
    }
  });
});
