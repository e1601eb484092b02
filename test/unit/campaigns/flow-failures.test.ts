import { describe, expect, it } from "vitest";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { type FlowOptions, flowHandler, hangup } from "../../../src/flows/index.ts";
import { people, type Stage, secret, stageOf } from "./stage.ts";

const from = "+12025550199";

/** A flow request, as each service sends it. */
const services = {
  outdial: {
    service: undefined,
    body: (call_id: string, to_number: string) =>
      JSON.stringify({
        ...{ call_id, account_id: "acc_1", from_number: from, to_number, direction: "outbound" },
      }),
    headers: { "content-type": "application/json" },
  },
  twilio: {
    service: twilio({ accountSid: `AC${"0".repeat(32)}` }),
    body: (CallSid: string, To: string) =>
      new URLSearchParams({
        ...{ CallSid, AccountSid: `AC${"0".repeat(32)}`, From: from, To },
        ...{ CallStatus: "in-progress", Direction: "outbound-api", AnsweredBy: "human" },
      }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  },
  telnyx: {
    service: telnyx({ applicationId: "1" }),
    body: (CallSid: string, To: string) =>
      new URLSearchParams({
        ...{ CallSid, AccountSid: "1", From: from, To, CallStatus: "in-progress" },
      }).toString(),
    headers: { "content-type": "application/x-www-form-urlencoded" },
  },
};

type Name = keyof typeof services;

const get = (): never => {
  throw new Error("no name");
};

/** Answers the call of a POST by a flow of the application's own, and ends it as the service does: as completed. */
const answered = async (
  { posts, tell, campaign }: Stage,
  post: number,
  name: Name,
  { campaign: given = campaign, ...options }: Partial<FlowOptions<string>>,
): Promise<string> => {
  const { service, body, headers } = services[name];
  const flow = flowHandler({
    ...{ secret, campaign: given, onError: () => {}, onAnswer: () => hangup(), ...options },
    ...(service && { service }),
  });
  const { flow_url = "", to_number = "" } = posts[post] ?? {};
  const init = { method: "POST", headers, body: body(`cs_${post}`, to_number) };
  const response = await flow(new Request(flow_url, init));
  await tell(post, "call.completed", "normal");
  return response.text();
};

describe.each(Object.keys(services).map((name) => name as Name))("a flow with %s", (name) => {
  it("that fails in the application ends its contact as flow_error, and 20 in a row pause", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(30));
    await stage.play();
    const onAnswer = () => Promise.reject(new RangeError("no row of Ada, +1 202 555 0100"));
    for (let post = 0; post < 19; post++) await answered(stage, post, name, { onAnswer });
    expect(stage.campaign.progress()).toMatchObject({ flow_error: 19, state: "running" });
    await answered(stage, 19, name, { onAnswer });
    expect(stage.campaign.progress()).toMatchObject({
      state: "paused",
      reason: "the flow of 20 calls in a row failed: flowHandler failed: RangeError",
    });
  });

  it.each([
    ["whose name can't be read", () => Object.defineProperty(new Error("x"), "name", { get })],
    ["whose name is no text", () => Object.assign(new Error("x"), { name: Object.create(null) })],
  ])("that throws an error %s ends its contact as flow_error", async (_, thrown) => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    await answered(stage, 0, name, { onAnswer: () => Promise.reject(thrown()) });
    expect(stage.campaign.progress()).toMatchObject({ flow_error: 1 });
  });

  it("that works is completed", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    await answered(stage, 0, name, {});
    expect(stage.campaign.progress()).toMatchObject({ completed: 1 });
  });

  it("of an older campaign, or whose record fails, answers all the same", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    const errors: unknown[] = [];
    const text = await answered(stage, 0, name, {
      onAnswer: () => Promise.reject(new Error("no")),
      campaign: { note: () => Promise.reject(new Error("busy")) },
      onError: (error) => errors.push(error),
    });
    expect(text.toLowerCase()).toContain("hangup");
    expect(errors.slice(-2)).toEqual([new Error("busy"), new Error("no")]);
  });
});

it("what answered is recorded before onInput, which is called also where that fails", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(2));
  await stage.play();
  const known: unknown[] = [];
  const errors: unknown[] = [];
  const onInput = () => known.push([...stage.campaign.results()].map((one) => one.answered_by));
  const note = () => Promise.reject(new Error("busy"));
  await answered(stage, 0, "twilio", { onInput });
  await answered(stage, 1, "twilio", {
    ...{ onInput, campaign: { note }, onError: (error) => errors.push(error) },
  });
  expect(known).toEqual([
    ["human", undefined],
    ["human", undefined],
  ]);
  expect(errors).toEqual([new Error("busy")]);
  expect(stage.campaign.progress()).toMatchObject({ completed: 2 });
});

it("campaign needs the secret that signs the context, and a note", () => {
  const onAnswer = () => hangup();
  const verify = () => true;
  expect(() => flowHandler({ onAnswer, verify, campaign: { note: () => {} } })).toThrow(
    "secret is missing, which campaign needs",
  );
  // @ts-expect-error: JavaScript
  expect(() => flowHandler({ onAnswer, secret, campaign: {} })).toThrow(
    "campaign must be a campaign",
  );
});
