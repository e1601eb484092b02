import { inspect } from "node:util";
import { expect, test } from "vitest";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { people, stageOf } from "../campaigns/stage.ts";
import { publicKey } from "./sign.ts";

const applicationId = "1494404757140276705";

test("a service has its name, its application and its calls a second", () => {
  expect(telnyx({ applicationId })).toMatchObject({
    name: "telnyx",
    account: applicationId,
    callsPerSecond: 1,
  });
  expect(telnyx({ applicationId, callsPerSecond: 20, publicKey: [publicKey] }).callsPerSecond).toBe(
    20,
  );
});

test("a list at Telnyx doesn't begin calls faster than the account may", async () => {
  const service = telnyx({ applicationId, callsPerSecond: 2 });
  await expect(stageOf({ service, rate: 2.1 })).rejects.toThrow(
    "rate must be at most 2, the callsPerSecond of telnyx",
  );
  const stage = await stageOf({ service, rate: 2 });
  await stage.campaign.add(people(1));
});

test.each([
  ["applicationId is missing", {}],
  ["applicationId must be", { applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" }],
  ["applicationId must be", { applicationId: 1494404757140276 }],
  ["applicationId must be", { applicationId: `${applicationId}/../../calls` }],
  ["applicationId must be", { applicationId: `${applicationId}\n` }],
  ["publicKey must be", { applicationId, publicKey: "" }],
  ["publicKey must be", { applicationId, publicKey: publicKey.slice(4) }],
  ["publicKey must be", { applicationId, publicKey: [publicKey, ""] }],
  ["publicKey must be", { applicationId, publicKey: [] }],
  ["publicKey must be", { applicationId, publicKey: 7 }],
  ["machineDetection must be", { applicationId, machineDetection: true }],
  ["detectionMode must be", { applicationId, detectionMode: "premium" }],
  ["detectionMode needs machineDetection", { applicationId, detectionMode: "Premium" }],
  ["ringTimeout must be", { applicationId, ringTimeout: 4_000 }],
  ["ringTimeout must be", { applicationId, ringTimeout: 5_500 }],
  ["ringTimeout must be", { applicationId, ringTimeout: 121_000 }],
  ["ringTimeout must be", { applicationId, ringTimeout: Number.NaN }],
  ["timeLimit must be", { applicationId, timeLimit: 29_000 }],
  ["timeLimit must be", { applicationId, timeLimit: 14_401_000 }],
  ["callsPerSecond must be", { applicationId, callsPerSecond: 0 }],
  ["callsPerSecond must be", { applicationId, callsPerSecond: Number.POSITIVE_INFINITY }],
  ["machine is unknown: did you mean machineDetection?", { applicationId, machine: "Enable" }],
  ["SendDigits is unknown", { applicationId, SendDigits: "1" }],
  ["options must be an object", undefined],
])("%s: %j", (words, options) => {
  try {
    telnyx(options as never);
  } catch (error) {
    expect(error).toBeInstanceOf(BadParametersException);
    expect(String(error)).toContain(words);
    expect(inspect(error)).not.toMatch(/78d335fa|149440|11qYAYK/);
    return;
  }
  expect.fail("it was taken");
});
