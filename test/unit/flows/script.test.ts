import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test, vi } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { openCampaign, type Script } from "../../../src/campaigns/index.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { gather, hangup, say } from "../../../src/flows/index.ts";

const secret = "a secret that was made at random";
const to_number = "+12025550100";

/** A script as `dial --script` takes it. */
const script = {
  onAnswer: ({ contact, variables }) =>
    gather(
      `${contact?.variables.name ?? variables.name}, are you coming? 1 for yes, 9 for no more calls.`,
      {
        ...{ digits: 1, as: "coming", on: { 1: "thanks", 9: "stop" } },
      },
    ),
  steps: {
    thanks: () => say("Thank you."),
    stop: async ({ contact, campaign }) => {
      await campaign.block(contact.to_number);
      return say("We will not call again.");
    },
  },
} satisfies Script<"thanks" | "stop">;

const body = (more: object = {}) =>
  JSON.stringify({
    ...{ call_id: "cs_1", account_id: "acc_1", from_number: "+12025550199", to_number },
    ...{ direction: "outbound", actions: ["say", "gather"], ...more },
  });

const ask = async (handler: (request: Request) => Promise<Response>, url: string, more?: object) =>
  (await handler(new Request(url, { method: "POST", body: body(more) }))).json();

/** A list with one call that was placed. */
const listOf = async () => {
  const urls: string[] = [];
  const campaign = await openCampaign(new DatabaseSync(":memory:"), {
    ...{ from_number: "+12025550199", secret, window: "always", variables: ["name"] },
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    create: async ({ flow_url }) => {
      urls.push(flow_url ?? "");
      return { id: "cs_1" };
    },
  });
  onTestFinished(() => campaign.close());
  await campaign.add([{ to_number, id: "A-1", variables: { name: "Ada" } }]);
  await campaign.step();
  await campaign.idle();
  return { campaign, url: urls[0] ?? expect.fail("no call") };
};

test("a script of dial --script is what flowHandler takes: its steps have contact and campaign", async () => {
  const { campaign, url } = await listOf();
  const handler = flowHandler({ secret, campaign, ...script });
  const question = await ask(handler, url);
  expect(question.prompts[0].text).toMatch(/^Ada, are you coming/);
  const told = await ask(handler, question.flow_url, { digits: "9" });
  expect(told).toMatchObject({ prompts: [{ text: "We will not call again." }] });
  expect([...campaign.results()][0]).toMatchObject({ answers: { coming: "9" } });
});

test("without campaign a step's contact and campaign are undefined", async () => {
  const given: unknown[] = [];
  const handler = flowHandler({
    secret,
    onAnswer: ({ contact, campaign }) => {
      given.push(contact, campaign);
      return hangup();
    },
  });
  await ask(handler, await signUrl("https://app.test/flow", { secret }));
  expect(given).toEqual([undefined, undefined]);
});

test("a step that fails is handed over to the campaign, as every failure of a flow", async () => {
  const { campaign, url } = await listOf();
  const onError = vi.fn();
  const failing: Script = {
    onAnswer: ({ contact }) => Promise.reject(new RangeError(`no row of ${contact.to_number}`)),
  };
  const handler = flowHandler({ secret, campaign, ...failing, onError });
  expect(await ask(handler, url)).toEqual({ action: "hangup" });
  expect(onError).toHaveBeenCalledTimes(1);
  await campaign.note({
    event: { known: true, type: "call.completed", call_id: "cs_1", data: { duration: 1 } },
    context: JSON.parse(Buffer.from(url.split(".").at(-2) ?? "", "base64url").toString()),
  });
  expect([...campaign.results()][0]).toMatchObject({
    ...{ disposition: "flow_error", reason: "flowHandler failed: RangeError" },
  });
});
