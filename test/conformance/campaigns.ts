import { assert } from "chai";
import { type CallParams, calls, ServiceException } from "outdial";
import { CallEvent, callbackHandler, type Received, verifyUrl } from "outdial/callbacks";
import { type CampaignOptions, openCampaign, openLedger } from "outdial/campaigns";
import { createEmulator } from "outdial/emulator";
import { virtualClock } from "outdial/testing";
import { parse } from "valibot";
import type { Case, Env } from "./case.ts";
import { answeringFetch, options } from "./fixtures.ts";

const secret = "a secret that was made at random";

const noon = Date.parse("2026-06-03T10:00:00Z");

const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    to_number: `+1202555${String(index).padStart(4, "0")}`,
  }));

/** A campaign in a new database of the runtime's own, and every POST that it makes. */
const stage = async ({ storage }: Env, own: Partial<CampaignOptions> = {}) => {
  if (!storage) throw new Error("the launcher gives no database");
  const posts: CallParams[] = [];
  const line = { now: noon, answer: (): string => `cs_${posts.length}` };
  const database = await storage();
  const open = () =>
    openCampaign(database, {
      from_number: "+12025550199",
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
      secret,
      create: async (params, _options) => {
        posts.push(params);
        return { id: line.answer() };
      },
      window: "always",
      rate: 1_000,
      concurrency: 1_000,
      clock: () => line.now,
      ...own,
    });
  const campaign = await open();
  const received = async (post: number, type: string, reason?: string): Promise<Received> => ({
    context: await verifyUrl(posts[post]?.status_callback_url ?? "", { secret }),
    event: parse(CallEvent, { type, call_id: `cs_${post}`, data: { reason } }),
  });
  const step = async () => {
    const wake = await campaign.step();
    await campaign.idle();
    return wake;
  };
  return { campaign, database, line, open, posts, received, step };
};

/** A list on an emulator, both in virtual time. */
const inVirtualTime = async ({ storage }: Env, own: Partial<CampaignOptions>) => {
  if (!storage) throw new Error("the launcher gives no database");
  const clock = virtualClock({ start: new Date(noon) });
  const status = callbackHandler({ secret, onEvent: (received) => campaign.note(received) });
  const fetchApp = (request: Request) =>
    request.url.includes("/status") ? status(request) : Response.json({ action: "hangup" });
  const emulator = createEmulator({ clock, seed: 1, fetch: fetchApp });
  const { apiKey, fetch } = emulator;
  const campaign = await openCampaign(await storage(), {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    ...{ secret, clock, window: "always" },
    create: (params, given) =>
      calls.create(params, {
        ...options,
        ...given,
        apiKey,
        fetch,
        baseUrl: "https://emulator.test",
      }),
    ...own,
  });
  return { clock, emulator, campaign };
};

export const cases: readonly Case[] = [
  {
    name: "in virtual time a retry after two hours follows two hours later, within the calling hours, and nothing waits",
    run: async (env) => {
      const window = { days: "mon-fri", from: "09:00", to: "15:00", timezone: "Europe/Berlin" };
      const { clock, emulator, campaign } = await inVirtualTime(env, {
        ...{ window, attempts: 3, retryDelay: 7_200_000 },
      });
      await campaign.add([{ to_number: "+12025550101" }, { to_number: "+12025550161" }]);
      assert.strictEqual(clock(), noon);
      const { busy, completed } = await campaign.run();
      assert.deepEqual({ busy, completed }, { busy: 1, completed: 1 });
      const hours = emulator.calls.map(({ initiated_at }) => (initiated_at - noon) / 3_600_000);
      assert.deepEqual(hours, [0, 1 / 3_600, 2, 21]);
      await campaign.close();
      await emulator.close();
    },
  },
  {
    name: "a campaign POSTs once for each contact, however many steps there are at once",
    run: async (env) => {
      const { campaign, line, posts } = await stage(env);
      assert.deepEqual(await campaign.add([...people(30), ...people(2)]), {
        added: 30,
        duplicate: 2,
        refused: [],
      });
      for (let round = 0; round < 40; round++) {
        await Promise.all([campaign.step(), campaign.step(), campaign.step()]);
        line.now += 10;
      }
      assert.deepEqual(
        posts.map(({ to_number }) => to_number).sort(),
        people(30).map(({ to_number }) => to_number),
      );
    },
  },
  {
    name: "the claim of an attempt outlives the campaign that made it: nobody POSTs again",
    run: async (env) => {
      const { campaign, database, line, open, posts, step } = await stage(env, {
        settleTimeout: 60_000,
      });
      await campaign.add(people(1));
      line.answer = () => {
        throw new TypeError("the process ends here");
      };
      await step();
      await campaign.close();
      const again = await open();
      for (const seconds of [1, 30, 61]) {
        line.now = noon + seconds * 1_000;
        await again.step();
        await again.idle();
      }
      assert.lengthOf(posts, 1);
      assert.deepEqual(
        Array.from(openLedger(database).results(), ({ disposition }) => disposition),
        ["unknown"],
      );
    },
  },
  {
    name: "a verified notification settles what may have been placed, and another attempt follows",
    run: async (env) => {
      const retrying = { attempts: 2, retryDelay: 60_000 };
      const { campaign, line, posts, received, step } = await stage(env, retrying);
      await campaign.add(people(1));
      line.answer = () => {
        throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
      };
      await step();
      assert.isTrue(await campaign.note(await received(0, "call.failed", "busy")));
      assert.isTrue(await campaign.note(await received(0, "call.ringing")));
      assert.strictEqual(await step(), noon + 60_000);
      line.now = noon + 60_000;
      await step();
      assert.lengthOf(posts, 2);
      await campaign.note(await received(0, "call.failed", "busy"));
      await campaign.note(await received(1, "call.completed", "normal"));
      const { done, completed } = campaign.progress();
      assert.deepEqual({ done, completed }, { done: true, completed: 1 });
    },
  },
  {
    name: "a refusal that placed nothing releases the claim, after Retry-After",
    run: async (env) => {
      const { campaign, line, posts, step } = await stage(env);
      await campaign.add(people(1));
      line.answer = () => {
        throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 5 });
      };
      await step();
      line.now = noon + 4_999;
      await step();
      assert.lengthOf(posts, 1);
      line.now = noon + 5_000;
      await step();
      assert.lengthOf(posts, 2);
      assert.deepEqual(
        Array.from(campaign.audit(), ({ event }) => event),
        ["opened", "claimed", "released", "waiting", "claimed", "released", "waiting"],
      );
    },
  },
  {
    name: "a contact is called within the hours of its own clock",
    run: async (env) => {
      const window = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };
      const { campaign, posts, received, step } = await stage(env, { window });
      const [first = { to_number: "" }, second = first] = people(2);
      await campaign.add([first, { ...second, timezone: "America/New_York" }]);
      await step();
      assert.deepEqual(
        posts.map(({ to_number }) => to_number),
        [first.to_number],
      );
      await campaign.note(await received(0, "call.completed"));
      assert.strictEqual(await step(), Date.parse("2026-06-03T13:00:00Z"));
    },
  },
  {
    name: "a call whose key comes after the end of the hours is not placed, and its contact waits",
    run: async (env) => {
      const { fetch, sent } = answeringFetch();
      const window = { days: "mon-fri", from: "09:00", to: "12:01", timezone: "Europe/Berlin" };
      const { campaign, line, step } = await stage(env, {
        window,
        create: (params, { notAfter }) => {
          const apiKey = async () => {
            while (Date.now() < Number(notAfter)) await new Promise((go) => setTimeout(go, 5));
            line.now = noon + 60_000;
            return options.apiKey;
          };
          const baseUrl = "https://voice.test";
          return calls.create(params, { ...options, notAfter, apiKey, baseUrl, fetch });
        },
      });
      await campaign.add(people(1));
      line.now = noon + 59_950;
      await step();
      assert.strictEqual(await step(), Date.parse("2026-06-04T07:00:00Z"));
      assert.lengthOf(sent, 0);
      assert.include(campaign.progress(), { waiting: 1, calling: 0, state: "running" });
    },
  },
  {
    name: "a list streams in and out of a campaign",
    run: async (env) => {
      const { campaign } = await stage(env);
      const list = async function* () {
        yield* people(3_000);
      };
      assert.include(await campaign.add(list()), { added: 3_000 });
      let count = 0;
      for (const { to_number } of campaign.results()) {
        assert.strictEqual(to_number, people(count + 1).at(-1)?.to_number);
        count++;
        if (count === 1_200) break;
      }
      assert.strictEqual(count, 1_200);
      assert.strictEqual(await campaign.block(people(1)[0]?.to_number ?? ""), 1);
      campaign.cancel();
      for (let round = 0; round < 5; round++) await campaign.step();
      const { canceled, blocked, done } = campaign.progress();
      assert.deepEqual({ canceled, blocked, done }, { canceled: 2_999, blocked: 1, done: true });
    },
  },
  {
    name: "an erased contact is refused by an HMAC of its number alone",
    run: async (env) => {
      const { campaign } = await stage(env);
      const [ada = { to_number: "" }] = people(1);
      await campaign.add([ada]);
      assert.strictEqual(await campaign.erase(ada.to_number), 1);
      assert.deepEqual(
        Array.from(campaign.results(), ({ to_number }) => to_number),
        [""],
      );
      assert.deepEqual((await campaign.add([ada])).refused, [
        { line: 1, reason: "to_number was erased" },
      ]);
    },
  },
];
