import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import type { CallAtUrls } from "../../../src/calls/params.ts";
import {
  LedgerException,
  type NamedService,
  openCampaign,
  openLedger,
  type ServicesOptions,
} from "../../../src/campaigns/index.ts";
import { NetworkException, ServiceException } from "../../../src/errors.ts";
import { noon, numberOf, people, secret } from "./stage.ts";

interface Post {
  readonly service: string;
  readonly params: CallAtUrls;
}

type Names = "main" | "spare";

const refusal = (code: number, retryAfter?: number): Error =>
  new ServiceException(`HTTP ${code}`, { placed: "no", code, retryAfter });

const unreachable = (): Error => new NetworkException("refused", { placed: "no" });

/** A campaign of two services, which answer as a test says. */
const stageOf = async (
  own: Partial<Record<Names, Partial<NamedService>>> = {},
  list: Partial<ServicesOptions> = {},
  database = new DatabaseSync(":memory:"),
  start = noon,
) => {
  const posts: Post[] = [];
  const time = { now: start };
  const answers: Record<Names, () => unknown> = { main: () => {}, spare: () => {} };
  const serviceOf = (name: Names): NamedService => ({
    name,
    from_number: name === "main" ? "+12025550198" : "+12025550199",
    flow_url: `https://app.test/${name}/flow`,
    status_callback_url: `https://app.test/${name}/status`,
    create: async (params, _options) => {
      posts.push({ service: name, params });
      await answers[name]();
      return { id: `${name}_${posts.length - 1}` };
    },
    rate: 1000,
    concurrency: 2,
    ...own[name],
  });
  const services = [serviceOf("main"), serviceOf("spare")];
  const clock = () => time.now;
  const campaign = await openCampaign(database, {
    ...{ services, secret, window: "always", clock, ...list },
  });
  const received = async (post: number, type: string, reason?: string) => {
    const context = await verifyUrl(posts[post]?.params.status_callback_url ?? "", { secret });
    const data = reason === undefined ? {} : { reason };
    return { context, event: parse(CallEvent, { type, call_id: `call_${post}`, data }) };
  };
  return {
    campaign,
    database,
    services,
    clock,
    posts,
    answers,
    time,
    received,
    by: (name: Names) => posts.filter(({ service }) => service === name),
    tell: async (post: number, type: string, reason?: string) =>
      campaign.note(await received(post, type, reason), {
        service: String(posts[post]?.service),
      }),
    step: async (passed = 0) => {
      time.now += passed;
      const wake = await campaign.step();
      await campaign.idle();
      return wake;
    },
    reopen: (
      more: Partial<Record<Names, Partial<NamedService>>> = own,
      other: Partial<ServicesOptions> = {},
    ) => stageOf(more, { ...list, ...other }, database, time.now),
  };
};

type Stage = Awaited<ReturnType<typeof stageOf>>;

/** Ends every call that is live, by the services that have them. */
const endAll = async ({ posts, tell }: Stage) => {
  for (const index of posts.keys()) await tell(index, "call.completed");
};

describe("a campaign with several services", () => {
  it("claims each contact for one that has a free slot, whose URLs, sender and name the attempt keeps", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(6));
    for (let at = 0; at < 5; at++) await stage.step(1_000);
    expect(stage.by("main")).toHaveLength(2);
    expect(stage.by("spare")).toHaveLength(2);
    for (const { service, params } of stage.posts) {
      expect(params.flow_url).toContain(`https://app.test/${service}/flow`);
      expect(params.from_number).toBe(service === "main" ? "+12025550198" : "+12025550199");
    }
    const results = [...stage.campaign.results()];
    const ofNumber = new Map(stage.posts.map(({ service, params }) => [params.to_number, service]));
    for (const { to_number, service } of results) expect(service).toBe(ofNumber.get(to_number));
    await stage.step(5_000);
    expect(stage.posts).toHaveLength(4);
    await stage.tell(0, "call.completed");
    await stage.step();
    expect(stage.posts).toHaveLength(5);
    expect(stage.posts[4]?.service).toBe(stage.posts[0]?.service);
  });

  it("keeps to the rate of each", async () => {
    const slow = { rate: 1, concurrency: 100 };
    const stage = await stageOf({ main: { ...slow, rate: 2 }, spare: slow });
    await stage.campaign.add(people(20));
    expect(stage.campaign.rate).toBe(3);
    for (let at = 0; at < 400; at++) await stage.step(10);
    expect(stage.by("main").length).toBeGreaterThan(6);
    expect(stage.by("main").length).toBeLessThanOrEqual(8);
    expect(stage.by("spare").length).toBeLessThanOrEqual(4);
  });

  it.each([401, 403, 404])(
    "pauses one that answers %d alone, and its contact goes to the other",
    async (code) => {
      const stage = await stageOf({ spare: { concurrency: 10 } });
      stage.answers.main = () => {
        throw refusal(code);
      };
      await stage.campaign.add(people(6));
      for (let at = 0; at < 10; at++) await stage.step(1_000);
      expect(stage.by("main").length).toBeLessThanOrEqual(2);
      expect(stage.by("spare")).toHaveLength(6);
      expect(stage.campaign.progress()).toMatchObject({ state: "running", calling: 6 });
      await endAll(stage);
      stage.answers.main = () => {};
      await stage.campaign.add([{ to_number: numberOf(10) }, { to_number: numberOf(11) }]);
      await stage.campaign.resume();
      const before = stage.by("main").length;
      await stage.step(1_000);
      expect(stage.by("main").length + stage.by("spare").length).toBe(before + 8);
      expect(stage.by("main").length).toBe(before + 2);
    },
  );

  it("is paused once all of them are, with the reason of each", async () => {
    const stage = await stageOf();
    stage.answers.main = () => {
      throw refusal(401);
    };
    stage.answers.spare = () => {
      throw refusal(403);
    };
    await stage.campaign.add(people(6));
    for (let at = 0; at < 5; at++) await stage.step(1_000);
    expect(stage.campaign.progress()).toMatchObject({
      state: "paused",
      reason: "main: HTTP 401 (no call was placed); spare: HTTP 403 (no call was placed)",
      waiting: 6,
    });
    const { length } = stage.posts;
    await stage.step(60_000);
    expect(stage.posts).toHaveLength(length);
  });

  it.each([
    ["a 429", () => refusal(429, 30)],
    ["a refused connection", unreachable],
  ])("lets one rest after %s, and its contact goes to the other", async (_, error) => {
    const stage = await stageOf({ spare: { concurrency: 100 } });
    let isDown = true;
    stage.answers.main = () => {
      if (isDown) throw error();
    };
    await stage.campaign.add(people(40));
    for (let at = 0; at < 25; at++) await stage.step(1_000);
    expect(stage.by("main").length).toBeLessThan(12);
    expect(stage.campaign.progress()).toMatchObject({ state: "running", calling: 40, expired: 0 });
    isDown = false;
    await endAll(stage);
    await stage.campaign.add([{ to_number: numberOf(60) }, { to_number: numberOf(61) }]);
    const before = stage.by("main").length;
    await stage.step(60_000);
    expect(stage.by("main").length).toBe(before + 2);
  });

  it("asks another one for a contact that the first has refused, and ends it as refused after all", async () => {
    const stage = await stageOf();
    const refuse = () => {
      throw refusal(400);
    };
    stage.answers.main = refuse;
    stage.answers.spare = refuse;
    await stage.campaign.add(people(1));
    for (let at = 0; at < 5; at++) await stage.step(1_000);
    expect(stage.posts.map(({ service }) => service).sort()).toEqual(["main", "spare"]);
    expect(stage.campaign.progress()).toMatchObject({ refused: 1, done: true });
  });

  it("pauses one that refuses 20 contacts in a row, all of whom the other one calls", async () => {
    const stage = await stageOf({ main: { concurrency: 5 }, spare: { concurrency: 200 } });
    stage.answers.main = () => {
      throw refusal(400);
    };
    await stage.campaign.add(people(60));
    for (let at = 0; at < 100; at++) await stage.step(1_000);
    expect(stage.by("main").length).toBeGreaterThanOrEqual(20);
    expect(stage.by("main").length).toBeLessThan(25);
    expect(stage.by("spare")).toHaveLength(60);
    expect(stage.campaign.progress()).toMatchObject({ refused: 0, calling: 60 });
    expect([...stage.campaign.audit()].map(({ detail }) => detail)).toContain(
      "main: 20 contacts in a row were refused: HTTP 400 (no call was placed)",
    );
  });

  it("lets contacts pass those whom only a busy service may call, which wait for it", async () => {
    const stage = await stageOf({ main: { concurrency: 100 }, spare: { concurrency: 1 } });
    const odd = ({ params }: Post) => Number(params.to_number.slice(-1)) % 2 === 1;
    stage.answers.main = () => {
      const last = stage.posts.at(-1);
      if (last && odd(last)) throw refusal(400);
    };
    await stage.campaign.add(people(40));
    for (let at = 0; at < 60; at++) await stage.step(1_000);
    expect(stage.by("main").filter((post) => !odd(post)).length).toBeGreaterThanOrEqual(19);
    for (let at = 0; at < 900 && stage.campaign.progress().waiting > 0; at++) {
      await endAll(stage);
      await stage.step(1_000);
    }
    expect(stage.campaign.progress()).toMatchObject({ waiting: 0, refused: 0 });
  });

  it("keeps a contact that may have been called at its service: no other asks for it", async () => {
    const stage = await stageOf();
    stage.answers.main = () => {
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    await stage.campaign.add(people(2));
    for (let at = 0; at < 50; at++) await stage.step(10_000);
    expect(new Set(stage.posts.map(({ params }) => params.to_number)).size).toBe(2);
    expect(stage.posts).toHaveLength(2);
  });

  it("calls by another one at the next attempt, by that one's own number", async () => {
    const stage = await stageOf({}, { attempts: 2, retryDelay: 1_000 });
    await stage.campaign.add(people(1));
    await stage.step();
    const [first] = stage.posts;
    await stage.tell(0, "call.failed", "busy");
    const down = first?.service === "main" ? "main" : "spare";
    stage.answers[down] = () => {
      throw refusal(401);
    };
    for (let at = 0; at < 6; at++) await stage.step(1_000);
    const last = stage.posts.at(-1);
    expect(last?.service).not.toBe(first?.service);
    expect(last?.params.from_number).not.toBe(first?.params.from_number);
    const [result] = stage.campaign.results();
    expect(result).toMatchObject({ service: last?.service, attempts: 2 });
  });
});

describe("a service that asked to wait", () => {
  const asks = (retryAfter?: number) => () => {
    throw refusal(429, retryAfter);
  };

  it("rests for Retry-After", async () => {
    const stage = await stageOf({ main: { concurrency: 1 }, spare: { concurrency: 5 } });
    stage.answers.main = asks(300);
    await stage.campaign.add(people(40));
    for (let at = 0; at < 29; at++) await stage.step(10_000);
    expect(stage.by("main")).toHaveLength(1);
    await stage.step(20_000);
    expect(stage.by("main")).toHaveLength(2);
  });

  it("rests for a second again, once it has placed a call in between", async () => {
    const stage = await stageOf({ spare: { concurrency: 5 } });
    stage.answers.main = asks();
    await stage.campaign.add(people(40));
    for (let at = 0; at < 40; at++) await stage.step(1_000);
    stage.answers.main = () => {};
    await stage.step(60_000);
    await endAll(stage);
    stage.answers.main = asks();
    await stage.step(1_000);
    stage.answers.main = () => {};
    const before = stage.by("main").length;
    await stage.step(2_500);
    expect(stage.by("main").length).toBeGreaterThan(before);
  });

  it("is asked again once the clock was set back", async () => {
    const stage = await stageOf({ spare: { concurrency: 5 } });
    stage.answers.main = asks(300);
    await stage.campaign.add(people(40));
    await stage.step();
    stage.answers.main = () => {};
    await stage.step(-3_600_000);
    await stage.step(1_000);
    expect(stage.by("main").length).toBeGreaterThan(1);
  });

  it("pauses the campaign once all ask so, 20 times in a row, and nobody was called", async () => {
    const stage = await stageOf();
    stage.answers.main = asks();
    stage.answers.spare = asks();
    await stage.campaign.add(people(3));
    for (let at = 0; at < 200 && stage.campaign.progress().state === "running"; at++) {
      await stage.step(30_000);
    }
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", waiting: 3, expired: 0 });
  });
});

describe("a contact that one of several services has refused", () => {
  const refuses = () => {
    throw refusal(400);
  };

  it("is called within a minute once the other one, which was busy for long, is free", async () => {
    const stage = await stageOf({ spare: { concurrency: 1 } });
    stage.answers.main = refuses;
    await stage.campaign.add(people(2));
    for (let at = 0; at < 180; at++) await stage.step(10_000);
    expect(stage.by("spare")).toHaveLength(1);
    const ended = stage.posts.findIndex(({ service }) => service === "spare");
    await stage.tell(ended, "call.completed");
    await stage.step(60_000);
    expect(stage.by("spare")).toHaveLength(2);
  });

  it("ends as refused once none of the list's services is left for it", async () => {
    const third: NamedService = {
      name: "third",
      from_number: "+12025550197",
      flow_url: "https://app.test/third/flow",
      status_callback_url: "https://app.test/third/status",
      create: async (params, _) => {
        stage.posts.push({ service: "third", params });
        return { id: "third_0" };
      },
      concurrency: 1,
    };
    const stage = await stageOf();
    stage.answers.main = refuses;
    stage.answers.spare = refuses;
    const { clock, services } = stage;
    await stage.campaign.close();
    const all = { services: [third, ...services], secret, window: "always", clock } as const;
    const first = await openCampaign(stage.database, all);
    await first.add(people(2));
    for (let at = 0; at < 5; at++) {
      stage.time.now += 1_000;
      await first.step();
      await first.idle();
    }
    expect(stage.posts.map(({ service }) => service)).toEqual(["third", "main", "spare"]);
    await first.note(await stage.received(0, "call.completed"), { service: "third" });
    await first.close();
    const next = await stage.reopen();
    await next.step(60_000);
    expect(next.posts).toEqual([]);
    expect(next.campaign.progress()).toMatchObject({ refused: 1, completed: 1, done: true });
  });
});

it("perDay limits the calls of all services together", async () => {
  const stage = await stageOf({}, { perDay: 3 });
  await stage.campaign.add(people(6));
  for (let at = 0; at < 5; at++) await stage.step(1_000);
  expect(stage.posts).toHaveLength(3);
});

describe("a notification to a campaign with several services", () => {
  it("counts only for the attempts of the service whose handler has verified it", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    await stage.step();
    const [{ service: own }, { service: other }] = stage.posts as [Post, Post];
    expect(own).not.toBe(other);
    const forged = await stage.received(0, "call.completed");
    expect(await stage.campaign.note(forged, { service: other })).toBe(false);
    const { context } = forged;
    const answer = { call: { call_id: "x" }, context, answers: { visit: "1" } };
    expect(await stage.campaign.note(answer, { service: other })).toBe(false);
    expect(stage.campaign.progress()).toMatchObject({ calling: 2, completed: 0 });
    expect(stage.campaign.answerNames()).toEqual([]);
    expect(await stage.campaign.note(forged, { service: own })).toBe(true);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1, completed: 1 });
  });

  it.each([undefined, {}, { service: "third" }])(
    "rejects without a known name: %o",
    async (sender) => {
      const stage = await stageOf();
      await stage.campaign.add(people(1));
      await stage.step();
      const received = await stage.received(0, "call.completed");
      await expect(stage.campaign.note(received, sender)).rejects.toThrow(/^service must be/);
      expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
    },
  );

  it("of one that refused the attempt is not that of the other, which has it now", async () => {
    const stage = await stageOf();
    stage.answers.main = () => {
      throw refusal(400);
    };
    stage.answers.spare = stage.answers.main;
    await stage.campaign.add(people(1));
    await stage.step();
    const [{ service: first }] = stage.posts as [Post];
    stage.answers.main = () => {};
    stage.answers.spare = () => {};
    await stage.step(1_000);
    expect(stage.posts).toHaveLength(2);
    const received = await stage.received(0, "call.completed");
    expect(await stage.campaign.note(received, { service: first })).toBe(false);
    expect(await stage.tell(1, "call.completed")).toBe(true);
  });
});

describe("a notification of a service that another one follows, in a file", () => {
  const fileOf = (): string => {
    const folder = mkdtempSync(join(tmpdir(), "services-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    return join(folder, "people.outdial");
  };
  const refuses = () => {
    throw refusal(400);
  };

  it.each(["end", "answer", "recording"] as const)(
    "does not count for the claim of the other, which is committed with it: %s",
    async (kind) => {
      const stage = await stageOf({ main: { concurrency: 1 } }, {}, new DatabaseSync(fileOf()));
      stage.answers.main = refuses;
      await stage.campaign.add(people(2));
      await stage.step();
      const [refused, live] = ["main", "spare"].map((name) =>
        stage.posts.findIndex(({ service }) => service === name),
      ) as [number, number];
      const forged = await stage.received(refused, "call.failed", "busy");
      const { context } = forged;
      const given = {
        end: forged,
        answer: { call: { call_id: "x" }, context, answers: { visit: "1" } },
        recording: { call: { call_id: "x" }, context, recording_id: "rec_1" },
      }[kind] as typeof forged;
      const answered = await stage.received(live, "call.answered");
      const realTimeout = setTimeout;
      const held: (() => void)[] = [];
      let isHeld = false;
      vi.spyOn(performance, "now").mockReturnValue(performance.now());
      vi.stubGlobal("setTimeout", (work: () => void, wait?: number) =>
        isHeld ? held.push(work) : realTimeout(work, wait),
      );
      onTestFinished(() => {
        vi.unstubAllGlobals();
        vi.restoreAllMocks();
      });
      // From a commit on the next ones wait for each other.
      await stage.campaign.note(answered, { service: "spare" });
      stage.time.now += 2_000;
      isHeld = true;
      const stepped = stage.campaign.step();
      for (let turns = 0; held.length === 0 && turns < 10_000; turns++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const noted = stage.campaign.note(given, { service: "main" });
      isHeld = false;
      for (const work of held) work();
      await stepped;
      await stage.campaign.idle();
      expect(await noted).toBe(false);
      expect(stage.by("spare")).toHaveLength(2);
      expect(stage.campaign.progress()).toMatchObject({ calling: 2 });
      await stage.campaign.close();
    },
  );

  it("is that of the call, where a restored backup has the refusal of the other alone", async () => {
    const file = fileOf();
    const stage = await stageOf({}, {}, new DatabaseSync(file));
    stage.answers.main = refuses;
    await stage.campaign.add(people(1));
    await stage.step();
    copyFileSync(file, `${file}-backup`);
    await stage.step(1_000);
    expect(stage.posts.map(({ service }) => service)).toEqual(["main", "spare"]);
    const ended = await stage.received(1, "call.completed");
    await stage.campaign.close();
    const restored = await stageOf({}, {}, new DatabaseSync(`${file}-backup`), stage.time.now);
    expect(await restored.campaign.note(ended, { service: "spare" })).toBe(true);
    await restored.step(2_000);
    expect(restored.posts).toEqual([]);
    expect([...restored.campaign.results()]).toMatchObject([
      { disposition: "completed", service: "spare" },
    ]);
    expect(restored.campaign.progress()).toMatchObject({
      state: "paused",
      reason: expect.stringContaining("is it a restored backup?"),
    });
    await restored.campaign.close();
  });
});

describe("the ledger of a campaign with several services", () => {
  const close = async ({ campaign }: Stage) => campaign.close();
  const only = (stage: Stage, ...names: readonly string[]) => {
    const options = names.map((name) => ({
      name,
      from_number: "+12025550199",
      flow_url: `https://app.test/${name}/flow`,
      status_callback_url: `https://app.test/${name}/status`,
      create: async (_: unknown, __: unknown) => ({ id: "x" }),
    }));
    return openCampaign(stage.database, { services: options, secret, window: "always" });
  };

  it("takes a further one, and lets one go that has no live calls", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    await stage.step();
    await close(stage);
    await expect(only(stage, "main")).rejects.toMatchObject({ reason: "missing_service" });
    await (await only(stage, "main", "spare", "third")).close();
    const again = await stage.reopen();
    again.posts.push(...stage.posts);
    await endAll(again);
    await close(again);
    await (await only(stage, "third")).close();
    await expect(only(stage, "fourth")).rejects.toMatchObject({ reason: "other_campaign" });
    expect(openLedger(stage.database).serviceNames()).toEqual(["main", "spare", "third"]);
  });

  it("is refused to another flow under the same name, and to a campaign of one without a name", async () => {
    const stage = await stageOf();
    await close(stage);
    const other = { main: { flow_url: "https://app.test/other" } };
    await expect(stage.reopen(other)).rejects.toMatchObject({ reason: "other_campaign" });
    const one = openCampaign(stage.database, {
      from_number: "+12025550199",
      flow_url: "https://app.test/main/flow",
      status_callback_url: "https://app.test/main/status",
      secret,
      create: async () => ({ id: "x" }),
      window: "always",
    });
    await expect(one).rejects.toBeInstanceOf(LedgerException);
  });

  it("keeps each attempt at its service over a crash", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    await stage.step();
    const next = await stage.reopen();
    expect(
      await next.campaign.note(await stage.received(0, "call.completed"), {
        service: stage.posts[1]?.service,
      }),
    ).toBe(false);
    expect(
      await next.campaign.note(await stage.received(0, "call.completed"), {
        service: stage.posts[0]?.service,
      }),
    ).toBe(true);
  });
});

describe("the options of several services", () => {
  it.each([
    [[], /^services must have names/],
    [[{ name: "a" }, { name: "a" }], /is missing/],
    [[{ name: "A" }], /^services must have names of their own, such as "main"/],
    [[{ name: "a", attempts: 2 }], /^attempts is unknown/],
  ])("%o is refused", async (services, message) => {
    const options = { services, secret, window: "always" } as unknown as ServicesOptions;
    await expect(openCampaign(new DatabaseSync(":memory:"), options)).rejects.toThrow(message);
  });

  it("of their own are refused beside them", async () => {
    const beside = stageOf({}, { rate: 5 } as Partial<ServicesOptions>);
    await expect(beside).rejects.toThrow("rate is each service's own: give it in services");
  });
});

describe("calls of several services", () => {
  it("are read and ended by the service that has them", async () => {
    const asked: string[] = [];
    const functions = (name: string) => ({
      get: async (id: string) => {
        asked.push(`${name} get ${id.split("_")[0]}`);
        return { state: "answered" } as const;
      },
      end: async (id: string) => {
        asked.push(`${name} end ${id.split("_")[0]}`);
      },
    });
    const stage = await stageOf({ main: functions("main"), spare: functions("spare") });
    await stage.campaign.add(people(2));
    await stage.step();
    await stage.step(95_000);
    await stage.step(2_000);
    expect(new Set(asked)).toEqual(new Set(["main get main", "spare get spare"]));
    asked.length = 0;
    const { ended } = await stage.campaign.endCalls();
    expect(ended).toBe(2);
    expect(asked.filter((each) => each.includes("end")).sort()).toEqual([
      "main end main",
      "spare end spare",
    ]);
  });

  it("are ended from another process by the functions of the service that has them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "services-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const database = new DatabaseSync(join(folder, "people.outdial"));
    const stage = await stageOf({}, {}, database);
    await stage.campaign.add(people(2));
    await stage.step();
    await stage.campaign.close();
    const ended: string[] = [];
    const end = (name: string) => async (id: string) => {
      ended.push(`${name} ${id.split("_")[0]}`);
    };
    const services = { main: { end: end("main") }, spare: { end: end("spare") } };
    expect(await openLedger(database).endCalls({ services })).toMatchObject({ ended: 2 });
    expect(ended.sort()).toEqual(["main main", "spare spare"]);
  });

  it("are asked for again at the same service with the same key, though the other is free", async () => {
    const keys: (readonly [string, string | undefined])[] = [];
    let isLost = true;
    const create =
      (name: string): NamedService["create"] =>
      async (_, { idempotencyKey, beforeSend }) => {
        await beforeSend?.();
        keys.push([name, idempotencyKey]);
        if (isLost) throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
        return { id: `${name}_1` };
      };
    const own = {
      main: { create: create("main"), account: "ours" },
      spare: { create: create("spare"), account: "ours" },
    };
    const stage = await stageOf(own, { idempotent: true });
    await stage.campaign.add(people(2));
    await stage.step();
    isLost = false;
    const next = await stage.reopen(own);
    await next.step(30_000);
    expect(keys).toHaveLength(4);
    expect([...keys.slice(2)].sort()).toEqual([...keys.slice(0, 2)].sort());
    expect(next.campaign.progress()).toMatchObject({ calling: 2, unclear: 0 });
  });

  it("are not asked for again while their service is paused", async () => {
    const posts: [string, string | undefined][] = [];
    const create: NamedService["create"] = async (
      { to_number },
      { idempotencyKey, beforeSend },
    ) => {
      await beforeSend?.();
      posts.push([to_number, idempotencyKey]);
      if (to_number !== numberOf(0)) throw refusal(401);
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    const stage = await stageOf({ main: { create, concurrency: 5 } }, { idempotent: true });
    await stage.campaign.add(people(2));
    await stage.step(10_000);
    expect(posts.map(([to_number]) => to_number)).toEqual([numberOf(0), numberOf(1)]);
    for (let at = 0; at < 10; at++) await stage.step(10_000);
    expect(posts).toHaveLength(2);
    await stage.campaign.resume();
    await stage.step(10_000);
    expect(posts[2]).toEqual(posts[0]);
  });

  it("are not asked for again once the account of their service is another", async () => {
    let posts = 0;
    const create: NamedService["create"] = async (_, { idempotencyKey }) => {
      if (idempotencyKey) posts++;
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    const own = (account: string) => ({
      main: { create, account },
      spare: { create, account },
    });
    const stage = await stageOf(own("ours"), { idempotent: true });
    await stage.campaign.add(people(2));
    await stage.step();
    const next = await stage.reopen(own("another"));
    await next.step(30_000);
    expect(posts).toBe(2);
  });
});
