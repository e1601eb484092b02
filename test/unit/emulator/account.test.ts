import { createHmac } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import {
  hmacSha256,
  isWebhookSecret,
  randomSecret,
  webhookSigner,
} from "../../../src/emulator/account.ts";

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

  it("is the HMAC-SHA256 that WebCrypto makes, for any key and text", async () => {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ minLength: 1, maxLength: 64 }),
        fc.string({ unit: "binary", maxLength: 900 }),
        async (key, text) => {
          const raw = new Uint8Array(key);
          const signing = await crypto.subtle.importKey("raw", raw, algorithm, false, ["sign"]);
          const expected = await crypto.subtle.sign(
            "HMAC",
            signing,
            new TextEncoder().encode(text),
          );
          expect(hmacSha256(key)(text)).toEqual(new Uint8Array(expected));
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([0, 55, 56, 63, 64, 65, 2_000, 1, 100_000])("is right for %i characters", (length) => {
    const text = "x".repeat(length);
    const expected = createHmac("sha256", new Uint8Array(32).fill(7)).update(text).digest();
    expect(Buffer.from(sign(text)).equals(expected)).toBe(true);
  });

  it("takes secrets of the scheme only", () => {
    expect(isWebhookSecret(randomSecret())).toBe(true);
    expect(isWebhookSecret(`whsec_${btoa("x".repeat(24))}`)).toBe(true);
    for (const wrong of ["", "whsec_", `whsec_${btoa("x".repeat(23))}`, btoa("x".repeat(24)), 1]) {
      expect(isWebhookSecret(wrong)).toBe(false);
    }
  });
});
