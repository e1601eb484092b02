import { verify } from "node:crypto";
import { inspect } from "node:util";
import { expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import type { Exception } from "../../../src/errors.ts";
import * as straight from "../../../src/fetch.ts";
import { Client, type Options } from "../../../src/index.ts";
import { type VonageOptions, vonage, vonageCalls } from "../../../src/vonage/index.ts";
import { pem, pkcs1, publicKey, refusedKeys, unusableKeys } from "./keys.ts";
import { applicationId } from "./service.ts";

const service = vonage({ applicationId });
const params = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow?a=1&b=2",
  status_callback_url: "https://app.test/status",
};
const uuid = "63f61863-4a51-4f6b-86e1-46edebcf9356";
const placed = () =>
  Response.json(
    { uuid, status: "started", direction: "outbound", conversation_uuid: "CON-1" },
    { status: 201, headers: { "x-nexmo-trace-id": "trace-1" } },
  );

/** A `fetch` that keeps what it sent, and gives one answer after the other, the last one for ever. */
const answering = (...answers: readonly (() => Response)[]) => {
  const sent: { url: string; headers: Headers; body: string }[] = [];
  const fetch = vi.fn(async (url: string, init: RequestInit) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)] ?? placed;
    const body = await new Response(init.body ?? null).text();
    sent.push({ url, headers: new Headers(init.headers), body });
    return answer();
  });
  return { fetch, sent };
};

/** What `create` rejects with. */
const refusal = async (more: Partial<Options> = {}, input: object = params) =>
  create({ ...params, ...input }, { apiKey: pem, service, ...more } as Options).then(
    () => expect.fail("a call was placed"),
    (error: Exception & { readonly param?: string }) => error,
  );

const tokenIn = (headers: Headers | undefined): string =>
  headers?.get("authorization")?.replace("Bearer ", "") ?? "";

/** The header and the claims of a token, whose signature is verified by Node. */
const readToken = (token: string) => {
  const [head = "", claims = "", signature = ""] = token.split(".");
  const isSigned = verify(
    "sha256",
    Buffer.from(`${head}.${claims}`),
    publicKey,
    Buffer.from(signature, "base64url"),
  );
  expect(isSigned).toBe(true);
  return [head, claims].map((part) => JSON.parse(Buffer.from(part, "base64url").toString()));
};

test("a call is one POST of JSON, with a token in one header", async () => {
  const { fetch, sent } = answering();
  const call = await create(params, { apiKey: pem, service, fetch });
  expect(call).toMatchObject({ id: uuid, uuid, status: "started", conversation_uuid: "CON-1" });
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toBe("https://api.nexmo.com/v1/calls");
  const {
    authorization,
    "user-agent": agent,
    ...rest
  } = Object.fromEntries(sent[0]?.headers ?? []);
  expect(rest).toEqual({ "content-type": "application/json" });
  expect(agent).toMatch(/^outdial\//);
  expect(authorization).toMatch(/^Bearer [\w-]+\.[\w-]+\.[\w-]+$/);
});

test("the token is RS256, of the application, for 15 minutes", async () => {
  const { fetch, sent } = answering();
  await create(params, { apiKey: pem, service, fetch });
  const [head, claims] = readToken(tokenIn(sent[0]?.headers));
  expect(head).toEqual({ alg: "RS256", typ: "JWT" });
  const { iat } = claims;
  expect(Math.abs(Date.now() / 1000 - iat)).toBeLessThan(60);
  expect(claims).toEqual({
    application_id: applicationId,
    iat,
    exp: iat + 900,
    jti: expect.stringMatching(/^[\da-f-]{36}$/),
  });
});

test.each([
  ["PKCS#8", pem],
  ["PKCS#1", pkcs1],
  ["with line breaks of Windows", pem.replaceAll("\n", "\r\n")],
  ["on one line", pem.replaceAll("\n", " ")],
  ["with \\n for line breaks, as in an environment variable", pkcs1.replaceAll("\n", "\\n")],
  ["with white space around it", `\n  ${pem}\n\n`],
])("a PEM %s signs, as it is and by a function", async (_, key) => {
  for (const apiKey of [key, () => key, async () => key]) {
    const { fetch, sent } = answering();
    await create(params, { apiKey, service, fetch });
    readToken(tokenIn(sent[0]?.headers));
  }
});

test("the fields are Vonage's, numbers without +, both webhooks by POST", async () => {
  const { fetch, sent } = answering();
  await create(params, { apiKey: pem, service, fetch });
  expect(JSON.parse(sent[0]?.body ?? "")).toEqual({
    to: [{ type: "phone", number: "12025550188" }],
    from: { type: "phone", number: "12025550177" },
    answer_url: [params.flow_url],
    answer_method: "POST",
    event_url: [params.status_callback_url],
    event_method: "POST",
  });
});

test("the options of the application are fields, with seconds for milliseconds", async () => {
  const { fetch, sent } = answering();
  const options: VonageOptions = {
    applicationId,
    machineDetection: "hangup",
    ringTimeout: 20_000,
    timeLimit: 3_600_000,
  };
  await create(params, { apiKey: pem, service: vonageCalls(options), fetch });
  expect(JSON.parse(sent[0]?.body ?? "")).toMatchObject({
    machine_detection: "hangup",
    ringing_timer: 20,
    length_timer: 3_600,
  });
});

test("record: false is Vonage's own default, and true is refused by name", async () => {
  const { fetch, sent } = answering();
  await create({ ...params, record: false }, { apiKey: pem, service, fetch });
  expect(sent[0]?.body).not.toContain("record");
  const error = await refusal({ fetch }, { record: true });
  expect([error.name, error.param, error.placed]).toEqual([
    "BadParametersException",
    "record",
    "no",
  ]);
  expect(error.message).toBe(
    "record must be left out: Vonage records by an action, stream(url, { record: true }) (no call was placed)",
  );
  expect(sent).toHaveLength(1);
});

test.each([
  [{}, "https://api.nexmo.com"],
  [{ region: "eu-3" }, "https://api-eu-3.vonage.com"],
] as const)("the host of %j is %s", async (options, base) => {
  const { fetch, sent } = answering();
  const own = vonage({ applicationId, ...options });
  await create(params, { apiKey: pem, service: own, fetch });
  expect(sent[0]?.url).toBe(`${base}/v1/calls`);
  await create(params, { apiKey: pem, service: own, fetch, baseUrl: "https://gateway.test/a//" });
  expect(sent[1]?.url).toBe("https://gateway.test/a/v1/calls");
});

test("outdial/fetch and both clients place calls in the same way, each with a token of its own", async () => {
  const { fetch, sent } = answering();
  const client = new Client(pem, { service, fetch });
  for (const place of [
    () => straight.calls.create(params, { apiKey: pem, service, fetch }),
    () => new straight.Client(() => pem, { service, fetch }).calls.create(params),
    () => client.calls.create(params),
    () => client.calls.create(params, { timeout: 5_000 }),
  ]) {
    expect((await place()).id).toBe(uuid);
  }
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  const ids = sent.map(({ headers }) => readToken(tokenIn(headers))[1].jti);
  expect(new Set(ids).size).toBe(4);
});

const table = [
  ["no", [400, 401, 403, 404, 429]],
  [
    "maybe",
    [307, 308, 402, 405, 406, 408, 409, 410, 413, 415, 422, 425, 451, 499, 500, 502, 503, 504],
  ],
] as const;

test.each(table)("placed is %s after %j, and nothing is sent again", async (expected, statuses) => {
  for (const status of statuses) {
    const { fetch, sent } = answering(() => new Response("{}", { status }));
    const error = await refusal({ fetch });
    expect([error.code, error.placed], `${status}`).toEqual([status, expected]);
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
  ["no uuid", '{"status":"started"}'],
  ["outdial's own form", '{"id":"cs_1"}'],
  ["an empty uuid", '{"uuid":""}'],
])("a 2xx with %s may have placed a call", async (_, body) => {
  const { fetch, sent } = answering(() => new Response(body, { status: 201 }));
  const error = await refusal({ fetch });
  expect([error.name, error.code, error.placed]).toEqual(["ServiceException", 201, "maybe"]);
  expect(sent).toHaveLength(1);
});

test.each<[string, number, object, object]>([
  [
    "of RFC 7807",
    403,
    {
      type: "https://developer.vonage.com/api-errors#low-balance",
      title: "Low balance",
      detail: "The balance is too low.",
      instance: "bf0ca0bf927b3b52e3cb03217e1a1ddf",
    },
    {
      name: "ForbiddenException",
      type: "https://developer.vonage.com/api-errors#low-balance",
      detail: "The balance is too low.",
    },
  ],
  [
    "with a title alone",
    401,
    { type: "UNAUTHORIZED", error_title: "Unauthorized" },
    { name: "UnauthorizedException", type: "UNAUTHORIZED", detail: "Unauthorized" },
  ],
  [
    "with the parameters",
    400,
    {
      type: 400,
      title: "Bad Request",
      invalid_parameters: [
        { name: "to[0].number", reason: "is no number", type: "format" },
        { name: "from", reason: "is missing" },
        { name: "answer_url", reason: "is no URL" },
        { name: "event_url[0]", reason: "is no URL" },
        { name: "ncco", reason: "is too much" },
        { name: "toString", reason: "is nothing" },
      ],
    },
    {
      name: "ServiceException",
      type: "400",
      detail: "Bad Request",
      errors: [
        { loc: ["to_number"], msg: "is no number", type: "format" },
        { loc: ["from_number"], msg: "is missing", type: "" },
        { loc: ["flow_url"], msg: "is no URL", type: "" },
        { loc: ["status_callback_url"], msg: "is no URL", type: "" },
        { loc: ["ncco"], msg: "is too much", type: "" },
        { loc: ["toString"], msg: "is nothing", type: "" },
      ],
    },
  ],
])("a refusal %s has what Vonage says", async (_, status, said, expected) => {
  const { fetch } = answering(() =>
    Response.json(said, { status, headers: { "x-nexmo-trace-id": "trace-2" } }),
  );
  expect(await refusal({ fetch })).toMatchObject({
    code: status,
    placed: "no",
    requestId: "trace-2",
    ...expected,
  });
});

test("a refusal in HTML, empty, truncated or huge keeps its status and its placed", async () => {
  for (const body of ["<h1>no</h1>", "", '{"type":2', "null", "7", " ".repeat(2 ** 21)]) {
    const { fetch } = answering(() => new Response(body, { status: 403 }));
    expect(await refusal({ fetch })).toMatchObject({ name: "ForbiddenException", placed: "no" });
  }
});

const everyCharacter = (text: string) =>
  [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join("");
const lines = pem.split("\n").filter((line) => /^[^-]{40}/.test(line));

test.each<[string, (token: string) => string]>([
  ["the token", (token) => token],
  ["the header", (token) => `Authorization: Bearer ${token}`],
  ["the token percent-encoded throughout", everyCharacter],
  ["the token in base64", (token) => btoa(token)],
  ["most of the token", (token) => token.slice(0, -80)],
  ["the PEM", () => pem],
  ["the PEM on one line", () => pem.replaceAll("\n", " ")],
  ["the PEM JSON-escaped", () => JSON.stringify(pem)],
  ["a line of the PEM", () => lines[7] ?? ""],
  ["most of a line", () => lines[9]?.slice(0, 52) ?? ""],
  ["the callee's number", () => "12025550188"],
  ["the caller's number", () => "202 555 0177"],
])("%s is in nothing that a refusal shows", async (_, secretOf) => {
  let secret = "";
  let echo = "";
  const hear = (init: RequestInit) => {
    secret = secretOf(tokenIn(new Headers(init.headers)));
    echo = `You sent ${secret} to us`;
  };
  const fetch = async (_: string, init: RequestInit) => {
    hear(init);
    const title = { type: secret, title: echo, detail: echo, instance: secret };
    const headers = { "x-nexmo-trace-id": secret.replaceAll("\n", " "), "retry-after": "soon" };
    return Response.json(title, { status: 401, headers });
  };
  const error = await refusal({ fetch });
  const shown = `${inspect(error)} ${error.stack} ${JSON.stringify(error)} ${error.requestId}`;
  for (const part of [secret, ...lines]) {
    expect(shown.toLowerCase()).not.toContain(part.toLowerCase());
  }
  const lost = await refusal({
    fetch: async (_, init) => {
      hear(init);
      throw new Error(echo);
    },
  });
  expect(inspect(lost)).not.toContain(secret);
  expect(lost.placed).toBe("maybe");
});

test("neither a service nor a client shows a secret", async () => {
  const own = vonage({ applicationId, signatureSecret: "the-signature-secret" });
  const client = new Client(pem, { service: own, fetch: answering().fetch });
  await client.calls.create(params);
  for (const shown of [
    inspect(own, { depth: 9 }),
    JSON.stringify(own),
    inspect(client, { depth: 9 }),
    JSON.stringify(client),
  ]) {
    expect(shown).not.toContain(lines[3]);
    expect(shown).not.toContain("the-signature-secret");
  }
});

const keyRule =
  "apiKey must be the application's private key: the PEM, not encrypted, or a function that returns it";

test.each(Object.entries(refusedKeys))("%s is refused before anything is sent", async (_, key) => {
  const { fetch, sent } = answering();
  for (const apiKey of [key, () => key, async () => key]) {
    const error = await refusal({ apiKey, fetch });
    expect([error.name, error.param, error.placed]).toEqual([
      "BadParametersException",
      "apiKey",
      "no",
    ]);
    expect(error.message).toMatch(/\(no call was placed\)$/);
    expect(inspect(error)).not.toContain(key.slice(30, 60));
  }
  expect(() => new Client(key, { service })).toThrow(keyRule);
  expect(sent).toHaveLength(0);
});

test.each(Object.entries(unusableKeys))(
  "%s is refused before anything is sent, and never quoted",
  async (_, key) => {
    const { fetch, sent } = answering();
    for (const apiKey of [key, () => key]) {
      const error = await refusal({ apiKey, fetch });
      expect([error.name, error.param, error.placed]).toEqual([
        "BadParametersException",
        "apiKey",
        "no",
      ]);
      expect(error.message).toBe(`${keyRule} (no call was placed)`);
      expect(inspect(error)).not.toContain(key.slice(60, 90));
    }
    expect(sent).toHaveLength(0);
  },
);

test("after a 401 a function is asked once more, and another key is tried once", async () => {
  const refused = () => new Response("{}", { status: 401 });
  const { fetch, sent } = answering(refused, placed);
  const keys = [pkcs1, pem];
  await create(params, { apiKey: () => keys.shift() ?? "none", service, fetch });
  expect(sent).toHaveLength(2);
  const same = answering(refused);
  expect((await refusal({ apiKey: () => pem, fetch: same.fetch })).code).toBe(401);
  expect(same.sent).toHaveLength(1);
});

test("a 429 is tried again with retries alone, with a new token", async () => {
  const busy = () => Response.json({ title: "Too many" }, { status: 429 });
  const once = answering(busy);
  expect(await refusal({ fetch: once.fetch })).toMatchObject({ code: 429, placed: "no" });
  expect(once.sent).toHaveLength(1);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const { fetch, sent } = answering(busy, placed);
    const call = create(params, { apiKey: pem, service, fetch, retries: 2 });
    await vi.waitFor(() => expect(sent).toHaveLength(1));
    await vi.waitUntil(() => vi.getTimerCount() > 1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await call).id).toBe(uuid);
    const [first, second] = sent.map(({ headers }) => readToken(tokenIn(headers))[1].jti);
    expect(first).not.toBe(second);
    expect(sent).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});

test.each<[param: string, options: object, input?: object]>([
  ["path", { path: "calls" }],
  ["headers", { headers: { authorization: "Bearer abc" } }],
  ["baseUrl", { baseUrl: "http://voice.test" }],
  ["flow_url", {}, { flow_url: "http://127.0.0.1/flow" }],
  ["to_number", {}, { to_number: "12025550188" }],
])("%s is refused: %j %j", async (param, options, input = {}) => {
  const { fetch, sent } = answering();
  const error = await refusal({ fetch, ...options } as Partial<Options>, input);
  expect([error.name, error.param, error.placed]).toEqual(["BadParametersException", param, "no"]);
  expect(sent).toHaveLength(0);
});

test("onAttempt gets the URL, the request id and the placed of each POST", async () => {
  const { fetch } = answering();
  const onAttempt = vi.fn();
  await create(params, { apiKey: pem, service, fetch, onAttempt });
  expect(onAttempt.mock.calls).toEqual([
    [
      expect.objectContaining({
        url: "https://api.nexmo.com/v1/calls",
        status: 201,
        requestId: "trace-1",
        placed: "yes",
        attempt: 1,
      }),
    ],
  ]);
});

test("a token of an earlier POST is in no exception either", async () => {
  const { fetch, sent } = answering(
    () => new Response("{}", { status: 429, headers: { "Retry-After": "0" } }),
    () => Response.json({ detail: `${tokenIn(sent[0]?.headers)} was replayed` }, { status: 400 }),
  );
  const error = await refusal({ fetch, retries: 1 });
  expect(sent).toHaveLength(2);
  expect(inspect(error)).not.toContain(tokenIn(sent[0]?.headers).slice(-48));
});
