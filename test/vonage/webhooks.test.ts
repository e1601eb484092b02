import { createHash } from "node:crypto";
import { verifySignature } from "@vonage/jwt";
import fc from "fast-check";
import jsonwebtoken from "jsonwebtoken";
import { expect, test } from "vitest";
import { RefusedException } from "../../src/callbacks/errors.ts";
import { receive } from "../../src/callbacks/handler.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import { applicationId, tokenFor } from "../unit/vonage/service.ts";

const signatureSecret = "the signature secret of an account";
const service = vonage({ applicationId, signatureSecret });
const url = "https://app.test/status";

/** A webhook whose token jsonwebtoken has made, as that of Vonage's servers and of its own client. */
const signedBy = (body: string, secret: string, more: object = {}, algorithm = "HS256") => {
  const payload_hash = createHash("sha256").update(body).digest("hex");
  const claims = { jti: "c0ffee", iss: "Vonage", payload_hash, api_key: "a1b2c3d4", ...more };
  const token = jsonwebtoken.sign(claims, secret, { algorithm });
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  return { token, request: new Request(url, { method: "POST", headers, body }) };
};

const reasonOf = (request: Request) =>
  receive(request, { service }).then(
    ({ event }) => event.type,
    (error: unknown) => (error instanceof RefusedException ? error.reason : error),
  );

test("a webhook that jsonwebtoken signed is accepted, whatever is in it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), fc.nat(4), async (detail, indent) => {
      const fields = { uuid: "u1", status: "ringing", detail };
      const body = JSON.stringify(fields, null, indent);
      fc.pre(body.length < 60_000 && fc.stringify(detail).split("[").length < 20);
      expect(await reasonOf(signedBy(body, signatureSecret).request)).toBe("call.ringing");
    }),
    { numRuns: 100 },
  );
});

const body = JSON.stringify({ uuid: "u1", status: "busy" });

test.each<[string, Request, string]>([
  ["another secret", signedBy(body, "another").request, "wrong_signature"],
  ["HS384", signedBy(body, signatureSecret, {}, "HS384").request, "wrong_signature"],
  ["alg none", signedBy(body, "", {}, "none").request, "wrong_signature"],
  [
    "a token of 2018, which Vonage's own verifier accepts",
    signedBy(body, signatureSecret, { iat: 1_516_239_022 }).request,
    "expired_signature",
  ],
  [
    "the hash of another body, which Vonage's own verifier accepts",
    signedBy(body, signatureSecret, { payload_hash: "0".repeat(64) }).request,
    "wrong_signature",
  ],
])("%s is refused", async (_, request, reason) => {
  expect(await reasonOf(request)).toBe(reason);
});

test("the tokens that the unit tests make are accepted by Vonage's own verifier", () => {
  expect(verifySignature(tokenFor(body), signatureSecret)).toBe(true);
  expect(verifySignature(tokenFor(body, { secret: "another" }), signatureSecret)).toBe(false);
});
