import { expect, test } from "vitest";
import { vonage, vonageCalls } from "../../../src/carriers/vonage/index.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { applicationId } from "./service.ts";

test("a service has its name, its account and its calls a second", () => {
  const expected = { name: "vonage", account: applicationId, callsPerSecond: 3 };
  expect(vonage({ applicationId })).toMatchObject(expected);
  expect(vonageCalls({ applicationId })).toMatchObject(expected);
  expect(vonage({ applicationId, callsPerSecond: 0.5 }).callsPerSecond).toBe(0.5);
});

test.each([
  ["applicationId is missing", {}],
  ["applicationId must be", { applicationId: `${applicationId}0` }],
  ["applicationId must be", { applicationId: `${applicationId}\n` }],
  ["applicationId must be", { applicationId: 7 }],
  ["signatureSecret must be", { applicationId, signatureSecret: "" }],
  ["signatureSecret must be", { applicationId, signatureSecret: 7 }],
  ["signatureSecret must be", { applicationId, signatureSecret: ["secret", ""] }],
  ["signatureSecret must be", { applicationId, signatureSecret: [] }],
  ["machineDetection must be", { applicationId, machineDetection: true }],
  ["ringTimeout must be", { applicationId, ringTimeout: 20 }],
  ["ringTimeout must be", { applicationId, ringTimeout: 1_500 }],
  ["ringTimeout must be", { applicationId, ringTimeout: 121_000 }],
  ["ringTimeout must be", { applicationId, ringTimeout: "20000" }],
  ["ringTimeout must be", { applicationId, ringTimeout: Number.NaN }],
  ["timeLimit must be", { applicationId, timeLimit: 0 }],
  ["timeLimit must be", { applicationId, timeLimit: 86_401_000 }],
  ["region must be", { applicationId, region: "eu-3.evil.test/" }],
  ["region must be", { applicationId, region: "eu-5" }],
  ["callsPerSecond must be", { applicationId, callsPerSecond: 0 }],
  ["callsPerSecond must be", { applicationId, callsPerSecond: Number.POSITIVE_INFINITY }],
  ["callsPerSecond must be", { applicationId, callsPerSecond: 2 ** 31 }],
  ["machine is unknown: did you mean machineDetection?", { applicationId, machine: "continue" }],
  ["options must be an object", undefined],
])("%s: %j", (words, options) => {
  try {
    vonage(options as never);
  } catch (error) {
    expect(error).toBeInstanceOf(BadParametersException);
    expect(String(error)).toContain(words);
    expect(String(error)).not.toMatch(/78d335fa|evil|placed/);
    return;
  }
  expect.fail("it was taken");
});
