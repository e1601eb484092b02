import { expect, test } from "vitest";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { actionUrl } from "../../../src/flows/action-url.ts";
import { dial, hangup, play } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";

const secret = "a secret of sixteen characters";
const flow = "https://app.test/flow";
const action = dial("+12025550123", { timeout: 20 });

/** What an isolate that knows only its secrets answers the request of a call. */
const answerOf = async (url: string, call_id: string, secrets: string | readonly string[]) => {
  const refusals: unknown[] = [];
  const handler = flowHandler({
    secret: secrets,
    onAnswer: () => hangup(),
    onError: (error) => refusals.push(Object(error).reason),
  });
  const body = JSON.stringify({
    ...{ call_id, account_id: "acc_1", direction: "outbound" },
    ...{ from_number: "+12025550199", to_number: "+12025550100" },
  });
  const response = await handler(new Request(url, { method: "POST", body }));
  return response.ok ? await response.json() : refusals[0];
};

test("another isolate answers with the action, also with a secret that is being replaced", async () => {
  const url = await actionUrl(flow, {
    secret: [secret, "an older one of sixteen"],
    call_id: "cs_1",
    action,
  });
  expect(await answerOf(url, "cs_1", secret)).toEqual(action);
  expect(await answerOf(url, "cs_1", ["a newer one of sixteen", secret])).toEqual(action);
  expect(await answerOf(url, "cs_1", "a newer one of sixteen")).toBe("wrong_token");
});

test("the decision of one call is refused in another, and nobody reads the number in it", async () => {
  const url = await actionUrl(`${flow}?tenant=1`, { secret, call_id: "cs_1", action });
  expect(await answerOf(url, "cs_2", secret)).toBe("wrong_call");
  expect(await answerOf(url.replace("tenant=1", "tenant=2"), "cs_1", secret)).toBe("wrong_token");
  const texts = url.match(/[\w-]{8,}/g)?.map((one) => Buffer.from(one, "base64url").toString());
  expect([url, ...(texts ?? [])].join()).not.toContain("2025550123");
});

test("a carrier gets it in its own words", async () => {
  const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
  const url = await actionUrl(flow, { secret, call_id: "CA1", action, service });
  const handler = flowHandler({
    secret,
    service,
    dangerouslyAllowUnverified: true,
    onAnswer: () => hangup(),
  });
  const body = new URLSearchParams({
    ...{
      CallSid: "CA1",
      AccountSid: "AC00000000000000000000000000000000",
      Direction: "outbound-api",
    },
    ...{ From: "+12025550199", To: "+12025550100", CallStatus: "in-progress" },
  });
  const response = await handler(new Request(url, { method: "POST", body }));
  expect(await response.text()).toContain("+12025550123");
});

test.each<[string, object, string]>([
  ["secret", { secret: "short" }, "16 characters"],
  ["call_id", { call_id: "" }, "the id"],
  ["to", { action: { action: "dial", to: "123" } }, "E.164"],
  ["action", { action: { action: "gather", prompts: ["?"] } }, "must be a dial"],
])("%s: %j is refused", async (_, more, rule) => {
  await expect(actionUrl(flow, { secret, call_id: "cs_1", action, ...more })).rejects.toThrow(rule);
  await expect(
    actionUrl("ftp://x.test", { secret, call_id: "c", action: play("https://a.test/b") }),
  ).rejects.toThrow("https");
});

test("its state is no context: verifyUrl refuses it", async () => {
  const url = await actionUrl(flow, { secret, call_id: "cs_1", action });
  await expect(verifyUrl(url, { secret })).rejects.toMatchObject({ reason: "wrong_token" });
});
