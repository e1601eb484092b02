import { expect, it } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { sharesOf } from "../../../src/campaigns/workers/create.ts";
import { twilio, twilioCalls } from "../../../src/carriers/twilio/index.ts";
import { people, stageOf } from "./stage.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const other = "AC00000000000000000000000000000000";
const service = twilio({ accountSid, callsPerSecond: 3 });

const reasonOf = async (open: () => Promise<unknown>): Promise<unknown> =>
  open().then(
    () => "none",
    ({ reason, message }) => reason ?? message,
  );

it("a ledger belongs to a carrier's account, whatever else the carrier's options are", async () => {
  const stage = await stageOf({ service, rate: 1 });
  for (const [options, reason] of [
    [{ service: twilio({ accountSid: other, callsPerSecond: 3 }) }, "other_campaign"],
    [{ service: "" }, "other_campaign"],
    [{ service: twilioCalls({ accountSid, ringTimeout: 20_000, authToken: "token" }) }, "none"],
  ] as const) {
    expect(await reasonOf(() => stage.reopen({ rate: 1, ...options }))).toBe(reason);
  }
});

it("the name of a carrier and its account is that of the carrier", async () => {
  const stage = await stageOf({ service, rate: 1 });
  expect(await reasonOf(() => stage.reopen({ service: `twilio:${accountSid}` }))).toBe("none");
});

it.each([
  [3, "none"],
  [0.5, "none"],
  [3.1, "rate must be at most 3, the callsPerSecond of twilio"],
  [undefined, "none"],
])("a rate of %s with 3 calls a second: %s", async (rate, words) => {
  expect(await reasonOf(() => stageOf({ service, rate }))).toBe(words);
});

it("the default rate is refused where the account has less", async () => {
  const slow = twilio({ accountSid, callsPerSecond: 0.5 });
  expect(await reasonOf(() => stageOf({ service: slow, rate: undefined }))).toBe(
    "rate must be at most 0.5, the callsPerSecond of twilio",
  );
});

it.each([7, null, {}, { name: "twilio" }, { name: "a", account: "b", callsPerSecond: 0 }])(
  "%j is no service",
  async (junk) => {
    expect(await reasonOf(() => stageOf({ service: junk as never, rate: 1 }))).toBe(
      "service must be a carrier, or a string",
    );
  },
);

it("each shard knows the pace of all of them, which the carrier counts", () => {
  const plan = {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    window: "always",
    rate: 4,
  } as const;
  expect(sharesOf(plan, "id", 2).map(({ rate, wholeRate }) => [rate, wholeRate])).toEqual([
    [2, 4],
    [2, 4],
  ]);
});

it("a list is called through the carrier, and its answers decide what may be called again", async () => {
  const statuses = [201, 429, 400, 503];
  const sent: string[] = [];
  const fetch = async (_: string, init: RequestInit) => {
    const form = new URLSearchParams(await new Response(init.body ?? null).text());
    sent.push(form.get("To") ?? "");
    const status = statuses.shift() ?? 201;
    const sid = `CA${sent.length}`;
    return Response.json(status === 201 ? { sid } : { code: 20429, message: "No." }, { status });
  };
  const stage = await stageOf({ service, rate: 3 });
  stage.answer = (params) =>
    create({ ...params, record: false }, { apiKey: "the-auth-token", service, fetch });
  await stage.campaign.add(people(4));
  await stage.play(60_000);
  const counts = new Map<string, number>();
  for (const number of sent) counts.set(number, (counts.get(number) ?? 0) + 1);
  // Only the contact of the 429 got a second POST: nothing of its first was processed.
  expect([...counts.values()].sort()).toEqual([1, 1, 1, 2]);
  expect(counts.get(sent[1] ?? "")).toBe(2);
  expect(stage.campaign.progress()).toMatchObject({ contacts: 4, waiting: 0, refused: 1 });
});
