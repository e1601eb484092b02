import { describe, expect, it } from "vitest";
import { ServiceException } from "../../../src/errors.ts";
import { people, type Stage, stageOf } from "./stage.ts";

/** An exception whose facts can't be read. */
const odd = (): ServiceException =>
  Object.defineProperty(new ServiceException("x", { placed: "no", code: 429 }), "retryAfter", {
    get: () => {
      throw new Error("no");
    },
  });

const busy = (retryAfter: number) => () => {
  throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter });
};

describe("what create gives", () => {
  it.each([
    ["an object without an id", () => Object({})],
    ["an id that is none", () => Object({ id: {} })],
    ["an id that is too large a number", () => Object({ id: 2n ** 70n })],
    ["nothing", () => Object(undefined)],
    [
      "an exception that can't be read",
      () => {
        throw odd();
      },
    ],
  ])("%s may be a call: it is waited for, and the next one is called", async (_, answer) => {
    const stage = await stageOf({ settleTimeout: 60_000 });
    await stage.campaign.add(people(3));
    stage.answer = answer;
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(3);
    expect(stage.campaign.progress()).toMatchObject({ unknown: 3, done: true });
  });

  it.each([
    [Number.NaN, 1_000],
    [-1e9, 1_000],
    [Number.POSITIVE_INFINITY, 86_400_000],
  ])("a wait of %d seconds is %d milliseconds", async (retryAfter, wait) => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = busy(retryAfter);
    await stage.play(0);
    expect(await stage.campaign.step()).toBe(stage.now + wait);
  });
});

describe("a service that is down", () => {
  it("pauses the campaign after 20 answers that asked to wait, and costs no contact", async () => {
    const stage = await stageOf({ rate: 10 });
    await stage.campaign.add(people(3));
    stage.answer = busy(1);
    await stage.play(600_000);
    const reason = expect.stringContaining("429");
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", reason, waiting: 3 });
    stage.answer = () => ({ id: "cs_1" });
    stage.campaign.resume();
    await stage.play(60_000);
    expect(stage.campaign.progress()).toMatchObject({ state: "running", calling: 3 });
  });

  it.each([0, 1, 60])(
    "costs nobody a call, also whom it asks for a wait of %d s: the others are tried in between, and it pauses",
    async (retryAfter) => {
      const stage = await stageOf({ rate: 1 });
      await stage.campaign.add(people(60));
      stage.answer = busy(retryAfter);
      await stage.play(86_400_000);
      expect(stage.campaign.progress()).toMatchObject({ state: "paused", waiting: 60, expired: 0 });
      const tried = new Set(stage.posts.map(({ to_number }) => to_number));
      // The others lose nothing by the outage.
      expect(tried.size).toBeLessThanOrEqual(30);
      expect(stage.posts.slice(0, 20).map(({ to_number }) => to_number)).toEqual(
        people(20).map(({ to_number }) => to_number),
      );
    },
  );

  it("is none where others are called meanwhile: who is put off 20 times expires", async () => {
    const stage = await stageOf({ rate: 1 });
    const [first] = people(1);
    await stage.campaign.add(people(60));
    stage.answer = ({ to_number }) => (to_number === first?.to_number ? busy(1)() : { id: "cs_1" });
    await stage.play(600_000);
    expect(stage.campaign.progress()).toMatchObject({ expired: 1, calling: 59 });
  });
});

describe("who was called, and waits for the next attempt", () => {
  it.each(["until", "cancel"])("ends as their last call did at %s", async (how) => {
    const stage = await stageOf({ attempts: 3, retryDelay: 900_000 });
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.tell(1, "call.failed", "no_answer");
    const until = new Date(stage.now + 960_000);
    const again = await stage.reopen({ until });
    again.answer = busy(3_600);
    await again.play(930_000); // the next attempt is begun, and put off
    if (how === "cancel") again.campaign.cancel();
    await again.play(60_000);
    expect(again.campaign.progress()).toMatchObject({ busy: 1, no_answer: 1, done: true });
  });

  it("isn't called again when a notification says that they were talked to", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.tell(0, "call.completed", "normal");
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
  });

  it.each([
    ["fails", (stage: Stage) => stage.tell(1, "call.failed", "busy")],
    [
      "is given up, and fails after that",
      async (stage: Stage) => {
        await stage.play(120_000);
        await stage.tell(1, "call.failed", "busy");
      },
    ],
  ])("nor when it says so of an attempt before the one that %s", async (_, ends) => {
    const stage = await stageOf({ attempts: 3, retryDelay: 60_000, settleTimeout: 100_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.play(61_000);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(0, "call.completed", "normal");
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
    await ends(stage);
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(2);
    expect(stage.campaign.progress()).toMatchObject({ completed: 1, done: true });
  });

  it("nor when it says so of an attempt before the one that waits, or that the service refuses", async () => {
    const stage = await stageOf({ attempts: 4, retryDelay: 60_000 });
    await stage.campaign.add(people(2));
    await stage.play();
    for (const post of [0, 1]) await stage.tell(post, "call.failed", "busy");
    await stage.play(61_000);
    // The first one's second attempt waits for its third; the second one's is under way.
    await stage.tell(2, "call.failed", "busy");
    await stage.tell(0, "call.completed", "normal");
    expect(stage.campaign.progress()).toMatchObject({ completed: 1, calling: 1 });
    const refused = Promise.withResolvers<never>();
    stage.answer = () => refused.promise;
    await stage.tell(3, "call.failed", "busy");
    stage.now += 61_000;
    await stage.campaign.step();
    expect(stage.posts).toHaveLength(5);
    await stage.tell(3, "call.completed", "normal");
    refused.reject(new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 1 }));
    await stage.campaign.idle();
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(5);
    expect(stage.campaign.progress()).toMatchObject({ completed: 2, done: true });
  });
});
