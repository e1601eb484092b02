import { expect, test } from "vitest";
import { isLoopback, routeOf, routeOfUrl } from "../../../src/lib/url.ts";

test.each([
  ["https://app.test", "https"],
  ["HTTPS://APP.TEST/flow?x=1#y", "https"],
  ["https://localhost:1", "https"],
  ["http://localhost", "loopback"],
  ["http://a.b.localhost:3000/x", "loopback"],
  ["http://127.0.0.1", "loopback"],
  ["http://127.255.1.2:80", "loopback"],
  ["http://0x7f.1", "loopback"], // the parser makes it 127.0.0.1, and so does whoever connects
  ["http://[::1]:4010", "loopback"],
  ["http://app.test", undefined],
  ["http://localhost.app.test", undefined],
  ["http://127.0.0.1.app.test", undefined],
  ["http://notlocalhost", undefined],
  ["http://128.0.0.1", undefined],
  ["http://[::2]", undefined],
  ["https://user@app.test", undefined],
  ["https://user:word@app.test", undefined],
  ["https:app.test", undefined],
  ["https:/app.test", undefined],
  ["https:\\\\app.test", undefined],
  [" https://app.test", undefined],
  ["https://app.test/\u00a0", undefined],
  ["https://", undefined],
  ["https://[", undefined],
  ["ftp://app.test", undefined],
  [undefined, undefined],
  [new URL("https://app.test"), undefined],
])("%s leads %s", (value, route) => expect(routeOf(value)).toBe(route));

test.each([
  ["wss://app.test", "https"],
  ["ws://localhost", "loopback"],
  ["ws://app.test", undefined],
  ["ftp://localhost", undefined],
  ["https://user@app.test", undefined],
  ["https://:word@app.test", undefined],
])("a parsed %s leads %s", (url, route) => expect(routeOfUrl(new URL(url))).toBe(route));

test("a URL may have 2 083 characters and no more", () => {
  const url = (length: number) => "https://app.test/".padEnd(length, "x");
  expect(routeOf(url(2083))).toBe("https");
  expect(routeOf(url(2084))).toBeUndefined();
});

test("loopback is a matter of the host, whatever the scheme", () => {
  expect(isLoopback("https://localhost")).toBe(true);
  expect(isLoopback("http://127.0.0.1:1/x")).toBe(true);
  expect(isLoopback("https://app.test")).toBe(false);
});
