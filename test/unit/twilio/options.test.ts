import { expect, test } from "vitest";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { BadParametersException } from "../../../src/errors.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";

test("a service has its name, its account and its calls a second", () => {
  expect(twilio({ accountSid })).toMatchObject({
    name: "twilio",
    account: accountSid,
    callsPerSecond: 1,
  });
  expect(twilio({ accountSid, callsPerSecond: 0.5 }).callsPerSecond).toBe(0.5);
});

test.each([
  ["accountSid is missing", {}],
  ["accountSid must be", { accountSid: "SK0123456789abcdef0123456789abcdef" }],
  ["accountSid must be", { accountSid: `${accountSid}0` }],
  ["accountSid must be", { accountSid: accountSid.toLowerCase() }],
  ["accountSid must be", { accountSid: `${accountSid}\n` }],
  ["apiKeySid must be", { accountSid, apiKeySid: accountSid }],
  ["authToken must be", { accountSid, authToken: "" }],
  ["authToken must be", { accountSid, authToken: 7 }],
  ["authToken must be", { accountSid, authToken: ["token", ""] }],
  ["authToken must be", { accountSid, authToken: [] }],
  ["machineDetection must be", { accountSid, machineDetection: true }],
  ["ringTimeout must be", { accountSid, ringTimeout: 20 }],
  ["ringTimeout must be", { accountSid, ringTimeout: 1_500 }],
  ["ringTimeout must be", { accountSid, ringTimeout: 601_000 }],
  ["ringTimeout must be", { accountSid, ringTimeout: "20000" }],
  ["ringTimeout must be", { accountSid, ringTimeout: Number.NaN }],
  ["timeLimit must be", { accountSid, timeLimit: 0 }],
  ["timeLimit must be", { accountSid, timeLimit: 86_401_000 }],
  ["region must be", { accountSid, region: "ie1.evil.test/" }],
  ["edge must be", { accountSid, edge: "Dublin" }],
  ["callsPerSecond must be", { accountSid, callsPerSecond: 0 }],
  ["callsPerSecond must be", { accountSid, callsPerSecond: Number.POSITIVE_INFINITY }],
  ["machine is unknown: did you mean machineDetection?", { accountSid, machine: "Enable" }],
  ["SendDigits is unknown", { accountSid, SendDigits: "1" }],
  ["options must be an object", undefined],
])("%s: %j", (words, options) => {
  try {
    twilio(options as never);
  } catch (error) {
    expect(error).toBeInstanceOf(BadParametersException);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toMatch(/0123456789abcdef|evil|placed/);
    return;
  }
  expect.fail("it was taken");
});
