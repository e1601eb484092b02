import { verify } from "node:crypto";
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { type VonageOptions, vonage, vonageCalls } from "../../../src/carriers/vonage/index.ts";
import { Client } from "../../../src/index.ts";
import { answering, credentialsIn, refusalBy } from "../carriers/calls.ts";
import { params } from "../carriers/carriers.ts";
import { pem, pkcs1, publicKey } from "./keys.ts";
import { applicationId } from "./service.ts";

const service = vonage({ applicationId });
const refusal = refusalBy(service, pem);
const placed = () => Response.json({ uuid: "uuid-1", status: "started" }, { status: 201 });

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

test("the token is RS256, of the application, for 15 minutes", async () => {
  const { fetch, sent } = answering(placed);
  await create(params, { apiKey: pem, service, fetch });
  const [head, claims] = readToken(credentialsIn(sent[0]));
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
    const { fetch, sent } = answering(placed);
    await create(params, { apiKey, service, fetch });
    readToken(credentialsIn(sent[0]));
  }
});

test("the fields are Vonage's, numbers without +, both webhooks by POST", async () => {
  const { fetch, sent } = answering(placed);
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
  const { fetch, sent } = answering(placed);
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
  const { fetch, sent } = answering(placed);
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

test("each POST has a token of its own, a second one after a 429, too", async () => {
  const busy = () => new Response("{}", { status: 429, headers: { "Retry-After": "0" } });
  const { fetch, sent } = answering(placed, busy, placed);
  const client = new Client(pem, { service, fetch });
  await client.calls.create(params);
  await client.calls.create(params, { retries: 1 });
  const ids = sent.map((one) => readToken(credentialsIn(one))[1].jti);
  expect(new Set(ids).size).toBe(3);
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

test("a token of an earlier POST is in no exception either", async () => {
  const { fetch, sent } = answering(
    () => new Response("{}", { status: 429, headers: { "Retry-After": "0" } }),
    () => Response.json({ detail: `${credentialsIn(sent[0])} was replayed` }, { status: 400 }),
  );
  const error = await refusal({ fetch, retries: 1 });
  expect(sent).toHaveLength(2);
  expect(inspect(error)).not.toContain(credentialsIn(sent[0]).slice(-48));
});
