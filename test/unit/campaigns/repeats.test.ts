import { describe, expect, it } from "vitest";
import type { CallAtUrls } from "../../../src/calls/params.ts";
import type { CampaignOptions } from "../../../src/campaigns/options.ts";
import { ServiceException } from "../../../src/errors.ts";
import { calls } from "../../../src/fetch.ts";
import { noon, people, type Stage, secret, stageOf } from "./stage.ts";

type Options = Parameters<CampaignOptions["create"]>[1];

interface Posted {
  readonly key: string | undefined;
  readonly body: string;
  readonly notAfter: Date | undefined;
}

const minutes = 60_000;

/** A service that keeps keys, whose answers are lost until a test says otherwise. */
const keeping = () => {
  const posted: Posted[] = [];
  const calls = new Map<string, string>();
  const service = { posted, calls, isLost: true, placed: "maybe" as "maybe" | "no", code: 503 };
  const create = async (params: CallAtUrls, options: Options) => {
    const { idempotencyKey: key = "", notAfter, beforeSend } = options;
    await beforeSend?.();
    posted.push({ key, body: JSON.stringify(params), notAfter });
    const id = calls.get(key) ?? `cs_${calls.size}`;
    if (service.code === 503) calls.set(key, id);
    if (!service.isLost) return { id };
    const { placed, code } = service;
    throw new ServiceException(`HTTP ${code}`, { placed, code });
  };
  return { service, create };
};

const stageWith = async (more: Partial<CampaignOptions> = {}, count = 1) => {
  const { service, create } = keeping();
  const stage = await stageOf({ idempotent: true, account: "ours", create, ...more });
  await stage.campaign.add(people(count));
  return { stage, service, create };
};

/** One step, and the answers to it. */
const step = async (stage: Stage, passed = 0) => {
  stage.now += passed;
  await stage.campaign.step();
  await stage.campaign.idle();
};

describe("an attempt whose answer was lost, with idempotent", () => {
  it("is asked for again with the same key and body, and is the call that its id names", async () => {
    const { stage, service } = await stageWith();
    await step(stage);
    expect(stage.campaign.progress()).toMatchObject({ unclear: 1 });
    service.isLost = false;
    await step(stage, 30_000);
    expect(service.posted).toHaveLength(2);
    const [first, again] = service.posted;
    expect(again).toMatchObject({ key: first?.key, body: first?.body });
    expect(first?.key).toMatch(/^[\da-f-]{36}$/);
    expect(service.calls.size).toBe(1);
    expect(stage.campaign.progress()).toMatchObject({ unclear: 0, calling: 1 });
    await step(stage, 60_000);
    expect(service.posted).toHaveLength(2);
  });

  it("without the option has no key, and is never asked for again", async () => {
    const { stage, service } = await stageWith({ idempotent: false });
    await step(stage);
    for (let at = 0; at < 20; at++) await step(stage, minutes);
    expect(service.posted).toHaveLength(1);
    expect(service.posted[0]?.key).toBe("");
  });

  it("is asked for again after a restart, and no later than 10 minutes after its claim", async () => {
    const { stage, service } = await stageWith();
    await step(stage);
    for (const [passed, posts] of [
      [9 * minutes, 2],
      [minutes - 1, 3],
      [1, 3],
      [minutes, 3],
    ] as const) {
      const next = await stage.reopen();
      next.now = stage.now += passed;
      await step(next);
      expect(service.posted, `${stage.now - noon}`).toHaveLength(posts);
    }
    expect(new Set(service.posted.map(({ body }) => body)).size).toBe(1);
    for (const { notAfter } of service.posted)
      expect(Number(notAfter) - Date.now()).toBeLessThanOrEqual(10 * minutes);
  });

  it("is asked for again where the process was killed before its answer", async () => {
    const { service, create } = keeping();
    let isKilled = true;
    const dying: typeof create = async (params, options) => {
      await create(params, options).catch(() => {});
      return isKilled ? new Promise(() => {}) : create(params, options);
    };
    const stage = await stageOf({ idempotent: true, account: "ours", create: dying });
    await stage.campaign.add(people(1));
    await stage.campaign.step();
    isKilled = false;
    service.isLost = false;
    const next = await stage.reopen({ create });
    await step(next, 1_000);
    expect(next.campaign.progress()).toMatchObject({ calling: 1 });
    expect(service.calls.size).toBe(1);
  });

  it("is asked for at once, and then after growing pauses from 10 s on", async () => {
    const { stage, service } = await stageWith();
    const at: number[] = [];
    for (let second = 0; second < 600; second++) {
      const { length } = service.posted;
      await step(stage, second === 0 ? 0 : 1_000);
      if (service.posted.length > length) at.push(second);
    }
    expect(at).toEqual([0, 1, 11, 31, 71, 151, 271, 391, 511]);
  });

  it.each([
    ["a notification of it", (stage: Stage) => stage.tell(0, "call.initiated")],
    ["a pause", (stage: Stage) => stage.campaign.pause()],
    ["a cancel", (stage: Stage) => stage.campaign.cancel()],
    ["a block", (stage: Stage) => stage.campaign.block(people(1)[0]?.to_number ?? "")],
    ["an erasure", (stage: Stage) => stage.campaign.erase(people(1)[0]?.to_number ?? "")],
  ])("is not asked for again after %s, also at once before the POST", async (_, happen) => {
    for (const isLate of [false, true]) {
      const { stage, service } = await stageWith();
      await step(stage);
      stage.posts.push(JSON.parse(service.posted[0]?.body ?? ""));
      service.isLost = false;
      if (!isLate) await happen(stage);
      stage.now += minutes;
      const work = stage.campaign.step();
      // While the request is made again.
      if (isLate) await happen(stage);
      await work;
      await stage.campaign.idle();
      expect(service.posted).toHaveLength(1);
    }
  });

  it.each([
    [
      "the hours",
      { window: { days: "mon-fri", from: "09:00", to: "12:01", timezone: "Europe/Berlin" } },
    ],
    ["until", { until: new Date(noon + minutes) }],
  ] as const)("is not asked for again after %s", async (_, options) => {
    const { stage, service } = await stageWith(options);
    await step(stage);
    await step(stage, minutes);
    expect(service.posted).toHaveLength(1);
  });

  it("is not asked for again where the request would be another one", async () => {
    for (const [change, posts] of [
      [{ secret: "another secret that was made at random" }, 1],
      [{ record: false }, 1],
      [{ settleTimeout: 1_000_000 }, 1],
      [{ status_callback_url: "https://app.test/other" }, 1],
      [{ secret: ["another secret that was made at random", secret] }, 2],
      [{ from_number: "+12025550198" }, 2],
    ] as const) {
      const { stage, service } = await stageWith();
      await step(stage);
      const next = await stage.reopen(change);
      await step(next, minutes);
      expect(service.posted, JSON.stringify(change)).toHaveLength(posts);
      expect(new Set(service.posted.map(({ body }) => body)).size).toBe(1);
    }
  });

  it("is not asked for again after a restart with another account, nor where none is known", async () => {
    for (const [before, after, posts] of [
      ["ours", "ours", 2],
      ["ours", "theirs", 1],
      ["ours", undefined, 1],
      [undefined, "ours", 1],
      [undefined, undefined, 1],
    ] as const) {
      const { stage, service } = await stageWith({ account: before });
      await step(stage);
      const next = await stage.reopen({ account: after });
      await step(next, minutes);
      expect(service.posted, `${before}, ${after}`).toHaveLength(posts);
    }
  });

  it("is asked for again by the process that claimed it, whatever account that has", async () => {
    const { stage, service } = await stageWith({ account: undefined });
    await step(stage);
    await step(stage, minutes);
    expect(service.posted).toHaveLength(2);
  });

  it("leaves nothing of the account in the ledger", async () => {
    const account = "ak_an_account_of_ours";
    const { stage } = await stageWith({ account });
    await step(stage);
    const { database } = stage;
    if (!("prepare" in database)) throw new Error("no database");
    const [row] = database.prepare("select * from outdial_attempt").all();
    expect(row).toMatchObject({ body: expect.stringMatching(/^[\w-]{43}$/) });
    expect(JSON.stringify(row)).not.toContain(account);
  });

  it.each([
    ["a refusal", "no", 403],
    ["a conflict", "maybe", 409],
    ["a limit", "no", 429],
    ["nothing sent", "no", 307],
  ] as const)(
    "stays open after %s of a repeat, and nobody is called again",
    async (_, placed, code) => {
      const { stage, service } = await stageWith({ settleTimeout: 3_600_000 });
      await step(stage);
      Object.assign(service, { placed, code });
      await step(stage, minutes);
      expect(service.posted).toHaveLength(2);
      expect(stage.campaign.progress()).toMatchObject({ state: "running", unclear: 1, waiting: 0 });
      await stage.play(3_600_000);
      expect(new Set(service.posted.map(({ key }) => key)).size).toBe(1);
      expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
    },
  );

  it("has a key of its own for each attempt, also for one whose claim was taken back", async () => {
    const { stage, service } = await stageWith();
    Object.assign(service, { placed: "no", code: 429 });
    await step(stage);
    Object.assign(service, { placed: "maybe", code: 503 });
    await step(stage, minutes);
    await step(stage, minutes);
    const [released, claimed, again] = service.posted;
    expect(service.posted).toHaveLength(3);
    expect(again).toEqual(expect.objectContaining({ key: claimed?.key, body: claimed?.body }));
    expect(released?.key).not.toBe(claimed?.key);
  });

  it("is not asked for again by the key of a claim that was taken back", async () => {
    const { stage, service } = await stageWith();
    Object.assign(service, { placed: "no", code: 429 });
    await step(stage);
    Object.assign(service, { placed: "maybe", code: 503 });
    const without = await stage.reopen({ idempotent: false });
    await step(without, minutes);
    const again = await without.reopen({ idempotent: true });
    await step(again, minutes);
    expect(service.posted).toHaveLength(2);
    expect(service.posted[1]?.key).toBe("");
  });

  it("is not asked for again where create drops the key", async () => {
    let posts = 0;
    const create: CampaignOptions["create"] = async (_params, { notAfter }) => {
      posts++;
      throw new ServiceException(`HTTP 503 ${notAfter}`, { placed: "maybe", code: 503 });
    };
    const { stage } = await stageWith({ create });
    await step(stage);
    await step(stage, minutes);
    await step(await stage.reopen());
    expect(posts).toBe(1);
  });

  it.each<[string, (post: () => Promise<never>) => CampaignOptions["create"]]>([
    ["takes no options", (post) => (_params) => post()],
    [
      "has other options",
      (post) =>
        async (_params, { beforeSend }) => {
          await beforeSend?.();
          return post();
        },
    ],
  ])(
    "is not asked for again after a crash where create drops the key: it %s",
    async (_, dropping) => {
      let posts = 0;
      const sent = Promise.withResolvers<void>();
      const dying = dropping(() => {
        posts++;
        sent.resolve();
        return new Promise<never>(() => {});
      });
      const stage = await stageOf({ idempotent: true, account: "ours", create: dying });
      await stage.campaign.add(people(1));
      await stage.campaign.step();
      await sent.promise;
      const create = dropping(async () => {
        posts++;
        throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
      });
      const next = await stage.reopen({ create });
      await step(next, 1_000);
      await step(next, minutes);
      expect(posts).toBe(1);
    },
  );

  it.each([
    ["waits", [429], { waiting: 1, unclear: 0 }],
    ["is unclear", [503], { waiting: 0, unclear: 1 }],
    ["is unclear", [503, 429], { waiting: 0, unclear: 1 }],
  ] as const)("%s where a pause stops create after %j", async (_, statuses, progress) => {
    let posts = 0;
    const fetch = async () => {
      const status = statuses[posts++];
      if (posts === statuses.length) await stage.campaign.pause();
      return new Response("", { status: status ?? 500, headers: { "Retry-After": "0" } });
    };
    const own = { apiKey: "ak_of_a_test", baseUrl: "https://voice.test", fetch };
    const create: CampaignOptions["create"] = (params, options) =>
      calls.create(params, { ...options, ...own });
    const { stage } = await stageWith({ create, clock: Date.now });
    await stage.campaign.step();
    await stage.campaign.idle();
    expect(posts).toBe(statuses.length);
    expect(stage.campaign.progress()).toMatchObject(progress);
  });

  it("is refused with a carrier, which keeps no keys", async () => {
    const service = { name: "twilio", account: "AC1", callsPerSecond: 1_000 };
    await expect(stageOf({ idempotent: true, service })).rejects.toMatchObject({
      param: "idempotent",
    });
  });

  it("is not asked for again once its time was over, though the clock is set back into it", async () => {
    const day = 24 * 60 * minutes;
    for (const isRestarted of [false, true]) {
      const { stage, service } = await stageWith({ settleTimeout: 2 * day });
      await step(stage);
      stage.now += day;
      // What the ledger has of the day is a time of its own.
      await stage.campaign.pause();
      await stage.campaign.resume();
      await step(stage);
      const next = isRestarted ? await stage.reopen() : stage;
      await step(next, minutes - day);
      expect(service.posted, `${isRestarted}`).toHaveLength(1);
    }
  });

  it("is not asked for again by a clock that was set back before its claim", async () => {
    const { stage, service } = await stageWith();
    await step(stage);
    await step(stage, -minutes);
    await step(await stage.reopen());
    expect(service.posted).toHaveLength(1);
  });
});
