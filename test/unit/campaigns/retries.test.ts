import { describe, expect, it } from "vitest";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const minute = 60_000;
const hour = 60 * minute;

const retryOn = {
  busy: { after: 5 * minute, attempts: 3 },
  no_answer: { after: 2 * hour },
  machine: { after: 4 * hour, attempts: 2 },
};

describe("retryOn as an object", () => {
  it("each reason has its own delay", async () => {
    const stage = await stageOf({ retryOn });
    await stage.campaign.add(people(2));
    await stage.play();
    const began = stage.now;
    await stage.tell(0, "call.failed", "no_answer");
    await stage.tell(1, "call.failed", "busy");
    await stage.play(5 * minute - 1_001);
    expect(stage.posts).toHaveLength(2);
    await stage.play(1_001);
    expect(stage.posts[2]?.to_number).toBe(numberOf(1));
    await stage.play(began + 2 * hour - stage.now - 1);
    expect(stage.posts).toHaveLength(3);
    await stage.play(1);
    expect(stage.posts[3]?.to_number).toBe(numberOf(0));
  });

  it("attempts counts all attempts of the contact, whatever they ended by", async () => {
    const stage = await stageOf({ retryOn });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.play(5 * minute);
    // The second attempt has no answer: 2 are enough for that.
    await stage.tell(1, "call.failed", "no_answer");
    expect(stage.campaign.progress()).toMatchObject({ done: true, no_answer: 1 });
  });

  it("a reason with more attempts goes on after one with fewer", async () => {
    const stage = await stageOf({ retryOn });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "no_answer");
    await stage.play(2 * hour);
    await stage.tell(1, "call.failed", "busy");
    await stage.play(5 * minute);
    await stage.tell(2, "call.failed", "busy");
    expect(stage.posts).toHaveLength(3);
    expect(stage.campaign.progress()).toMatchObject({ done: true, busy: 1 });
  });

  it.each([
    [undefined, 3],
    [2, 2],
    [5, 3],
  ])("the campaign's own attempts %s are an upper limit only", async (attempts, calls) => {
    const stage = await stageOf({ retryOn, attempts });
    await stage.campaign.add(people(1));
    for (let post = 0; post < 4; post++) {
      await stage.play(5 * minute);
      await stage.tell(post, "call.failed", "busy").catch(() => {});
    }
    expect(stage.posts).toHaveLength(calls);
  });

  it("another reason is followed by none", async () => {
    const stage = await stageOf({ retryOn });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "rejected");
    expect(stage.campaign.progress()).toMatchObject({ done: true, rejected: 1 });
  });

  it("a call whose end nobody saw ends as unknown, and is followed by none", async () => {
    const stage = await stageOf({ retryOn: ["busy", "no_answer", "unreachable"], attempts: 3 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "lost");
    await stage.play(hour);
    expect(stage.posts).toHaveLength(1);
    const [result] = stage.campaign.results();
    expect([result?.disposition, result?.reason]).toEqual(["unknown", "lost"]);
  });

  it("when it is opened again, a shorter delay holds for those of its reason", async () => {
    const stage = await stageOf({ retryOn });
    await stage.campaign.add(people(2));
    await stage.play();
    await stage.tell(0, "call.failed", "no_answer");
    await stage.tell(1, "call.failed", "busy");
    const again = await stage.reopen({ retryOn: { ...retryOn, no_answer: { after: minute } } });
    await again.play(minute);
    expect(again.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
  });

  it("is in the plan, complete", async () => {
    const { campaign } = await stageOf({ retryOn, attempts: 2 });
    const { retries } = await campaign.sync(people(1));
    expect(retries).toEqual({
      busy: { after: 5 * minute, attempts: 2 },
      no_answer: { after: 2 * hour, attempts: 2 },
      machine: { after: 4 * hour, attempts: 2 },
    });
    const { campaign: listed } = await stageOf({ attempts: 3, retryDelay: minute });
    expect((await listed.sync(people(1))).retries).toEqual({
      busy: { after: minute, attempts: 3 },
      no_answer: { after: minute, attempts: 3 },
    });
  });

  it.each([
    [{ busy: {} }, "retryOn.busy.after"],
    [{ busy: { after: -1 } }, "retryOn.busy.after"],
    [{ busy: { after: 1, attempts: 0 } }, "retryOn.busy.attempts"],
    [{ completed: { after: 1 } }, "retryOn.completed"],
    [{ toString: { after: 1 } }, "retryOn.toString"],
    ["busy", "retryOn"],
  ])("%j is refused by its name", async (wrong, param) => {
    const given: object = { retryOn: wrong };
    await expect(stageOf(given)).rejects.toMatchObject({
      issues: [expect.objectContaining({ param })],
    });
  });

  it("needs notifications", async () => {
    await expect(stageOf({ retryOn, notified: false, concurrency: undefined })).rejects.toThrow(
      "retryOn needs notifications",
    );
  });
});

describe("on the nights in which the clocks change", () => {
  const window = { days: "sun-sat", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };

  it.each([
    ["in spring", "2026-03-28T18:30:00Z", "2026-03-29T07:00:00Z"], // 19:30, then 9:00 summer time
    ["in autumn", "2026-10-24T17:30:00Z", "2026-10-25T08:00:00Z"],
  ])(
    "%s a retry after the hours comes at the next opening by the clock on the wall",
    async (_, evening, morning) => {
      const first = await stageOf({ retryOn, window });
      first.now = Date.parse(evening);
      const stage = await first.reopen();
      await stage.campaign.add(people(1));
      await stage.play();
      await stage.tell(0, "call.failed", "no_answer");
      await stage.play(Date.parse(morning) - stage.now - 1);
      expect(stage.posts).toHaveLength(1);
      await stage.play(1);
      expect(stage.posts).toHaveLength(2);
    },
  );

  it("a delay is that of a stopwatch: two hours over the change are two hours", async () => {
    const always = { ...window, from: "00:00", to: "24:00" };
    const first = await stageOf({ retryOn, window: always });
    first.now = Date.parse("2026-03-29T00:30:00Z"); // 1:30, and 4:30 two hours later
    const stage = await first.reopen();
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "no_answer");
    await stage.play(2 * hour - 1);
    expect(stage.posts).toHaveLength(1);
    await stage.play(1);
    expect(stage.posts).toHaveLength(2);
  });
});

it("a list keeps its meaning: one delay, and as many attempts", async () => {
  const stage = await stageOf({ retryOn: ["busy"], attempts: 2, retryDelay: minute });
  await stage.campaign.add(people(2));
  await stage.play();
  await stage.tell(0, "call.failed", "busy");
  await stage.tell(1, "call.failed", "no_answer");
  await stage.play(minute);
  expect(stage.posts.slice(2).map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
  expect(noon).toBeLessThan(stage.now);
});
