import fc from "fast-check";
import { TelnyxWebhook } from "telnyx/lib/webhooks";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { isPublicKey, verifySignature } from "../../src/carriers/telnyx/signature.ts";
import { publicKey, signatureOf } from "../unit/telnyx/sign.ts";

/** When the vectors were signed. */
const signedAt = 1_793_404_800;

/** Signed with the key of RFC 8032's first test, not by this code. */
const vectors: readonly (readonly [form: string, body: string, signature: string])[] = [
  [
    "JSON",
    '{"data":{"event_type":"call.hangup","id":"0ccc7b54-4df3-4bca-a65a-3da1ecc777f0"}}',
    "Vm4XAU5WSLSOZFohkLf/v+5j9eFrFhmfXBvAozApC/B9115QpAqrioTHKoWYpQaBLkWGoSOOyHzvbBJ5SmD0CQ==",
  ],
  [
    "a form",
    "AccountSid=acc_1&CallSid=v3%3Aabc&CallStatus=completed&From=%2B12025550199&To=%2B12025550100",
    "46wohDF+cRhXx2CdriwomR55HlvqYRwYQUvXRgBi/0dzBzh9bmnzntq/4p5PjFo3npOH3vWu6kEj59A5ngdTCA==",
  ],
];

interface Message {
  readonly body: string;
  readonly signature: string;
  readonly timestamp?: string;
  readonly keys?: readonly string[];
}

/** Why a message is refused; `undefined` for one that is accepted. */
const reasonOf = async ({
  body,
  signature,
  timestamp = String(signedAt),
  keys = [publicKey],
}: Message): Promise<string | undefined> => {
  const headers = { "telnyx-signature-ed25519": signature, "telnyx-timestamp": timestamp };
  const request = new Request("https://app.test/status", { method: "POST", headers });
  return (await verifySignature(keys, request, new TextEncoder().encode(body)))?.[0];
};

/** Whether the verifier of Telnyx's own client accepts a message. */
const isAcceptedByTelnyx = async ({ body, signature, timestamp = String(signedAt) }: Message) =>
  new TelnyxWebhook(publicKey)
    .verify(body, {
      "telnyx-signature-ed25519": signature,
      "telnyx-timestamp": timestamp,
    })
    .then(
      () => true,
      () => false,
    );

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: signedAt * 1000 }));
afterEach(() => void vi.useRealTimers());

describe("the vectors", () => {
  test.each(vectors)("%s: accepted, and by Telnyx's own verifier", async (_, body, signature) => {
    expect(await reasonOf({ body, signature })).toBeUndefined();
    expect(await isAcceptedByTelnyx({ body, signature })).toBe(true);
    expect(signatureOf(body, String(signedAt))).toBe(signature);
  });

  test.each(vectors)("%s: refused with any character changed", async (_, body, signature) => {
    for (let at = 0; at < signature.length - 2; at++) {
      const other = signature[at] === "A" ? "B" : "A";
      const changed = signature.slice(0, at) + other + signature.slice(at + 1);
      expect(await reasonOf({ body, signature: changed })).toBe("wrong_signature");
    }
  });
});

const [, body, signature] = vectors[1] ?? ["", "", ""];
const other = "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";

test.each<[string, Partial<Message>]>([
  ["another body", { body: `${body} ` }],
  ["no body", { body: "" }],
  ["another time", { timestamp: String(signedAt + 1) }],
  ["the same time in another spelling", { timestamp: `0${signedAt}` }],
  ["a time that is no number", { timestamp: "soon" }],
  ["a time with a fraction", { timestamp: `${signedAt}.0` }],
  ["another key", { keys: [other] }],
  ["no key", { keys: [] }],
  ["63 bytes", { signature: `${signature.slice(0, -4)}CA==`.slice(4) }],
  ["two signatures", { signature: `${signature}, ${signature}` }],
  ["no padding", { signature: signature.slice(0, -2) }],
  ["base64url", { signature: signature.replace("+", "-") }],
  ["hexadecimal", { signature: Buffer.from(signature, "base64").toString("hex") }],
])("%s is refused", async (_, change) => {
  expect(await reasonOf({ body, signature })).toBeUndefined();
  expect(await reasonOf({ body, signature, ...change })).toBe("wrong_signature");
});

test.each([
  [-300, undefined],
  [-301, "expired_signature"],
  [300, undefined],
  [301, "expired_signature"],
])("%d s off, as Telnyx's own verifier has it", async (seconds, reason) => {
  const timestamp = String(signedAt + seconds);
  const message = { body, timestamp, signature: signatureOf(body, timestamp) };
  expect(await reasonOf(message)).toBe(reason);
  expect(await isAcceptedByTelnyx(message)).toBe(reason === undefined);
});

test("every one of several keys is accepted, while one replaces another", async () => {
  expect(await reasonOf({ body, signature, keys: [other, publicKey] })).toBeUndefined();
  expect(await reasonOf({ body, signature, keys: [publicKey, other] })).toBeUndefined();
});

test.each([
  [{}],
  [{ "telnyx-timestamp": String(signedAt) }],
  [{ "telnyx-signature-ed25519": signature }],
  [{ "telnyx-signature-ed25519": "", "telnyx-timestamp": "" }],
])("without a header the answer asks Telnyx to deliver again", async (headers) => {
  const request = new Request("https://app.test/status", { method: "POST", headers });
  const refused = await verifySignature([publicKey], request, new TextEncoder().encode(body));
  expect(refused).toEqual(["no_signature", [503, "The signature of Telnyx is missing."]]);
});

test("what Node's Ed25519 signs is accepted, by Telnyx's verifier too, and no other body is", () =>
  fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme" }), fc.string(), async (text, more) => {
      const given = text.toWellFormed();
      const message = { body: given, signature: signatureOf(given, String(signedAt)) };
      expect(await reasonOf(message)).toBeUndefined();
      expect(await isAcceptedByTelnyx(message)).toBe(true);
      const changed = more.toWellFormed();
      expect(await reasonOf({ ...message, body: given + changed })).toBe(
        changed ? "wrong_signature" : undefined,
      );
    }),
    { numRuns: 50 },
  ));

test("a public key is 32 bytes in base64", () => {
  expect(isPublicKey(publicKey)).toBe(true);
  for (const not of [
    "",
    publicKey.slice(1),
    publicKey.slice(0, -1),
    `${publicKey} `,
    1,
    undefined,
  ]) {
    expect(isPublicKey(not)).toBe(false);
  }
});
