import { expect, it } from "vitest";
import { telnyx } from "../../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../../src/carriers/vonage/index.ts";
import { liveCallsOf } from "../../../../src/cli/dial/live-calls.ts";

const accountSid = "AC00000000000000000000000000000000";
const applicationId = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab";

it.each([
  ["outdial's own interface", { baseUrl: "https://voice.example" }],
  ["Twilio", { service: twilio({ accountSid }) }],
  ["Vonage", { service: vonage({ applicationId }) }],
  ["Telnyx", { service: telnyx({ applicationId: "1", accountSid: applicationId }) }],
])("calls are asked for and ended at %s", (_, endpoint) => {
  const { functions, warnings } = liveCallsOf("a key", endpoint);
  expect(Object.keys(functions).sort()).toEqual(["end", "get"]);
  expect(warnings).toEqual([]);
});

it("calls are ended and not asked for at Telnyx without its account: the plan says so", () => {
  const { functions, warnings } = liveCallsOf("a key", { service: telnyx({ applicationId: "1" }) });
  expect(Object.keys(functions)).toEqual(["end"]);
  expect(warnings).toEqual([expect.stringContaining("Telnyx needs OUTDIAL_ACCOUNT_SID")]);
});
