import { expect, test } from "vitest";
import { networkException } from "../../../../src/request/exception/failure.ts";
import { redactor } from "../../../../src/request/exception/redact.ts";

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
  [undefined, `the key ${btoa("ak_MARKED-key")}`, ""],
  [undefined, "for 202-555-0177", ""],
  [undefined, "for +1 303 555 0147", ": for ***"],
])("code %s, message %j: the platform's own words are told", (code, message, words) => {
  expect(exception(failure(code, message)).message).toBe(
    `The connection failed${words} (a call may have been placed)`,
  );
});

test("the innermost cause is told, up to the fifth", () => {
  const nested = (depth: number, most: number): Error =>
    new Error(`cause ${depth}`, depth < most ? { cause: nested(depth + 1, most) } : {});
  for (const [most, told] of [
    [4, 4],
    [5, 5],
    [6, 5],
    [9, 5],
  ] as const) {
    expect(exception(nested(0, most)).message).toContain(`cause ${told} (`);
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
