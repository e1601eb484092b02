import { inspect } from "node:util";
import { custom } from "valibot";
import { expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { BadParametersException, isException } from "../../../src/errors.ts";
import type { Options } from "../../../src/index.ts";
import type { CallService, CarrierClient, Settings } from "../../../src/options.ts";
import { pem, unusableKeys } from "../vonage/keys.ts";

const params = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
const accountSid = "AC0123456789abcdef0123456789abcdef";
const apiKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";

/** What `create` rejects with, after one answer after the other. */
const refusal = async (options: Partial<Options>, ...answers: readonly (() => Response)[]) => {
  const left = [...answers];
  const fetch = vi.fn(async () => left.shift()?.() ?? new Response(null, { status: 500 }));
  const error = await create(params, { fetch, ...options } as Options).catch((error) => error);
  if (!isException(error)) throw error;
  return { error, posts: fetch.mock.calls.length };
};

/** A service of the caller's own: Twilio with another `encodeCall`. */
const withEncodeCall = (encodeCall: () => unknown): CallService => {
  const service = twilio({ accountSid });
  return { ...service, client: { ...service.client, encodeCall } as CarrierClient };
};

test("a service of the caller's own, whose requests have no key, is never asked again", async () => {
  const { client, ...rest } = withEncodeCall(() => ({
    url: "https://own.test/",
    headers: {},
    body: "",
  }));
  const settings = custom<Settings>(() => true);
  const service = { ...rest, client: { ...client, settings } };
  for (const asked of [{ idempotent: true }, { idempotencyKey: "message-1" }]) {
    const given = { service, apiKey, baseUrl: "https://own.test", headers: {}, timeout: 5_000 };
    const { error, posts } = await refusal({ ...given, ...asked } as unknown as Options);
    expect([error.placed, posts]).toEqual(["maybe", 1]);
  }
});

test.each<[string, CallService, string, string, object, string]>([
  ["twilio", twilio({ accountSid }), apiKey, accountSid, { sid: "CA1" }, "CA1"],
  [
    "vonage",
    vonage({ applicationId }),
    pem,
    Object.values(unusableKeys)[0] ?? "",
    { uuid: "uuid-1" },
    "uuid-1",
  ],
])(
  "%s: after a 401 a second key that can't be used doesn't hide it; an id in data is another's",
  async (_, service, key, unusable, placed, id) => {
    const keys = [key, unusable];
    const { error, posts } = await refusal(
      { service, apiKey: () => keys.shift() ?? unusable },
      () => Response.json({ message: "Authenticate", title: "Authenticate" }, { status: 401 }),
    );
    expect(error).toMatchObject({
      name: "UnauthorizedException",
      code: 401,
      detail: "Authenticate",
      placed: "no",
    });
    expect(posts).toBe(1);
    const fetch = async () =>
      Response.json({ ...placed, data: { id: "another" } }, { status: 201 });
    const call = await create(params, { service, apiKey: key, fetch });
    expect(call).toMatchObject({ id, data: { id: "another" } });
  },
);

test.each<[string, () => unknown]>([
  ["throws", () => expect.fail(`the key ${apiKey} is odd`)],
  ["throws no error", () => Promise.reject(apiKey)],
  ["returns nothing", () => undefined],
])(
  "an encodeCall of the caller's own that %s places no call, and shows no key",
  async (_, encodeCall) => {
    const { error, posts } = await refusal({ service: withEncodeCall(encodeCall), apiKey });
    expect(error).toMatchObject({
      name: "BadParametersException",
      message: "service could not encode the call (no call was placed)",
      placed: "no",
      param: "service",
    });
    expect(inspect(error)).not.toContain(apiKey);
    expect(posts).toBe(0);
  },
);

test("what an encodeCall of the caller's own refuses by its name says that no call was placed", async () => {
  const refuse = () => {
    throw new BadParametersException([{ param: "to_number", message: "is abroad" }]);
  };
  const { error } = await refusal({ service: withEncodeCall(refuse), apiKey });
  expect(error.message).toBe("to_number is abroad (no call was placed)");
});

test("an encodeCall that fails after a 429 doesn't hide that", async () => {
  const { encodeCall } = twilio({ accountSid }).client;
  let calls = 0;
  const once = (...given: Parameters<typeof encodeCall>) =>
    calls++ ? Promise.reject(new Error("the signer is away")) : encodeCall(...given);
  const { error, posts } = await refusal(
    { service: withEncodeCall(once as () => unknown), apiKey, retries: 1 },
    () => new Response("{}", { status: 429, headers: { "Retry-After": "0" } }),
  );
  expect([error.code, posts]).toEqual([429, 1]);
});
