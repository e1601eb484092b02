import { DatabaseSync } from "node:sqlite";
import { expect, onTestFinished, test } from "vitest";
import { callbackHandler } from "../../../src/callbacks/index.ts";
import { get } from "../../../src/calls/index.ts";
import { type CampaignOptions, openCampaign, type Script } from "../../../src/campaigns/index.ts";
import { createEmulator, type EmulatorOptions } from "../../../src/emulator/index.ts";
import { flowHandler, gather, hangup, say } from "../../../src/flows/index.ts";
import { Client } from "../../../src/index.ts";
import { virtualClock } from "../../../src/testing/index.ts";
import { people, secret } from "./stage.ts";

const hour = 3_600_000;

/** A Friday, a quarter to eight in the evening in Berlin. */
const evening = new Date("2026-06-05T17:45:00Z");

const window = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };

/** A telephone that is busy. */
const busy = { to_number: "+12025550101" };

/** A campaign and an emulator in one time. */
const stage = async (
  options: Partial<CampaignOptions> = {},
  {
    script = { onAnswer: () => hangup() },
    timeout = 10_000,
    ...emulated
  }: Partial<EmulatorOptions> & { readonly script?: Script; readonly timeout?: number } = {},
) => {
  const clock = virtualClock({ start: evening });
  const status = callbackHandler({ secret, onEvent: (received) => campaign.note(received) });
  const emulator = createEmulator({
    clock,
    seed: 1,
    fetch: (request) => (request.url.includes("/status") ? status(request) : flow(request)),
    ...emulated,
  });
  onTestFinished(() => emulator.close());
  const { apiKey, fetch } = emulator;
  const own = { baseUrl: "https://emulator.test", fetch, timeout };
  const client = new Client(apiKey, own);
  const campaign = await openCampaign(new DatabaseSync(":memory:"), {
    ...{ clock, secret, window: "always" },
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    create: (params, given) => client.calls.create(params, given),
    get: (id) => get(id, { apiKey, ...own }),
    ...options,
  });
  const flow = flowHandler({ secret, campaign, ...script });
  onTestFinished(() => campaign.close());
  const begun = () =>
    emulator.calls.map(({ initiated_at }) => new Date(initiated_at).toISOString().slice(5, 19));
  return { clock, emulator, campaign, begun };
};

test("a retry after two hours is made two hours later, and none outside the hours", async () => {
  const { campaign, begun } = await stage({ attempts: 3, retryDelay: 2 * hour });
  await campaign.add([busy]);
  expect(await campaign.run()).toMatchObject({ done: true, busy: 1 });
  expect(begun()).toEqual(["06-05T17:45:00", "06-05T19:45:00", "06-05T21:45:00"]);

  const weekdays = await stage({ window, attempts: 2, retryDelay: 2 * hour });
  await weekdays.campaign.add([busy]);
  await weekdays.campaign.run();
  expect(weekdays.begun()).toEqual(["06-05T17:45:00", "06-08T07:00:00"]);
});

test("a list keeps to its rate, and to its calls at once", async () => {
  const paced = await stage({ rate: 0.5 });
  await paced.campaign.add(people(4));
  await paced.campaign.run();
  expect(paced.begun().map((at) => at.slice(9))).toEqual(["45:00", "45:02", "45:04", "45:06"]);

  const alone = await stage(
    { rate: 100, concurrency: 1 },
    { ringDuration: 60_000, answerTimeout: 90_000 },
  );
  await alone.campaign.add(people(3));
  await alone.campaign.run();
  expect(alone.begun().map((at) => at.slice(9))).toEqual(["45:00", "46:00", "47:00"]);
});

test("who asks for another time is called then", async () => {
  const script: Script = {
    onAnswer: ({ contact }) =>
      contact.attempt > 1 ? say("Hello again.") : gather("When?", { digits: 1, next: "later" }),
    steps: {
      later: async ({ contact, campaign }) => {
        await campaign.callBack(contact.to_number, "2026-06-08T13:30:00Z");
        return hangup();
      },
    },
  };
  const callee = [{ type: "press", digits: "1" }] as const;
  const { campaign, begun } = await stage({ window }, { script, callee });
  await campaign.add(people(1));
  expect(await campaign.run()).toMatchObject({ done: true, completed: 1 });
  expect(begun()).toEqual(["06-05T17:45:00", "06-08T13:30:00"]);
});

test("a call whose notifications are lost is asked for, and holds its slot until then", async () => {
  const { campaign, begun } = await stage({ concurrency: 1 }, { notifications: { lost: 1 } });
  await campaign.add(people(2));
  expect(await campaign.run()).toMatchObject({ done: true, completed: 2 });
  expect(begun()).toEqual(["06-05T17:45:00", "06-05T17:46:30"]);
});

test("a call whose response is lost, and of which nothing else is known, ends as unknown", async () => {
  const unheard = { notifications: { lost: 1 }, timeout: 50 };
  const { clock, campaign } = await stage({ settleTimeout: hour }, unheard);
  await campaign.add([{ to_number: "+12025550114" }, { to_number: "+12025550112" }]);
  expect(await campaign.run()).toMatchObject({ done: true, unknown: 2 });
  expect(clock() - evening.getTime()).toBe(hour + 1_000);
});

test("a run returns when no call can begin any more", async () => {
  const sunday = Date.parse("2026-06-07");
  const sundays = Array.from({ length: 60 }, (_, week) =>
    new Date(sunday + week * 168 * hour).toISOString().slice(0, 10),
  );
  const { campaign } = await stage({ window: { ...window, days: "sun", except: sundays } });
  await campaign.add(people(1));
  expect(await campaign.run()).toMatchObject({ done: false, waiting: 1, state: "running" });
});

test("time stands still while nobody waits, and a test acts at a time of its own", async () => {
  const { clock, emulator, campaign } = await stage({ attempts: 2, retryDelay: 2 * hour });
  await campaign.add([busy]);
  expect(clock()).toBe(evening.getTime());
  const over = campaign.run();
  await clock.wait(2 * hour - 1);
  expect([clock() - evening.getTime(), emulator.calls.length]).toEqual([2 * hour - 1, 1]);
  await clock.hold(campaign.block(busy.to_number));
  expect(await over).toMatchObject({ done: true });
  expect(emulator.calls).toHaveLength(1);
});

test("live calls are ended at a time of the test's own", async () => {
  const ended: string[] = [];
  const { clock, emulator, campaign } = await stage(
    {
      end: async (id) => {
        // The service fails twice: the campaign waits before it tries again.
        if (ended.push(id) < 3) throw new Error("away");
        emulator.hangup(id);
      },
    },
    { script: { onAnswer: () => say("Please hold the line, for a long time. ".repeat(20)) } },
  );
  await campaign.add(people(1));
  const over = campaign.run();
  await clock.wait(5_000);
  expect(await campaign.endCalls()).toMatchObject({ ended: 1, failed: [] });
  expect(ended).toHaveLength(3);
  expect(await over).toMatchObject({ state: "paused" });
});

test("the same seed gives the same order and the same history", async () => {
  const run = async () => {
    const { emulator, campaign } = await stage(
      { rate: 5, attempts: 3, retryDelay: hour / 4, window },
      { notifications: { lost: 0.2, doubled: 0.3, late: 0.5 }, keep: 1_000 },
    );
    const order: string[] = [];
    const events = emulator[Symbol.asyncIterator]();
    const reading = (async () => {
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const event = next.value;
        order.push(`${event.at} ${"call_id" in event ? event.call_id : ""} ${event.type}`);
      }
    })();
    await campaign.add([
      ...people(40),
      ...Array.from({ length: 8 }, (_, digit) => ({ to_number: `+1202555010${digit}` })),
    ]);
    const progress = await campaign.run();
    await emulator.close();
    await reading;
    // The signed URLs have another campaign and other dates in each run.
    const history = emulator.calls.flatMap((call) =>
      call.history.map((entry) =>
        JSON.stringify(entry, (name, value) => (/url|headers|body/.test(name) ? undefined : value)),
      ),
    );
    return { progress, order, history };
  };
  const first = await run();
  expect(first.order.length).toBeGreaterThan(400);
  for (let times = 0; times < 3; times++) expect(await run()).toEqual(first);
});
