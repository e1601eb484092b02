import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import fc from "fast-check";
import Telnyx from "telnyx";
import type { CallCallsParams } from "telnyx/resources/texml/accounts/calls";
import type { CallCreateParams } from "telnyx/resources/texml/calls";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import type { Exception } from "../../../src/errors.ts";
import * as straight from "../../../src/fetch.ts";
import { Client, type Options } from "../../../src/index.ts";
import { type TelnyxOptions, telnyx, telnyxCalls } from "../../../src/telnyx/index.ts";

const applicationId = "1494404757140276705";
const apiKey = "KEY0195E7A1C3F24B8D9_q1w2E3r4T5y6U7i8";
const service = telnyx({ applicationId });
const params = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow?a=1&b=2",
  status_callback_url: "https://app.test/status",
};
const sid = "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg";
const queued = { from: params.from_number, to: params.to_number, status: "queued", call_sid: sid };

/** A `fetch` that keeps what it sent, and gives one answer after the other, the last one for ever. */
const answering = (...answers: readonly (() => Response)[]) => {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetch = vi.fn(async (url: string, init: RequestInit) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    const body = await new Response(init.body ?? null).text();
    sent.push({ url, headers: new Headers(init.headers), body });
    return answer?.() ?? Response.json(queued);
  });
  return { fetch, sent };
};

/** What `create` rejects with. */
const refusal = async (more: Partial<Options> = {}, input: object = params) =>
  create({ ...params, ...input }, { apiKey, service, ...more } as Options).then(
    () => expect.fail("a call was placed"),
    (error: Exception & { readonly param?: string }) => error,
  );

test("a call is one POST of JSON to the application's calls, with the key in one header", async () => {
  const { fetch, sent } = answering();
  const call = await create(params, { apiKey, service, fetch });
  expect(call).toEqual({ ...queued, id: sid });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toBe(`https://api.telnyx.com/v2/texml/calls/${applicationId}`);
  const { "user-agent": agent, ...rest } = Object.fromEntries(sent[0]?.headers ?? []);
  expect(rest).toEqual({ "content-type": "application/json", authorization: `Bearer ${apiKey}` });
  expect(agent).toMatch(/^outdial\//);
});

describe("beside Telnyx's own client", () => {
  interface Received {
    readonly line: string;
    readonly authorization: string | undefined;
    readonly type: string | undefined;
    readonly body: string;
  }
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization, "content-type": type } = request.headers;
    const line = `${request.method} ${request.url}`;
    received.push({ line, authorization, type, body: Buffer.concat(chunks).toString() });
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(queued));
  });
  // A server that closes an idle connection may lose the POST that is on its way.
  server.keepAliveTimeout = 0;
  let baseUrl = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close().closeAllConnections());

  type Params = typeof params & { readonly record?: boolean };

  /** Its types for this endpoint and for the one with an account in its path, which documents the same fields. */
  type Body = CallCreateParams & CallCallsParams.WithURL;

  const theirs = (given: Params, { ringTimeout, timeLimit, ...more }: Partial<TelnyxOptions>) => {
    const body: Body = {
      From: given.from_number,
      To: given.to_number,
      Url: given.flow_url,
      Method: "POST",
      UrlMethod: "POST",
      StatusCallback: given.status_callback_url,
      StatusCallbackMethod: "POST",
      StatusCallbackEvent: "initiated ringing answered completed",
      ...(ringTimeout && { Timeout: ringTimeout / 1000 }),
      ...(timeLimit && { TimeLimit: timeLimit / 1000 }),
      ...(given.record !== undefined && { Record: given.record }),
      ...(more.machineDetection && { MachineDetection: more.machineDetection }),
      ...(more.detectionMode && { DetectionMode: more.detectionMode }),
    };
    const client = new Telnyx({ apiKey, baseURL: `${baseUrl}/v2`, maxRetries: 0 });
    return client.texml.calls.create(applicationId, body);
  };

  const place = async (given: Params, options: Partial<TelnyxOptions> = {}) => {
    received.length = 0;
    const own = telnyx({ applicationId, ...options });
    const call = await create(given, { apiKey, service: own, baseUrl });
    expect(call.id).toBe((await theirs(given, options)).call_sid);
    expect(received).toHaveLength(2);
    expect(received[0]).toEqual(received[1]);
  };

  test.each<[string, Partial<Params>, Partial<TelnyxOptions>]>([
    ["the fields that are required", {}, {}],
    ["a recording", { record: true }, {}],
    ["no recording", { record: false }, {}],
    [
      "every option",
      {},
      {
        machineDetection: "DetectMessageEnd",
        detectionMode: "Premium",
        ringTimeout: 20_000,
        timeLimit: 60_000,
        callsPerSecond: 5,
      },
    ],
  ])("byte for byte: %s", (_, more, options) => place({ ...params, ...more }, options));

  test("byte for byte: any URL", async () => {
    const url = fc.webUrl({ validSchemes: ["https"], withQueryParameters: true });
    await fc.assert(
      fc.asyncProperty(url, url, (flow_url, status_callback_url) =>
        place({ ...params, flow_url, status_callback_url }),
      ),
      { numRuns: 20 },
    );
  });
});

test("outdial/fetch, both clients and telnyxCalls place calls in the same way", async () => {
  for (const place of [
    (fetch: Options["fetch"]) => straight.calls.create(params, { apiKey, service, fetch }),
    (fetch: Options["fetch"]) => new Client(apiKey, { service, fetch }).calls.create(params),
    (fetch: Options["fetch"]) =>
      new straight.Client(apiKey, { service, fetch }).calls.create(params),
    (fetch: Options["fetch"]) =>
      create(params, { apiKey, service: telnyxCalls({ applicationId }), fetch }),
  ]) {
    const { fetch, sent } = answering();
    expect((await place(fetch)).id).toBe(sid);
    expect(sent).toHaveLength(1);
  }
});

test.each([[{ call_sid: sid }], [{ CallSid: sid }], [{ sid }], [{ data: { call_sid: sid } }]])(
  "the call's id is taken from %j",
  async (body) => {
    const { fetch } = answering(() => Response.json(body));
    expect((await create(params, { apiKey, service, fetch })).id).toBe(sid);
  },
);

const table = [
  ["no", [400, 401, 402, 403, 404, 405, 415, 422, 429]],
  ["maybe", [307, 308, 406, 408, 409, 410, 413, 425, 451, 499, 500, 502, 503, 504]],
] as const;

test.each(table)("placed is %s after %j, and nothing is sent again", async (placed, statuses) => {
  for (const status of statuses) {
    const { fetch, sent } = answering(() => new Response("{}", { status }));
    const error = await refusal({ fetch });
    expect([error.code, error.placed], `${status}`).toEqual([status, placed]);
    expect(sent).toHaveLength(1);
  }
});

test("where Telnyx's own client posts again, three times in all, outdial does not", async () => {
  for (const status of [408, 409, 429, 500, 503]) {
    const fetch = vi.fn(
      async () => new Response("{}", { status, headers: { "retry-after-ms": "1" } }),
    );
    const client = new Telnyx({ apiKey, fetch });
    await expect(
      client.texml.calls.create(applicationId, { From: "+1", To: "+2" }),
    ).rejects.toMatchObject({ status });
    expect(fetch).toHaveBeenCalledTimes(3);
    fetch.mockClear();
    expect((await refusal({ fetch })).code).toBe(status);
    expect(fetch).toHaveBeenCalledTimes(1);
  }
});

test.each([
  ["no JSON", "<h1>ok</h1>"],
  ["no object", "[]"],
  ["no id, as one page documents it", '{"from":"+1","to":"+2","status":"queued"}'],
  ["outdial's own form", '{"id":"cs_1"}'],
  ["an empty id", '{"call_sid":""}'],
])("a 2xx with %s may have placed a call", async (_, body) => {
  const { fetch, sent } = answering(() => new Response(body));
  const error = await refusal({ fetch });
  expect([error.name, error.code, error.placed]).toEqual(["ServiceException", 200, "maybe"]);
  expect(sent).toHaveLength(1);
});

const says = (status: number, ...errors: readonly object[]) =>
  answering(() => Response.json({ errors }, { status, headers: { "x-request-id": "R1" } })).fetch;

test("a refusal has Telnyx's code, detail, request id, and the fields that it is about", async () => {
  const detail = "The 'To' parameter must be of type 'string'";
  const error = await refusal({
    fetch: says(
      422,
      { code: "10026", title: "Invalid parameter type", detail, source: { pointer: "/To" } },
      { code: "10003", title: "Invalid URL", source: { pointer: "/StatusCallback" } },
      { code: "10004", title: "Missing", source: { pointer: "/ApplicationId" } },
    ),
  });
  expect(error).toMatchObject({
    ...{ code: 422, placed: "no", reason: "10026", detail, requestId: "R1" },
    errors: [
      { loc: ["to_number"], msg: detail, type: "10026" },
      { loc: ["status_callback_url"], msg: "Invalid URL", type: "10003" },
      { loc: ["ApplicationId"], msg: "Missing", type: "10004" },
    ],
  });
});

test("an error about no field has a code and a detail, and one without either has none", async () => {
  const limited = { code: "90041", title: "User termination channels limit exceeded" };
  const error = await refusal({ fetch: says(403, limited) });
  expect(error).toMatchObject({
    ...{ name: "ForbiddenException", reason: "90041", detail: limited.title, placed: "no" },
  });
  expect(error).not.toHaveProperty("errors");
  const bare = await refusal({ fetch: says(503) });
  for (const name of ["reason", "errors"]) expect(bare).not.toHaveProperty(name);
});

const everyCharacter = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");

test.each([
  ["the key", apiKey],
  ["the key in capitals", apiKey.toUpperCase()],
  ["the key percent-encoded throughout", everyCharacter(apiKey)],
  ["the header", `Authorization: Bearer ${apiKey}`],
  ["the key in base64", btoa(apiKey)],
  ["most of the key", apiKey.slice(0, 30)],
  ["the callee's number", params.to_number],
  ["the caller's number", "202 555 0177"],
])("%s is in nothing that a refusal shows", async (_, secret) => {
  const echo = `You sent ${secret} to us`;
  const errors = [{ code: secret, title: echo, detail: echo, source: { pointer: `/${secret}` } }];
  const headers = { "x-request-id": secret, "x-ratelimit-reset": secret };
  const error = await refusal({
    fetch: async () => Response.json({ errors }, { status: 401, headers }),
  });
  const shown = `${inspect(error)} ${error.stack} ${JSON.stringify(error)} ${error.requestId}`;
  for (const part of [secret, apiKey]) {
    expect(shown.toLowerCase()).not.toContain(part.toLowerCase());
  }
  const lost = await refusal({ fetch: () => Promise.reject(new Error(echo)) });
  expect(inspect(lost)).not.toContain(secret);
  expect(lost.placed).toBe("maybe");
});

test.each([
  ["no key", undefined],
  ["an empty key", ""],
  ["a key of two lines", "KEY\n1"],
  ["a key with a space", "Bearer KEY1"],
  ["a key in another script", "ключ-ключ"],
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
    if (key) expect(inspect(error)).not.toContain(key);
  }
  expect(sent).toHaveLength(0);
});

test("after a 401 a function is asked once more, and another key is tried once", async () => {
  const { fetch, sent } = answering(
    () => new Response("{}", { status: 401 }),
    () => Response.json(queued),
  );
  const keys = ["KEY-the-first-of-the-account", "KEY-the-second-of-the-account"];
  await create(params, { apiKey: () => keys.shift() ?? "none", service, fetch });
  expect(sent.map(({ headers }) => headers.get("authorization"))).toEqual([
    "Bearer KEY-the-first-of-the-account",
    "Bearer KEY-the-second-of-the-account",
  ]);
});

test("a 429 is tried again with retries alone, once Telnyx's own header says that there is room", async () => {
  const busy = () => new Response("{}", { status: 429, headers: { "x-ratelimit-reset": "2" } });
  const once = answering(busy);
  expect(await refusal({ fetch: once.fetch })).toMatchObject({ placed: "no", retryAfter: 2 });
  expect(once.sent).toHaveLength(1);
  vi.useFakeTimers();
  try {
    const { fetch, sent } = answering(busy, () => Response.json(queued));
    const call = create(params, { apiKey, service, fetch, retries: 1 });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await call).id).toBe(sid);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[param: string, options: object, input?: object]>([
  ["path", { path: "auto" }],
  ["headers", { headers: { Authorization: "Bearer abc" } }],
  ["baseUrl", { baseUrl: "http://voice.test" }],
  ["flow_url", {}, { flow_url: `https://app.test/${"x".repeat(1984)}` }],
  ["status_callback_url", {}, { status_callback_url: `https://app.test/${"x".repeat(1984)}` }],
])("%s is refused before anything is sent", async (param, options, input = {}) => {
  const { fetch, sent } = answering();
  const error = await refusal({ fetch, ...options } as Partial<Options>, input);
  expect([error.name, error.param, error.placed]).toEqual(["BadParametersException", param, "no"]);
  expect(error.message).toMatch(/\(no call was placed\)$/);
  expect(sent).toHaveLength(0);
});

test("the longest URL that Telnyx takes is taken", async () => {
  const { fetch, sent } = answering();
  const flow_url = `https://app.test/${"x".repeat(1983)}`;
  await create({ ...params, flow_url }, { apiKey, service, fetch });
  expect(JSON.parse(sent[0]?.body ?? "").Url).toHaveLength(2000);
});
