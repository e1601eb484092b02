import { parse } from "valibot";
import { describe, expect, it } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import { claim } from "../../../src/campaigns/claims.ts";
import { sqlOf } from "../../../src/campaigns/sqlite.ts";
import { contactOf } from "../../../src/campaigns/tables.ts";
import { ServiceException } from "../../../src/errors.ts";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const unavailable = () => {
  throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
};

const busy = (retryAfter?: number) => () => {
  throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter });
};

const eventsOf = (campaign: { audit: () => Iterable<{ event: string }> }) =>
  Array.from(campaign.audit(), ({ event }) => event);

describe("1: the key of an attempt is the campaign, the telephone and which attempt it is", () => {
  it("a telephone is in a campaign once: its second row is a duplicate, and isn't dialled", async () => {
    const stage = await stageOf();
    const twice = [...people(2), { to_number: people(1)[0]?.to_number ?? "", id: "again" }];
    expect(await stage.campaign.add(twice)).toEqual({ added: 2, duplicate: 1, refused: [] });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual(
      people(2).map(({ to_number }) => to_number),
    );
  });
});

describe("2: all that must hold is asked, and the claim made, in one transaction before the POST", () => {
  it("the claim is there when the POST begins", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    let seen: string[] = [];
    stage.answer = () => {
      seen = eventsOf(stage.campaign);
      return { id: "cs_0" };
    };
    await stage.play();
    expect(seen).toEqual(["opened", "claimed"]);
  });

  it.each([
    ["a pause", (stage: Awaited<ReturnType<typeof stageOf>>) => stage.campaign.pause()],
    ["a cancel", (stage: Awaited<ReturnType<typeof stageOf>>) => stage.campaign.cancel()],
    ["a block", (stage) => stage.campaign.block(people(1)[0]?.to_number ?? "")],
    [
      "the end of the window",
      (stage) => {
        stage.now = Date.parse("2026-06-03T18:00:00Z");
      },
    ],
  ] as [string, (stage: Awaited<ReturnType<typeof stageOf>>) => unknown][])(
    "%s that comes between the reading and the claim is heeded",
    async (_, happen) => {
      const window = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };
      const stage = await stageOf({ window });
      await stage.campaign.add(people(1));
      const step = stage.campaign.step();
      happen(stage); // while the URLs are being signed
      await step;
      expect(stage.posts).toEqual([]);
    },
  );
});

describe("3: who finds a claim never POSTs", () => {
  it("the ledger itself gives a claim once, to whoever comes first", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    const sql = sqlOf(stage.database);
    const contact = contactOf(sql, 1);
    if (!contact) throw new Error("no contact");
    const claims = [1, 2, 3].map(() => claim(sql, [contact], noon, noon + 60_000).size);
    expect(claims).toEqual([1, 0, 0]);
  });

  it("not two steps at once", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(20));
    await Promise.all(Array.from({ length: 5 }, () => stage.campaign.step()));
    await stage.play();
    expect(new Set(stage.posts.map(({ to_number }) => to_number)).size).toBe(20);
    expect(stage.posts).toHaveLength(20);
  });

  it("not two campaigns on one ledger, whatever each has read", async () => {
    const first = await stageOf();
    await first.campaign.add(people(20));
    const second = await first.reopen();
    second.now = first.now = noon + 2_000;
    await Promise.all([first.campaign.step(), second.campaign.step()]);
    await Promise.all([first.play(), second.play()]);
    const numbers = [...first.posts, ...second.posts].map(({ to_number }) => to_number);
    expect(numbers).toHaveLength(20);
    expect(new Set(numbers).size).toBe(20);
  });

  it("not after a crash between the claim and the answer", async () => {
    const first = await stageOf({ settleTimeout: 60_000 });
    await first.campaign.add(people(1));
    first.answer = () => new Promise(() => {});
    await first.campaign.step();
    const second = await first.reopen();
    await second.play(120_000);
    expect([first.posts.length, second.posts.length]).toEqual([1, 0]);
    expect(second.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });

  it("not when the clock is set back", async () => {
    const first = await stageOf({ attempts: 3, settleTimeout: 60_000 });
    await first.campaign.add(people(5));
    await first.play();
    first.now = noon - 86_400_000;
    await first.play();
    const second = await first.reopen();
    await second.play();
    expect([first.posts.length, second.posts.length]).toEqual([5, 0]);
  });
});

describe("4: only a certain no takes a claim back", () => {
  it("a no does, and says so in the ledger", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = busy(1);
    await stage.play(0);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, calling: 0 });
    expect(eventsOf(stage.campaign)).toEqual(["opened", "claimed", "released", "waiting"]);
    stage.answer = () => ({ id: "cs_1" });
    await stage.play(1_100);
    expect(stage.posts).toHaveLength(2);
  });

  it.each([
    ["a 503", unavailable],
    [
      "a lost connection",
      () => {
        throw new ServiceException("lost", { placed: "maybe" });
      },
    ],
    [
      "an error of the caller's own",
      () => {
        throw new TypeError("what is this?");
      },
    ],
  ])("%s doesn't", async (_, answer) => {
    const stage = await stageOf({
      attempts: 3,
      settleTimeout: 60_000,
      retryOn: ["busy", "unreachable"],
    });
    await stage.campaign.add(people(1));
    stage.answer = answer;
    await stage.play(3_600_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ done: true, unknown: 1 });
  });

  it("a no that a notification has overtaken doesn't: the notification is believed", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    let refuse = (): void => {};
    stage.answer = () =>
      new Promise((_, reject) => {
        refuse = () => reject(new ServiceException("HTTP 429", { placed: "no", code: 429 }));
      });
    await stage.campaign.step();
    await stage.tell(0, "call.ringing");
    refuse();
    await stage.play(60_000);
    expect(stage.posts).toHaveLength(1);
    await stage.tell(0, "call.completed");
    expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
  });

  it("a notification after a no brings the claim back", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = busy(5);
    await stage.play(0);
    expect(await stage.tell(0, "call.answered")).toBe(true);
    stage.answer = () => ({ id: "cs_1" });
    await stage.play(60_000);
    expect(stage.posts).toHaveLength(1);
  });
});

describe("5: the signed URL of an attempt says which it is", () => {
  it("so that a verified notification settles a maybe", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(2));
    stage.answer = unavailable;
    await stage.play();
    expect(stage.campaign.progress()).toMatchObject({ calling: 0, unclear: 2 });
    expect(await stage.tell(0, "call.failed", "busy")).toBe(true);
    expect(await stage.tell(1, "call.completed", "normal")).toBe(true);
    expect(stage.campaign.progress()).toMatchObject({ done: true, busy: 1, completed: 1 });
    const [first] = stage.campaign.results();
    expect(first).toMatchObject({ disposition: "busy", call_id: "cs_0", attempts: 1 });
  });

  it("in any order and any number of times", async () => {
    const types = [
      ["call.initiated"],
      ["call.ringing"],
      ["call.failed", "no_answer"],
      ["call.failed", "no_answer"],
    ] as const;
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [2, 0, 3, 1],
      [1, 3, 0, 2],
    ]) {
      const stage = await stageOf({ attempts: 2, retryOn: ["no_answer"], retryDelay: 60_000 });
      await stage.campaign.add(people(1));
      await stage.play();
      for (const index of order) {
        const [type, reason] = types[index] ?? ["?"];
        expect(await stage.tell(0, type, reason)).toBe(true);
      }
      await stage.play(61_000);
      expect(stage.posts).toHaveLength(2);
      // The first attempt's come again while the second is under way.
      for (const index of order) {
        const [type, reason] = types[index] ?? ["?"];
        await stage.tell(0, type, reason);
      }
      expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
      await stage.tell(1, "call.completed");
      expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
    }
  });

  it("settles even what had counted as unknown", async () => {
    const stage = await stageOf({ settleTimeout: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play(61_000);
    expect(stage.campaign.progress()).toMatchObject({ unknown: 1 });
    await stage.tell(0, "call.completed");
    expect(stage.campaign.progress()).toMatchObject({ unknown: 0, completed: 1 });
  });

  it("also where the service doesn't say which call it is about", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    const { context } = await stage.received(0, "call.failed");
    const event = parse(CallEvent, { type: "call.failed", data: { reason: "busy" } });
    expect(await stage.campaign.note({ context, event })).toBe(true);
    expect(stage.campaign.progress()).toMatchObject({ busy: 1 });
  });

  it("another campaign's says nothing", async () => {
    const stage = await stageOf();
    const other = await stageOf();
    await stage.campaign.add(people(1));
    await other.campaign.add(people(1));
    await stage.play();
    await other.play();
    expect(await stage.campaign.note(await other.received(0, "call.completed"))).toBe(false);
    const strange = { ...(await stage.received(0, "call.completed")), context: {} };
    expect(await stage.campaign.note(strange)).toBe(false);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
  });

  it("both URLs carry campaign, contact and attempt, and the contact's own id", async () => {
    const { verifyUrl } = await import("../../../src/callbacks/index.ts");
    const { secret } = await import("./stage.ts");
    const stage = await stageOf({ variables: ["name"] });
    const variables = { name: "Ada", diagnosis: "private" };
    await stage.campaign.add([{ to_number: "+12025550100", id: "A-17", variables }]);
    await stage.play();
    const [post] = stage.posts;
    const context = { campaign: stage.campaign.id, contact: 1, attempt: 1, id: "A-17" };
    expect(await verifyUrl(post?.status_callback_url ?? "", { secret })).toEqual(context);
    expect(await verifyUrl(post?.flow_url ?? "", { secret })).toEqual({
      ...context,
      variables: { name: "Ada" },
    });
  });
});

describe("6: another attempt only follows a verified final notification with a reason in retryOn", () => {
  const options = { attempts: 3, retryOn: ["busy"], retryDelay: 60_000 } as const;

  it("by the retryOn and the longer retryDelay that the process has which would call", async () => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    const later = await stage.reopen({ retryDelay: 600_000 });
    await later.play(590_000);
    expect(later.posts).toHaveLength(0);
    const other = await later.reopen({ retryOn: ["no_answer"] });
    await other.play(600_000);
    expect(other.posts).toHaveLength(0);
    expect(other.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("after the shorter retryDelay of the process that would call, and not before a Retry-After", async () => {
    const stage = await stageOf({ ...options, concurrency: 2 });
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.tell(1, "call.failed", "busy");
    const retryAfter = 600;
    stage.answer = ({ to_number }) => {
      if (to_number === numberOf(0)) return { id: "cs_2" };
      throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter });
    };
    await stage.play(61_000);
    const again = stage.posts.findLastIndex(({ to_number }) => to_number === numberOf(0));
    await stage.tell(again, "call.failed", "busy");
    const later = await stage.reopen({ retryDelay: 1_000 });
    await later.play(2_000);
    expect(later.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
    await later.play(retryAfter * 1_000);
    expect(later.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0), numberOf(1)]);
  });

  it("after the longer retryDelay of the process that would call", async () => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    const later = await stage.reopen({ retryDelay: 600_000 });
    await later.play(610_000);
    expect(later.posts).toHaveLength(1);
  });

  it("as often as attempts says, the first one counted", async () => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    for (const attempt of [0, 1, 2]) {
      await stage.play(60_000);
      await stage.tell(attempt, "call.failed", "busy");
    }
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(3);
    expect(stage.campaign.progress()).toMatchObject({ busy: 1, done: true });
  });

  it("not before retryAfter has passed", async () => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.play(59_000);
    expect(stage.posts).toHaveLength(1);
    await stage.play(2_000);
    expect(stage.posts).toHaveLength(2);
  });

  it.each([
    ["another reason", "call.failed", "no_answer"],
    ["a completed call", "call.completed", "busy"],
    ["an event that isn't final", "call.ringing", "busy"],
    ["a reason that is new", "call.failed", "on_fire"],
  ])("not after %s", async (_, type, reason) => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, type, reason);
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(1);
  });

  it("not after silence", async () => {
    const stage = await stageOf({ ...options, settleTimeout: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(1);
  });
});

describe("a maybe is no live call", () => {
  const unavailable = () => {
    throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
  };

  it("it is unclear until it is given up, and holds its slot", async () => {
    const stage = await stageOf({ concurrency: 1, settleTimeout: 60_000 });
    await stage.campaign.add(people(2));
    stage.answer = unavailable;
    const claimed = stage.now;
    await stage.play(30_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({
      ...{ calling: 0, unclear: 1, unclearUntil: claimed + 60_000, waiting: 1, done: false },
    });
    expect(stage.campaign.progress().callingSince).toBeUndefined();
    expect(await stage.campaign.drain()).toMatchObject({ unclear: 1 });
  });

  it("a notification makes it live, with its age", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = unavailable;
    const claimed = stage.now;
    await stage.play();
    await stage.tell(0, "call.ringing");
    expect(stage.campaign.progress()).toMatchObject({
      ...{ calling: 1, callingSince: claimed, unclear: 0 },
    });
  });

  it("an answer that is lost after a notification leaves it live", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = async () => {
      await stage.tell(0, "call.ringing");
      return unavailable();
    };
    await stage.play();
    expect(stage.campaign.progress()).toMatchObject({ calling: 1, unclear: 0 });
  });
});

describe("7: what stays unsettled frees its slot, never its row", () => {
  it("after the horizon the next one is called, and the silent one is unknown", async () => {
    const stage = await stageOf({ concurrency: 1, settleTimeout: 60_000 });
    await stage.campaign.add(people(2));
    await stage.play(59_000);
    expect(stage.posts).toHaveLength(1);
    await stage.play(2_000);
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual(
      people(2).map(({ to_number }) => to_number),
    );
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(2);
    expect(stage.campaign.progress()).toMatchObject({ unknown: 2, done: true });
  });
});

it("a notification of a call that no claim can have placed pauses: the ledger is a restored backup", async () => {
  const stage = await stageOf({ attempts: 3, retryDelay: 60_000 });
  await stage.campaign.add(people(2));
  await stage.play();
  const received = await stage.received(0, "call.completed");
  for (const context of [
    { ...received.context, contact: 77 },
    { ...received.context, attempt: 3 },
  ]) {
    await stage.campaign.resume();
    expect(await stage.campaign.note({ ...received, context })).toBe(false);
    expect(stage.campaign.progress()).toMatchObject({
      state: "paused",
      reason: expect.stringContaining("is it a restored backup?"),
    });
  }
  await stage.campaign.resume();
  await stage.campaign.note({ ...received, context: { ...received.context, campaign: "another" } });
  await stage.campaign.note(received);
  expect(stage.campaign.progress()).toMatchObject({ state: "running", completed: 1 });
});
