import { describe, expect, it } from "vitest";
import { baseUrlOf, hostsOf } from "../../../src/cli/address.ts";

describe("the base URL", () => {
  it.each([
    ["127.0.0.1", "http://127.0.0.1:4010"],
    ["::1", "http://[::1]:4010"],
    ["0.0.0.0", "http://127.0.0.1:4010"],
    ["::", "http://127.0.0.1:4010"],
    ["emulator", "http://emulator:4010"],
  ])("of %s is %s", (host, url) => {
    expect(baseUrlOf(host, 4010)).toBe(url);
  });
});

describe("a Host header", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1:4010"],
    ["127.0.0.1", "localhost:4010"],
    ["127.0.0.1", "LOCALHOST:4010"],
    ["::1", "[::1]:4010"],
    ["0.0.0.0", "192.0.2.7:4010"],
    ["0.0.0.0", "localhost:4010"],
    ["::", "[2001:db8::7]:4010"],
    ["192.0.2.7", "192.0.2.7:4010"],
    ["emulator", "emulator:4010"],
  ])("of a server bound to %s may be %s", (host, given) => {
    expect(hostsOf(host, 4010)(given)).toBe(true);
  });

  it.each([
    ["127.0.0.1", "evil.test:4010"],
    ["127.0.0.1", "127.0.0.1"],
    ["127.0.0.1", "127.0.0.1:4011"],
    ["127.0.0.1", "192.0.2.7:4010"],
    ["127.0.0.1", "127.0.0.1.evil.test:4010"],
    ["127.0.0.1", ""],
    ["0.0.0.0", "evil.test:4010"],
    ["0.0.0.0", "192.0.2.7.evil.test:4010"],
    ["192.0.2.7", "localhost:4010"],
  ])("of a server bound to %s may not be %s", (host, given) => {
    expect(hostsOf(host, 4010)(given)).toBe(false);
  });

  it("may leave out the port 80", () => {
    expect(hostsOf("127.0.0.1", 80)("localhost")).toBe(true);
    expect(hostsOf("127.0.0.1", 80)("evil.test")).toBe(false);
  });
});
