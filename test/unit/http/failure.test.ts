import { afterEach, expect, test, vi } from "vitest";
import { redactor } from "../../../src/http/redact.ts";
import {
  headOf,
  networkException,
  requestIdOf,
  responseException,
} from "../../../src/http/response.ts";

const key = "ak_MARKED-key-0";
const redaction = redactor([key], ["+12025550177", "+12025550188"]);
const answer = (status: number, headers = {}) =>
  headOf(new Response(null, { status, headers }), "https://voice.test/");
const refused = (body: unknown, status = 422, headers = {}) =>
  responseException(
    { code: status, placed: "no" },
    answer(status, headers),
    typeof body === "string" ? body : JSON.stringify(body),
    redaction,
  );

afterEach(() => void vi.useRealTimers());

test.each([
  ["0", 0],
  ["120", 120],
  ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
  ["Fri, 20 Nov 2026 12:00:00.500 GMT", 1],
  ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
  ["9".repeat(400), 2 ** 31],
])("Retry-After %s is %s seconds", (value, seconds) => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12) });
  expect(refused("", 503, { "retry-after": value }).retryAfter).toBe(seconds);
});

test("the service's words are cut in the message, not in detail", () => {
  const { message, detail } = refused({ detail: "x".repeat(1_000) }, 400);
  expect(detail).toHaveLength(1_000);
  expect(message).toBe(`HTTP 400 ${"x".repeat(300)} (no call was placed)`);
});

test("field errors are reported in one line, and a part that is missing is empty", () => {
  const errors = [{ loc: ["body", "to_number"], msg: "is wrong", type: "value_error" }, {}];
  const error = refused({ detail: errors });
  expect(error.errors).toEqual([errors[0], { loc: [], msg: "", type: "" }]);
  expect(error.detail).toBe("body.to_number: is wrong; : ");
});

test("the service's own constants are kept apart from its words, and only where they are constants", () => {
  const { reason, type } = refused({
    message: "Not yours.",
    code: "from_number_not_provisioned",
    type: "https://voice.test/errors#from",
  });
  expect([reason, type]).toEqual(["from_number_not_provisioned", "https://voice.test/errors#from"]);
  expect(refused({ code: 1007 }).reason).toBe("1007");
  for (const code of ["two words", key, "12025550177", {}, ["a"], null, "", "x".repeat(101)])
    expect(refused({ code }).reason).toBeUndefined();
});

test("every text of the service passes the redaction, and its names are not kept", () => {
  const body = {
    detail: [{ loc: [key, 1, "12025550188"], msg: `a ${key}`, type: key, [key]: key }],
    message: `the ${key}`,
    [key]: 1,
    "+12025550177": { [key]: 1 },
  };
  const error = refused(body);
  expect(error.errors).toEqual([{ loc: ["***", "1", "***"], msg: "a ***", type: "***" }]);
  expect(error.detail).toBe("the ***");
});

test("a secret in pieces takes all of the words with it", () => {
  for (const loc of [
    ["ak_MARKED", "-key-0"],
    ["202", "555", "0177"],
  ]) {
    const { errors, detail } = refused({ detail: [{ loc, msg: "?" }] });
    expect([errors, detail]).toEqual([undefined, undefined]);
  }
});

test.each([
  ["f81d4fae-7dec-11d0-a765-00a0c91e6bf6", true],
  ["20261121-120000-000001", true],
  ["1".repeat(200), true],
  ["1".repeat(201), false],
  [`req-${key}`, false],
  [`req-${btoa(key)}`, false],
  ["req-12025550177", false],
  ["req-202-555-0188", false],
])("the request's id %s is kept: %s", (id, isKept) => {
  expect(requestIdOf(answer(500, { "x-request-id": id }), redaction)).toBe(isKept ? id : undefined);
});

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

test.each([
  ['{"detail":{"toString":1}}'],
  ['{"code":{"toString":1,"valueOf":null},"type":{"toString":1,"valueOf":null}}'],
  ['{"detail":[{"loc":{"toString":null},"msg":{"valueOf":null},"type":{}}]}'],
  ['{"detail":[{"loc":[{"toString":null}],"msg":["a"],"type":[[]]}]}'],
  [`{"detail":[{"loc":${deep(5_000)},"msg":${deep(5_000)}}]}`],
  [`{"errors":${deep(200_000)}}`],
  [deep(500_000)],
  [`{"a":`.repeat(100_000)],
  ['{"detail":[null,1,"a",true,[],{}]}'],
  ['{"message":null,"detail":null,"errors":null,"code":null,"type":null}'],
  ['{"__proto__":{"detail":"x"},"constructor":1,"toString":2,"hasOwnProperty":3}'],
  [`{"detail":[${'{"loc":["a"],"msg":"b"},'.repeat(40_000)}{}]}`],
  [`{"detail":[{"loc":[${'"a",'.repeat(100_000)}"a"]}]}`],
  [`{"detail":"${"x".repeat(2 ** 20)}"}`],
  ["\u0000\ud800"],
])("whatever the bytes are, there is an exception, and what it keeps is bounded (%#)", (body) => {
  const error = refused(body);
  expect([error.name, error.code, error.placed]).toEqual(["ServiceException", 422, "no"]);
  expect(error.errors?.length ?? 0).toBeLessThanOrEqual(32);
  for (const { loc, msg, type } of error.errors ?? []) {
    expect(loc.length).toBeLessThanOrEqual(32);
    for (const text of [...loc, msg, type]) expect(text).toBeTypeOf("string");
  }
  expect(JSON.stringify(error).length).toBeLessThan(20_000);
});

const exception = (error: unknown, isPlatforms = true) =>
  networkException(
    error,
    redactor(["ak_MARKED-key"], ["+12025550177", "+12025550188"]),
    isPlatforms,
  );
const failure = (code: string | undefined, message = "", syscall?: string) =>
  Object.assign(new Error(message), { code, syscall });

test.each([
  ["ECONNREFUSED", "connect ECONNREFUSED 127.0.0.1:4", "connect"],
  ["ECONNREFUSED", "Unable to connect. Is the computer able to access the url?", undefined],
  ["ENOTFOUND", "getaddrinfo ENOTFOUND voice.test", "getaddrinfo"],
  ["EAI_AGAIN", "getaddrinfo EAI_AGAIN voice.test", "getaddrinfo"],
  ["UND_ERR_CONNECT_TIMEOUT", "", undefined],
  ["CERT_HAS_EXPIRED", "", undefined],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "", undefined],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "", undefined],
  ["SELF_SIGNED_CERT_IN_CHAIN", "", undefined],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "", undefined],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "", undefined],
  ["CERT_REVOKED", "", undefined],
  ["ENETUNREACH", "connect ENETUNREACH 192.0.2.1:443", "connect"],
  ["EHOSTUNREACH", "connect EHOSTUNREACH 192.0.2.1:443", "connect"],
  ["ETIMEDOUT", "connect ETIMEDOUT 192.0.2.1:443", "connect"],
  [undefined, "bad port", undefined],
  [undefined, "Fetch failed: Requests to port 6000 are blocked", undefined],
  [
    undefined,
    'Requires net access to "a.test:443", run again with the --allow-net flag',
    undefined,
  ],
  [
    undefined,
    "error sending request for url (http://a.test/CERT): client error (Connect): tcp connect error",
    undefined,
  ],
])("code %s, message %j: no connection was made", (code, message, syscall) => {
  const error = failure(code, message, syscall);
  const wrapped = new TypeError("fetch failed", { cause: error });
  for (const thrown of [error, wrapped]) expect(exception(thrown).placed).toBe("no");
  expect(exception(error, false).placed, "a fetch of the caller's").toBe("maybe");
});

test.each([
  ["ECONNRESET", "read ECONNRESET", "read"],
  ["ECONNREFUSED", "read ECONNREFUSED", "read"],
  ["ENETUNREACH", "ENETUNREACH: Was there a typo in the url or port?", undefined],
  ["EHOSTUNREACH", "read EHOSTUNREACH", "read"],
  ["ETIMEDOUT", "", undefined],
  ["EPIPE", "write EPIPE", "write"],
  ["UND_ERR_SOCKET", "other side closed", undefined],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "alert certificate required", undefined],
  ["ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE", "", undefined],
  ["A_CERT_OF_SORTS", "", undefined],
  ["CERTAIN", "", undefined],
  ["ECONNRESET", "connect ECONNREFUSED 127.0.0.1:4", undefined],
  [undefined, "https://a.test/ECONNREFUSED", undefined],
  [undefined, "connection closed: http://a.test/CERT_HAS_EXPIRED", undefined],
  [undefined, "upstream said ECONNREFUSED", undefined],
  [undefined, "a bad port", undefined],
  [
    undefined,
    "error sending request for url (https://a.test/): client error (SendRequest): closed: client error (Connect): x",
    undefined,
  ],
  [
    undefined,
    "error sending request from 127.0.0.1:1 for http://a.test/x):client%20error%20(Connect):%20 (127.0.0.1:2): client error (SendRequest): closed",
    undefined,
  ],
  [undefined, "", undefined],
])("code %s, message %j: a call may have been placed", (code, message, syscall) => {
  expect(exception(failure(code, message, syscall)).placed).toBe("maybe");
});

test.each([
  ["ECONNRESET", "read ECONNRESET", ": ECONNRESET: read ECONNRESET"],
  [undefined, "socket hang up", ": socket hang up"],
  [undefined, "", ""],
  [undefined, "the key ak_MARKED-key", ": the key ***"],
  [undefined, `the key ${btoa("ak_MARKED-key")}`, ": the key ***"],
  [undefined, "the key a-k_m-a-r-k-e-d k-e-y", ""],
  [undefined, "for 202-555-0177", ": for ***"],
  [undefined, "for +1 303 555 0147", ": for +1 303 555 0147"],
])("code %s, message %j: the platform's own words are reported", (code, message, words) => {
  expect(exception(failure(code, message)).message).toBe(
    `The connection failed${words} (a call may have been placed)`,
  );
});

test("the innermost cause is reported, up to the fifth", () => {
  const nested = (depth: number, most: number): Error =>
    new Error(`cause ${depth}`, depth < most ? { cause: nested(depth + 1, most) } : {});
  for (const [most, reported] of [
    [4, 4],
    [5, 5],
    [6, 5],
    [9, 5],
  ] as const) {
    expect(exception(nested(0, most)).message).toContain(`cause ${reported} (`);
  }
  const round = new Error("round");
  round.cause = round;
  expect(exception(round).message).toContain("round");
});

test("whatever was thrown, there is an exception", () => {
  const throwing = () => {
    throw new Error("no");
  };
  const hostile = [
    undefined,
    null,
    7,
    "text",
    Symbol("s"),
    { message: Symbol("s"), code: Symbol("s") },
    { message: { toString: throwing } },
    { message: Object.create(null) },
    Object.defineProperty({}, "code", { get: throwing }),
    Object.defineProperty({}, "cause", { get: throwing }),
    new Proxy({}, { get: throwing }),
    { message: "x".repeat(2 ** 24) },
  ];
  for (const thrown of hostile) {
    const { name, placed, message } = exception(thrown);
    expect([name, placed]).toEqual(["NetworkException", "maybe"]);
    expect(message.length).toBeLessThan(5_000);
  }
});
