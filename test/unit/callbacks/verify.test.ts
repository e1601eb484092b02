import { expect, test } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { callbackHandler, receive } from "../../../src/callbacks/handler.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";

const onEvent = () => {};
const secretRule = "must be 16 characters or more, or a list of such";

test.each([
  [{}, "secret", "is missing, as are webhookSecret and verify"],
  [{ dangerouslyAllowUnverified: false }, "secret", "is missing, as are webhookSecret and verify"],
  [{ dangerouslyAllowUnverified: "no" }, "dangerouslyAllowUnverified", "must be true or false"],
  [{ secret: "MARKED" }, "secret", secretRule],
  [{ secret: "x".repeat(15) }, "secret", secretRule],
  [
    { webhookSecret: "MARKED" },
    "webhookSecret",
    "must be whsec_ and base64 of 16 bytes or more, or a list of such",
  ],
  [{ verify: "MARKED" }, "verify", "must be a function"],
])("options %j are refused: %s %s", async (options, param, message) => {
  const refused = { name: "BadParametersException", issues: [{ param, message }] };
  const make = () => callbackHandler({ ...options, onEvent } as never);
  expect(make).toThrow(expect.objectContaining(refused));
  const request = new Request("https://app.test", { method: "POST" });
  await expect(receive(request, options as never)).rejects.toMatchObject(refused);
});

test("a secret of 16 characters is one", () => {
  expect(() => callbackHandler({ secret: "x".repeat(16), onEvent })).not.toThrow();
});

test("a secret that is none is refused by its rule, for a single URL too", async () => {
  await expect(verifyUrl("https://app.test", { secret: "MARKED" })).rejects.toMatchObject({
    issues: [{ param: "secret", message: secretRule }],
  });
});

test("the message of a refusal is its reason and the sentence of the response", () => {
  expect(new RefusedException("too_large").message).toBe(
    "too_large: The body is larger than 64 KiB.",
  );
});
