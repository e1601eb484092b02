import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import type { Exception } from "../../../src/errors.ts";
import * as straight from "../../../src/fetch.ts";
import { Client, type Options } from "../../../src/index.ts";
import { type TwilioOptions, twilio } from "../../../src/twilio/index.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const apiKeySid = "SK0123456789abcdef0123456789abcdef";
const apiKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const service = twilio({ accountSid });
const params = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow?a=1&b=2",
  status_callback_url: "https://app.test/status",
};

/** A `fetch` that keeps what it sent, and gives one answer after the other, the last one for ever. */
const answering = (...answers: readonly (() => Response)[]) => {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetch = vi.fn(async (url: string, init: RequestInit) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    const body = await new Response(init.body ?? null).text();
    sent.push({ url, headers: new Headers(init.headers), body });
    return answer?.() ?? Response.json({ sid: "CA1", status: "queued" }, { status: 201 });
  });
  return { fetch, sent };
};

/** What `create` rejects with. */
const refusal = async (more: Partial<Options> = {}, input: object = params) =>
  create({ ...params, ...input }, { apiKey, service, ...more } as Options).then(
    () => expect.fail("a call was placed"),
    (error: Exception & { readonly param?: string }) => error,
  );

/** The fields that are sent with the options of an account. */
const fieldsOf = async (options: Partial<TwilioOptions> = {}, more: object = {}) => {
  const { fetch, sent } = answering();
  const own = twilio({ accountSid, ...options });
  await create({ ...params, ...more }, { apiKey, service: own, fetch });
  return [...new URLSearchParams(sent[0]?.body)];
};

test("a call is one POST of a form to the account's calls, with the credentials in one header", async () => {
  const { fetch, sent } = answering();
  const call = await create(params, { apiKey, service, fetch });
  expect(call).toEqual({ id: "CA1", sid: "CA1", status: "queued" });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toBe(`https://api.twilio.com/2010-04-01/Accounts/${accountSid}/Calls.json`);
  const {
    authorization,
    "user-agent": agent,
    ...rest
  } = Object.fromEntries(sent[0]?.headers ?? []);
  expect(rest).toEqual({ "content-type": "application/x-www-form-urlencoded" });
  expect(agent).toMatch(/^outdial\//);
  expect(authorization).toBe(`Basic ${btoa(`${accountSid}:${apiKey}`)}`);
});

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

test.each([
  [{}, "https://api.twilio.com"],
  [{ region: "ie1" }, "https://api.ie1.twilio.com"],
  [{ edge: "dublin" }, "https://api.dublin.us1.twilio.com"],
  [{ edge: "dublin", region: "ie1" }, "https://api.dublin.ie1.twilio.com"],
])("the host of %j is %s", async (options, base) => {
  const { fetch, sent } = answering();
  const own = twilio({ accountSid, ...options });
  await create(params, { apiKey, service: own, fetch });
  expect(sent[0]?.url).toMatch(`${base}/2010-04-01/`);
  await create(params, { apiKey, service: own, fetch, baseUrl: "https://gateway.test/a//" });
  expect(sent[1]?.url).toMatch("https://gateway.test/a/2010-04-01/");
});

test("with an API key, its SID and secret are the credentials, and the account is in the path", async () => {
  const { fetch, sent } = answering();
  await create(params, { apiKey, service: twilio({ accountSid, apiKeySid }), fetch });
  expect(sent[0]?.headers.get("authorization")).toBe(`Basic ${btoa(`${apiKeySid}:${apiKey}`)}`);
  expect(sent[0]?.url).toContain(`/Accounts/${accountSid}/`);
});

test("outdial/fetch and both clients place calls in the same way", async () => {
  for (const place of [
    (fetch: Options["fetch"]) => straight.calls.create(params, { apiKey, service, fetch }),
    (fetch: Options["fetch"]) => new Client(apiKey, { service, fetch }).calls.create(params),
    (fetch: Options["fetch"]) =>
      new straight.Client(apiKey, { service, fetch }).calls.create(params),
    (fetch: Options["fetch"]) =>
      new Client(apiKey, { service, fetch }).calls.create(params, { service, timeout: 5_000 }),
  ]) {
    const { fetch, sent } = answering();
    expect((await place(fetch)).id).toBe("CA1");
    expect(sent).toHaveLength(1);
    expect(sent[0]?.url).toContain(accountSid);
  }
});

const table = [
  ["no", [400, 401, 403, 404, 405, 429]],
  ["maybe", [307, 308, 402, 406, 408, 409, 410, 413, 415, 422, 425, 451, 499, 500, 502, 503, 504]],
] as const;

test.each(table)("placed is %s after %j, and nothing is sent again", async (placed, statuses) => {
  for (const status of statuses) {
    const { fetch, sent } = answering(() => new Response("{}", { status }));
    const error = await refusal({ fetch });
    expect([error.code, error.placed], `${status}`).toEqual([status, placed]);
    expect(sent).toHaveLength(1);
  }
});

test("what came through a redirect tells nothing, whatever its status", async () => {
  const moved = () =>
    Object.defineProperty(new Response("{}", { status: 400 }), "redirected", { value: true });
  expect((await refusal({ fetch: answering(moved).fetch })).placed).toBe("maybe");
});

test.each([
  ["no JSON", "<h1>ok</h1>"],
  ["no object", "[]"],
  ["no sid", '{"status":"queued"}'],
  ["outdial's own form", '{"id":"cs_1"}'],
  ["an empty sid", '{"sid":""}'],
])("a 2xx with %s may have placed a call", async (_, body) => {
  const { fetch, sent } = answering(() => new Response(body, { status: 201 }));
  const error = await refusal({ fetch });
  expect([error.name, error.code, error.placed]).toEqual(["ServiceException", 201, "maybe"]);
  expect(sent).toHaveLength(1);
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

test("a refusal in HTML, empty, truncated or huge keeps its status and its placed", async () => {
  for (const body of ["<h1>no</h1>", "", '{"code":2', "null", "7", " ".repeat(2 ** 21)]) {
    const { fetch } = answering(() => new Response(body, { status: 403 }));
    expect(await refusal({ fetch })).toMatchObject({ name: "ForbiddenException", placed: "no" });
  }
});

const basic = btoa(`${accountSid}:${apiKey}`);
const everyCharacter = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

test.each([
  ["the key", apiKey],
  ["the key in capitals", apiKey.toUpperCase()],
  ["the key percent-encoded throughout", everyCharacter(apiKey)],
  ["the Basic text", basic],
  ["the header", `Authorization: Basic ${basic}`],
  ["the Basic text percent-encoded", encodeURIComponent(basic)],
  ["the Basic text percent-encoded throughout", everyCharacter(basic)],
  ["the Basic text in base64url", basic.replaceAll("+", "-").replaceAll("/", "_")],
  ["the Basic text without padding", basic.replaceAll("=", "")],
  ["the Basic text JSON-escaped", basic.replaceAll("/", "\\/")],
  ["the key in base64", btoa(apiKey)],
  ["most of the key", apiKey.slice(0, 26)],
  ["the callee's number", params.to_number],
  ["the caller's number", "202 555 0177"],
])("%s is in nothing that a refusal shows", async (_, secret) => {
  const echo = `You sent ${secret} to us`;
  const fetch = async () =>
    Response.json(
      { code: secret, message: echo, more_info: echo },
      { status: 401, headers: { "twilio-request-id": secret, "retry-after": secret } },
    );
  const error = await refusal({ fetch });
  const shown = `${inspect(error)} ${error.stack} ${JSON.stringify(error)} ${error.requestId}`;
  for (const part of [secret, apiKey, basic, basic.slice(40)]) {
    expect(shown.toLowerCase()).not.toContain(part.toLowerCase());
  }
  const lost = await refusal({ fetch: () => Promise.reject(new Error(echo)) });
  expect(inspect(lost)).not.toContain(secret);
  expect(lost.placed).toBe("maybe");
});

test("neither a service nor a client shows a secret", () => {
  const own = twilio({ accountSid, authToken: apiKey, apiKeySid });
  const client = new Client(apiKey, { service: own });
  for (const shown of [
    inspect(own, { depth: 9 }),
    JSON.stringify(own),
    inspect(client, { depth: 9 }),
  ]) {
    expect(shown).not.toContain(apiKey);
  }
});

test.each([
  ["no key", undefined],
  ["an empty key", ""],
  ["a key of two lines", "a\nb"],
  ["a key in another script", "ключ-ключ"],
  ["an account's SID", accountSid],
  ["an API key's SID", apiKeySid],
])("%s is refused before anything is sent, as it is and by a function", async (_, key) => {
  const { fetch, sent } = answering();
  const given = key as string;
  for (const apiKey of [given, () => given, async () => given]) {
    const error = await refusal({ apiKey, fetch });
    expect([error.name, error.param, error.placed]).toEqual([
      "BadParametersException",
      "apiKey",
      "no",
    ]);
    expect(error.message).toMatch(/\(no call was placed\)$/);
    if (key) expect(inspect(error)).not.toContain(key);
  }
  expect(() => new Client(given, { service })).toThrow("apiKey must be the auth token");
  expect(sent).toHaveLength(0);
});

test("after a 401 a function is asked once more, and another key is tried once", async () => {
  const refused = () => new Response("{}", { status: 401 });
  const { fetch, sent } = answering(refused, () => Response.json({ sid: "CA2" }));
  const keys = ["first-key-of-the-account", "second-key-of-the-account"];
  const call = await create(params, { apiKey: () => keys.shift() ?? "none", service, fetch });
  expect(call.id).toBe("CA2");
  const sentKeys = sent.map(({ headers }) => atob(headers.get("authorization")?.slice(6) ?? ""));
  expect(sentKeys.map((text) => text.split(":")[1])).toEqual([
    "first-key-of-the-account",
    "second-key-of-the-account",
  ]);
  const same = answering(refused);
  expect((await refusal({ apiKey: () => apiKey, fetch: same.fetch })).code).toBe(401);
  expect(same.sent).toHaveLength(1);
});

test("a 429 is tried again with retries alone, after its Retry-After, or a second", async () => {
  const busy = () => Response.json({ code: 20429, message: "Too Many Requests" }, { status: 429 });
  const once = answering(busy);
  expect(await refusal({ fetch: once.fetch })).toMatchObject({
    code: 429,
    reason: "20429",
    placed: "no",
  });
  expect(once.sent).toHaveLength(1);
  vi.useFakeTimers();
  try {
    const { fetch, sent } = answering(busy, busy, () => Response.json({ sid: "CA3" }));
    const call = create(params, { apiKey, service, fetch, retries: 2 });
    await vi.advanceTimersByTimeAsync(999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_001);
    expect((await call).id).toBe("CA3");
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[param: string, options: object, input?: object]>([
  ["path", { path: "auto" }],
  ["path", { path: "calls" }],
  ["headers", { headers: { Authorization: "Basic abc" } }],
  ["headers", { headers: { authorization: "Basic abc" } }],
  ["baseUrl", { baseUrl: "http://voice.test" }],
  ["baseUrl", { baseUrl: "https://voice.test?a=1" }],
  ["status_callback_url", {}, { status_callback_url: "https://app_1.test/status" }],
  ["flow_url", {}, { flow_url: "http://127.0.0.1/flow" }],
])("%s is refused: %j %j", async (param, options, input = {}) => {
  const { fetch, sent } = answering();
  const error = await refusal({ fetch, ...options } as Partial<Options>, input);
  expect([error.name, error.param, error.placed]).toEqual(["BadParametersException", param, "no"]);
  expect(error.message).toMatch(/\(no call was placed\)$/);
  expect(sent).toHaveLength(0);
});

test("an underscore elsewhere in the URL of the notifications is Twilio's to take", async () => {
  const status_callback_url = "https://app.test/a_b?c_d=//e_f";
  expect(await fieldsOf({}, { status_callback_url })).toHaveLength(10);
});

test.each(["twilio", {}, { client: {} }, null, 7])("%j is no service", async (junk) => {
  const error = await refusal({ service: junk as never, baseUrl: "https://voice.test" });
  expect([error.name, error.param, error.placed]).toEqual([
    "BadParametersException",
    "service",
    "no",
  ]);
});

test("a client keeps its service: a call with another one is refused", async () => {
  const { fetch, sent } = answering();
  const client = new Client(apiKey, { service, fetch });
  const other = twilio({ accountSid });
  await expect(client.calls.create(params, { service: other })).rejects.toMatchObject({
    message: "service must be the client's (no call was placed)",
  });
  expect(sent).toHaveLength(0);
});

test("only the first of two services' paths is tried: a 404 is a refusal", async () => {
  const { fetch, sent } = answering(() => Response.json({ code: 20404 }, { status: 404 }));
  expect(await refusal({ fetch })).toMatchObject({ code: 404, reason: "20404", placed: "no" });
  expect(sent).toHaveLength(1);
});

test("onAttempt gets the URL, the request id and the placed of each POST", async () => {
  const { fetch } = answering(() =>
    Response.json({ sid: "CA4" }, { status: 201, headers: { "twilio-request-id": "RQ4" } }),
  );
  const onAttempt = vi.fn();
  await create(params, { apiKey, service, fetch, onAttempt });
  expect(onAttempt.mock.calls).toEqual([
    [expect.objectContaining({ status: 201, requestId: "RQ4", placed: "yes", attempt: 1 })],
  ]);
  expect(onAttempt.mock.calls[0]?.[0].url).toMatch(/Calls\.json$/);
});

test("a body that stalls ends with the deadline: with a refusal's status, and maybe after a 201", async () => {
  for (const [status, placed] of [
    [400, "no"],
    [201, "maybe"],
    [503, "maybe"],
  ] as const) {
    vi.useFakeTimers();
    try {
      const cancel = vi.fn();
      const stalled = () => new Response(new ReadableStream({ cancel }), { status });
      const call = refusal({ fetch: answering(stalled).fetch, timeout: 1_000 });
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await call).toMatchObject({ name: "TimeoutException", code: status, placed });
      expect(cancel).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  }
});
