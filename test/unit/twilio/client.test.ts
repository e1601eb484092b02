import { expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { type TwilioOptions, twilio } from "../../../src/carriers/twilio/index.ts";
import { answering, refusalBy } from "../carriers/calls.ts";
import { params } from "../carriers/carriers.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const apiKeySid = "SK0123456789abcdef0123456789abcdef";
const apiKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const service = twilio({ accountSid });
const refusal = refusalBy(service, apiKey);
const placed = () => Response.json({ sid: "CA1", status: "queued" }, { status: 201 });

/** The fields that are sent with the options of an account. */
const fieldsOf = async (options: Partial<TwilioOptions> = {}, more: object = {}) => {
  const { fetch, sent } = answering(placed);
  const own = twilio({ accountSid, ...options });
  await create({ ...params, ...more }, { apiKey, service: own, fetch });
  return [...new URLSearchParams(sent[0]?.body)];
};

test("the five fields are Twilio's; four notifications are asked for, and their redelivery", async () => {
  expect(await fieldsOf()).toEqual([
    ["To", params.to_number],
    ["From", params.from_number],
    ["Method", "POST"],
    ["StatusCallback", "https://app.test/status#rc=5&rp=ct,rt,5xx"],
    ["StatusCallbackEvent", "initiated"],
    ["StatusCallbackEvent", "ringing"],
    ["StatusCallbackEvent", "answered"],
    ["StatusCallbackEvent", "completed"],
    ["StatusCallbackMethod", "POST"],
    ["Url", params.flow_url],
  ]);
});

test("record is sent as it was given, and left out otherwise", async () => {
  for (const record of [true, false]) {
    expect(await fieldsOf({}, { record })).toContainEqual(["Record", `${record}`]);
  }
  const names = (await fieldsOf({}, { record: undefined })).map(([name]) => name);
  expect(names).not.toContain("Record");
});

test("a fragment of the caller's own stays as it is", async () => {
  const status_callback_url = "https://app.test/status?a=1#rc=2&rp=all";
  expect(await fieldsOf({}, { status_callback_url })).toContainEqual([
    "StatusCallback",
    status_callback_url,
  ]);
});

test("the options of the account are fields, with seconds for milliseconds", async () => {
  const options = {
    machineDetection: "DetectMessageEnd",
    ringTimeout: 20_000,
    timeLimit: 3_600_000,
  };
  const fields = await fieldsOf(options as Partial<TwilioOptions>);
  expect(fields).toEqual(
    expect.arrayContaining([
      ["MachineDetection", "DetectMessageEnd"],
      ["Timeout", "20"],
      ["TimeLimit", "3600"],
    ]),
  );
});

test("with an API key, its SID and secret are the credentials, and the account is in the path", async () => {
  const { fetch, sent } = answering(placed);
  await create(params, { apiKey, service: twilio({ accountSid, apiKeySid }), fetch });
  expect(sent[0]?.headers.get("authorization")).toBe(`Basic ${btoa(`${apiKeySid}:${apiKey}`)}`);
  expect(sent[0]?.url).toContain(`/Accounts/${accountSid}/`);
});

const says = (code: number | undefined, message: unknown, status = 400) =>
  answering(() =>
    Response.json(
      { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
      { status, headers: { "twilio-request-id": "RQ1" } },
    ),
  ).fetch;

test("a refusal has Twilio's code, message, request id, and the field that it is about", async () => {
  const error = await refusal({ fetch: says(21219, "The number is unverified.") });
  expect(error).toMatchObject({
    name: "ServiceException",
    message: "HTTP 400 The number is unverified. (no call was placed)",
    ...{ code: 400, reason: "21219", detail: "The number is unverified.", requestId: "RQ1" },
    errors: [{ loc: ["to_number"], msg: "The number is unverified.", type: "21219" }],
  });
});

test.each([
  [21201, "to_number"],
  [21205, "flow_url"],
  [21210, "from_number"],
  [21211, "to_number"],
  [21212, "from_number"],
  [21213, "from_number"],
  [21214, "to_number"],
  [21215, "to_number"],
  [21216, "to_number"],
  [21217, "to_number"],
])("error %i is about %s", async (code, field) => {
  const { errors } = await refusal({ fetch: says(code, "No.") });
  expect(errors?.map(({ loc }) => loc)).toEqual([[field]]);
});

test("another error is about no field, and one without a code has none", async () => {
  const other = await refusal({ fetch: says(20003, "Authenticate", 401) });
  expect([other.name, other.reason]).toEqual(["UnauthorizedException", "20003"]);
  expect(other).not.toHaveProperty("errors");
  const bare = await refusal({ fetch: says(undefined, "Down.", 503) });
  expect(bare.detail).toBe("Down.");
  for (const name of ["reason", "errors"]) expect(bare).not.toHaveProperty(name);
});

test("an underscore elsewhere in the URL of the notifications is Twilio's to take", async () => {
  const status_callback_url = "https://app.test/a_b?c_d=//e_f";
  expect(await fieldsOf({}, { status_callback_url })).toHaveLength(10);
});

test("a 429 without Retry-After is tried again after a second", async () => {
  vi.useFakeTimers();
  try {
    const busy = () => Response.json({ code: 20429 }, { status: 429 });
    const { fetch, sent } = answering(busy, busy, placed);
    const call = create(params, { apiKey, service, fetch, retries: 2 });
    await vi.advanceTimersByTimeAsync(999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_001);
    expect((await call).id).toBe("CA1");
    expect(sent).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});
