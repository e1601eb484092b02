import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { verifyWebhook, webhookSecretsOf } from "../../../src/callbacks/standard-webhooks.ts";

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const url = "https://app.test/status";

interface Message {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
}

const ours = async ({ id, timestamp, signature, body }: Message): Promise<boolean> => {
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  };
  const request = new Request(url, { method: "POST", headers });
  try {
    await verifyWebhook(request, new TextEncoder().encode(body), webhookSecretsOf(secret));
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedException);
    return false;
  }
};

const reference = ({ id, timestamp, signature, body }: Message): boolean => {
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signature,
  };
  try {
    new Webhook(secret).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
};

const id = fc.stringMatching(/^[\w-]{1,40}$/);
const body = fc.string({ unit: "grapheme", minLength: 1, maxLength: 300 });
const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=,. v";

const signedBy = (id: string, seconds: number, body: string): Message => ({
  id,
  timestamp: String(seconds),
  body,
  signature: new Webhook(secret).sign(id, new Date(seconds * 1000), body),
});

describe("verifyWebhook and the reference package, standardwebhooks", () => {
  // A clock that stands still: both judge a message at the same moment.
  beforeEach(() => vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => vi.useRealTimers());

  test("what the package signs is verified, whatever the message", () =>
    fc.assert(
      fc.asyncProperty(id, body, fc.integer({ min: -299, max: 299 }), async (id, body, offset) => {
        const message = signedBy(id, Math.floor(Date.now() / 1000) + offset, body);
        expect(reference(message)).toBe(true);
        expect(await ours(message)).toBe(true);
      }),
    ));

  test("both give the same verdict on a message that was changed, or is none", () =>
    fc.assert(
      fc.asyncProperty(
        id,
        body,
        fc.constantFrom("id", "timestamp", "signature", "body"),
        fc.nat(),
        fc.constantFrom(...base64),
        async (id, body, part, where, by) => {
          const message = signedBy(id, Math.floor(Date.now() / 1000), body);
          const text = message[part as keyof Message];
          const at = where % text.length;
          const changed = { ...message, [part]: text.slice(0, at) + by + text.slice(at + 1) };
          // The package reads "1.5" and "1 " as 1, as parseInt does; such a time is no time here.
          if (!/^\d+$/.test(changed.timestamp) || /\./.test(changed.id)) {
            expect(await ours(changed)).toBe(false);
          } else expect(await ours(changed)).toBe(reference(changed));
        },
      ),
      { numRuns: 500 },
    ));

  test.each([-301, -300, 0, 300, 301])(
    "both give the same verdict %i s from now",
    async (offset) => {
      vi.useFakeTimers({ now: 1_780_000_000_000, toFake: ["Date"] });
      const message = signedBy("msg_1", 1_780_000_000 + offset, "{}");
      expect(await ours(message)).toBe(Math.abs(offset) <= 300);
      expect(reference(message)).toBe(Math.abs(offset) <= 300);
    },
  );

  test("a second signature, of a secret on its way in or out, changes nothing for either", async () => {
    const { signature, ...message } = signedBy("msg_1", Math.floor(Date.now() / 1000), "{}");
    const foreign = new Webhook(btoa("another secret, of somebody else")).sign(
      "msg_1",
      new Date(),
      "{}",
    );
    for (const list of [`${signature} ${foreign}`, `${foreign} ${signature}`, foreign]) {
      const both = { ...message, signature: list };
      expect(await ours(both)).toBe(reference(both));
      expect(await ours(both)).toBe(list !== foreign);
    }
  });
});

test("a signature with anything before or after it is none", async () => {
  const message = signedBy("msg_1", Math.floor(Date.now() / 1000), "{}");
  const { signature } = message;
  expect(await ours(message)).toBe(true);
  for (const near of [`x${signature}`, `${signature}x`, `${signature}=`, `v1,${signature}`]) {
    expect(await ours({ ...message, signature: near })).toBe(false);
  }
});

test("at most eight signatures are looked at: each costs a MAC over the body", async () => {
  const { signature, ...message } = signedBy("msg_1", Math.floor(Date.now() / 1000), "{}");
  const wrong = `v1,${"A".repeat(43)}=`;
  const after = (count: number) => ({
    ...message,
    signature: [...Array(count).fill(wrong), signature].join(" "),
  });
  expect(await ours(after(7))).toBe(true);
  expect(await ours(after(8))).toBe(false);
});

test.each([
  ["with its prefix", secret, 1],
  ["without it", secret.slice(6), 1],
  ["in a list", [secret, secret.slice(6)], 2],
  ["padded once", `whsec_${btoa("x".repeat(17))}`, 1],
  ["padded twice", `whsec_${btoa("x".repeat(16))}`, 1],
  ["with digits at its end", `whsec_${"A".repeat(20)}A1==`, 1],
  ["with digits at its end", `whsec_${"A".repeat(20)}A12=`, 1],
  ["with digits at its end", `whsec_${"A".repeat(20)}A123`, 1],
  ["with other signs at its end", `whsec_${"A".repeat(20)}A!==`, 0],
  ["with other signs at its end", `whsec_${"A".repeat(20)}A!!=`, 0],
  ["with other signs at its end", `whsec_${"A".repeat(20)}A!!!`, 0],
  ["of 15 bytes", `whsec_${btoa("x".repeat(15))}`, 0],
  ["in base64url", `whsec_${"_-".repeat(16)}`, 0],
  ["with a length that base64 has not", `whsec_${"A".repeat(33)}`, 0],
  ["with another prefix", `whpk_${"A".repeat(32)}`, 0],
  ["next to one that isn't", [secret, ""], 0],
  ["of no text", 7, 0],
  ["that isn't set", undefined, 0],
])("a secret %s is read, or makes the list empty", (_, given, count) => {
  expect(webhookSecretsOf(given)).toHaveLength(count);
});
