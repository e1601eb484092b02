import { afterEach, expect, test, vi } from "vitest";
import { answerOf } from "../../../../src/request/answer/answer.ts";
import { redactor } from "../../../../src/request/exception/redact.ts";
import { refusal, requestIdOf } from "../../../../src/request/exception/refusal.ts";

const key = "ak_MARKED-key-0";
const redaction = redactor([key], ["+12025550177", "+12025550188"]);
const answer = (status: number, headers = {}) =>
  answerOf(new Response(null, { status, headers }), "https://voice.test/");
const refused = (body: unknown, status = 422, headers = {}) =>
  refusal(
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

test("field errors are told in one line, and a part that is missing is empty", () => {
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
  for (const code of ["two words", key, "12025550143", {}, ["a"], null, "", "x".repeat(101)])
    expect(refused({ code }).reason).toBeUndefined();
});

test("every text of the service passes the redaction, and its names are not kept", () => {
  const body = {
    detail: [{ loc: [key, 1, "12025550143"], msg: `a ${key}`, type: key, [key]: key }],
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
