import { expect, test } from "vitest";
import { callbackHandler } from "../../../../src/callbacks/handler.ts";
import { receive } from "../../../../src/callbacks/receive.ts";
import { RefusedException } from "../../../../src/callbacks/refused.ts";
import { verifyUrl } from "../../../../src/callbacks/url/verify-url.ts";

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

test("a refusal says why", () => {
  expect(new RefusedException("wrong_token").message).toBe("The request was refused: wrong_token");
});
