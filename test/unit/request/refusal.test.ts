import { afterEach, expect, test, vi } from "vitest";
import { factsOf, refusal } from "../../../src/request/refusal.ts";

const response = (status: number, headers = {}) => new Response("", { status, headers });
const retryAfter = (value: string) =>
  refusal(response(503, { "retry-after": value }), "", String).retryAfter;

afterEach(() => void vi.useRealTimers());

test.each([
  [300, "no"],
  [304, "no"],
  [399, "no"],
  [400, "no"],
  [499, "no"],
  [500, "maybe"],
  [599, "maybe"],
  [200, "maybe"],
])("after a %s a call was placed: %s", (status, placed) => {
  expect(factsOf(new Response(null, { status }))).toEqual({ code: status, placed });
});

test("an opaque redirect placed nothing, an opaque error may have", () => {
  expect(factsOf({ status: 0, type: "opaqueredirect" } as Response).placed).toBe("no");
  expect(factsOf(Response.error()).placed).toBe("maybe");
});

test.each([
  ["0", 0],
  ["120", 120],
  ["Fri, 20 Nov 2026 12:00:30 GMT", 30],
  ["Fri, 20 Nov 2026 12:00:00.500 GMT", 1],
  ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
  ["soon", undefined],
  ["", undefined],
])("Retry-After %s is %s seconds", (value, seconds) => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 20, 12) });
  expect(retryAfter(value)).toBe(seconds);
});

test("the service's words are cut in the message, not in detail", () => {
  const { message, detail } = refusal(
    response(400),
    JSON.stringify({ detail: "x".repeat(1_000) }),
    String,
  );
  expect(detail).toHaveLength(1_000);
  expect(message).toBe(`HTTP 400 ${"x".repeat(300)} (no call was placed)`);
});

test("field errors are told in one line, and a part that is missing is empty", () => {
  const errors = [{ loc: ["body", "to_number"], msg: "is wrong", type: "value_error" }, {}];
  const error = refusal(response(422), JSON.stringify({ detail: errors }), String);
  expect(error.errors).toEqual([errors[0], { loc: [], msg: "", type: "" }]);
  expect(error.detail).toBe("body.to_number: is wrong; : ");
});

test("every text of the service passes the redaction", () => {
  const redact = (text: unknown) => String(text).replaceAll("secret", "***");
  const body = {
    detail: [{ loc: ["secret", 1], msg: "a secret", type: "secret" }],
    message: "the secret",
  };
  const error = refusal(response(422, { "x-request-id": "secret" }), JSON.stringify(body), redact);
  expect(JSON.stringify(error) + error.message).not.toContain("secret");
  expect(error.errors).toEqual([{ loc: ["***", "1"], msg: "a ***", type: "***" }]);
  expect(error.requestId).toBe("***");
});
