import { describe, expect, it } from "vitest";
import { noon, numberOf, people, stageOf } from "./stage.ts";

const minute = 60_000;
const hour = 60 * minute;
const later = new Date(noon + 3 * hour);
const window = { days: "sun-sat", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };
const numbers = ({ posts }: Awaited<ReturnType<typeof stageOf>>) =>
  posts.map(({ to_number }) => to_number);

describe("callBack", () => {
  const called = async (options: Parameters<typeof stageOf>[0] = {}) => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    await stage.play();
    return stage;
  };

  it("in a call: the contact is called at that time, also after it was completed", async () => {
    const stage = await called();
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(true);
    expect(stage.posts).toHaveLength(1);
    await stage.tell(0, "call.completed", "normal");
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, completed: 0 });
    await stage.play(later.getTime() - stage.now - 1);
    expect(stage.posts).toHaveLength(1);
    await stage.play(1);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(1, "call.completed", "normal");
    expect(stage.campaign.progress()).toMatchObject({ done: true, completed: 1 });
  });

  it("after the call, too", async () => {
    const stage = await called();
    await stage.tell(0, "call.completed", "normal");
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(true);
    await stage.play(3 * hour);
    expect(stage.posts).toHaveLength(2);
  });

  it("asked for twice, it is one, at the later time that was named", async () => {
    const stage = await called();
    for (const hours of [1, 1, 2]) {
      await stage.campaign.callBack(numberOf(0), new Date(noon + hours * hour));
    }
    await stage.tell(0, "call.completed", "normal");
    await stage.play(100 * minute);
    expect(stage.posts).toHaveLength(1);
    await stage.play(hour);
    await stage.tell(1, "call.completed", "normal");
    await stage.play(24 * hour);
    expect(stage.posts).toHaveLength(2);
  });

  it.each([
    [0, 0],
    [1, 1],
    [2, 2],
  ])("with callBacks %s a contact gets %s more attempts", async (callBacks, more) => {
    const stage = await called({ callBacks });
    for (let post = 0; post < 4; post++) {
      await stage.campaign.callBack(numberOf(0), new Date(stage.now + minute));
      await stage.tell(post, "call.completed", "normal").catch(() => {});
      await stage.play(2 * minute);
    }
    expect(stage.posts).toHaveLength(1 + more);
  });

  it("adds to the attempts: a call-back that is busy is tried again as any call", async () => {
    const stage = await called({ attempts: 2, retryDelay: minute });
    await stage.campaign.callBack(numberOf(0), later);
    await stage.tell(0, "call.completed", "normal");
    await stage.play(4 * hour);
    await stage.tell(1, "call.failed", "busy");
    await stage.play(2 * minute);
    expect(stage.posts).toHaveLength(3);
    await stage.tell(2, "call.failed", "busy");
    await stage.play(hour);
    expect(stage.posts).toHaveLength(3);
    expect(stage.campaign.progress()).toMatchObject({ done: true, busy: 1 });
  });

  it("of a contact that was never called it sets the time, and adds no attempt", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(true);
    await stage.play(2 * hour);
    expect(stage.posts).toHaveLength(0);
    await stage.play(hour);
    expect(stage.posts).toHaveLength(1);
    expect(await stage.campaign.callBack(numberOf(0), new Date(stage.now))).toBe(true);
  });

  it("an end that is delivered again neither ends the wait nor the next call", async () => {
    const stage = await called();
    await stage.campaign.callBack(numberOf(0), later);
    for (let time = 0; time < 3; time++) await stage.tell(0, "call.completed", "normal");
    await stage.play(3 * hour);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(0, "call.completed", "normal");
    await stage.tell(1, "call.failed", "no_answer");
    expect(stage.campaign.progress()).toMatchObject({ done: true, no_answer: 1 });
  });

  it("nor one of the retries of that", async () => {
    const stage = await called({ attempts: 2, retryDelay: minute });
    await stage.campaign.callBack(numberOf(0), new Date(noon + minute));
    await stage.tell(0, "call.completed", "normal");
    await stage.play(minute);
    await stage.tell(1, "call.failed", "busy");
    await stage.tell(0, "call.completed", "normal");
    await stage.play(minute);
    expect(stage.posts).toHaveLength(3);
  });

  it("the time stays what it is when the ledger is opened again", async () => {
    const stage = await called({ attempts: 2, retryDelay: minute });
    await stage.campaign.callBack(numberOf(0), later);
    await stage.tell(0, "call.completed", "normal");
    const again = await stage.reopen();
    await again.play(hour);
    expect(again.posts).toHaveLength(0);
    await again.play(2 * hour);
    expect(again.posts).toHaveLength(1);
  });

  it("outside the hours, the call comes at the next opening", async () => {
    const stage = await called({ window });
    await stage.campaign.callBack(numberOf(0), "2026-06-03 22:30"); // Berlin's
    await stage.tell(0, "call.completed", "normal");
    const opening = Date.parse("2026-06-04T07:00:00Z");
    await stage.play(opening - stage.now - 1);
    expect(stage.posts).toHaveLength(1);
    await stage.play(1);
    expect(stage.posts).toHaveLength(2);
  });

  it("nobody is called who is blocked, unknown, not in the list, or whose call has no known end", async () => {
    const stage = await stageOf({ settleTimeout: minute });
    await stage.campaign.add(people(3));
    await stage.play();
    await stage.tell(0, "call.completed", "normal");
    await stage.campaign.block(numberOf(0));
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(false);
    await stage.play(2 * minute);
    expect(stage.campaign.progress()).toMatchObject({ unknown: 2 });
    expect(await stage.campaign.callBack(numberOf(1), later)).toBe(false);
    expect(await stage.campaign.callBack(numberOf(9), later)).toBe(false);
    await stage.tell(1, "call.completed", "normal");
    await stage.campaign.sync([{ to_number: numberOf(2) }]);
    expect(await stage.campaign.callBack(numberOf(1), later)).toBe(false);
    await stage.campaign.cancel();
    expect(await stage.campaign.callBack(numberOf(2), later)).toBe(false);
  });

  it("who asked and whose call was given up is called at that time", async () => {
    const stage = await called({ settleTimeout: minute });
    await stage.campaign.callBack(numberOf(0), later);
    await stage.play(2 * minute);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, unknown: 0 });
    await stage.play(4 * hour);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(0, "call.completed", "normal");
    await stage.play(minute);
    expect(stage.posts).toHaveLength(2);
  });

  it("not after `until`", async () => {
    const stage = await called({ until: new Date(noon + hour) });
    expect(await stage.campaign.callBack(numberOf(0), later)).toBe(false);
  });

  it.each([
    ["tomorrow", "at must be ISO 8601"],
    ["2026-02-31 10:00", "at must be ISO 8601"],
    ["2026-06-03 15:00", "at is local time, and needs a timezone"],
    [new Date(Number.NaN), "at must be a Date"],
  ])("%s is refused by the rule", async (at, message) => {
    const stage = await called();
    await expect(stage.campaign.callBack(numberOf(0), at)).rejects.toThrow(message);
  });
});

describe("call_at, the time of the first call", () => {
  const timed = (call_at: string | Date, timezone?: string) => [
    { to_number: numberOf(0), call_at, ...(timezone && { timezone }) },
  ];

  it.each([
    ["a Date", new Date("2026-06-03T13:30:00Z"), undefined],
    ["ISO 8601 in UTC", "2026-06-03T13:30:00Z", undefined],
    ["ISO 8601 with an offset", "2026-06-03T09:30-04:00", undefined],
    ["local time of the contact", "2026-06-03 09:30", "America/New_York"],
    ["local time of the windows", "2026-06-03T15:30:00", undefined],
  ])("%s", async (_, call_at, timezone) => {
    const stage = await stageOf({ window: { ...window, from: "00:00", to: "24:00" } });
    const { appointments } = await stage.campaign.sync(timed(call_at, timezone));
    expect(appointments).toBe(1);
    await stage.play(Date.parse("2026-06-03T13:30:00Z") - noon - 1);
    expect(stage.posts).toHaveLength(0);
    await stage.play(1);
    expect(stage.posts).toHaveLength(1);
  });

  it.each([
    ["2026-03-29 02:30", "2026-03-29T01:30:00Z"], // is skipped: 3:30
    ["2026-10-25 02:30", "2026-10-25T00:30:00Z"], // comes twice: the first
    ["2026-10-25 03:00", "2026-10-25T02:00:00Z"],
  ])("%s in Berlin is %s", async (call_at, instant) => {
    const first = await stageOf();
    first.now = Date.parse(instant) - 4 * hour;
    const stage = await first.reopen();
    await stage.campaign.add(timed(call_at, "Europe/Berlin"));
    await stage.play(4 * hour - 1);
    expect(stage.posts).toHaveLength(0);
    await stage.play(1);
    expect(stage.posts).toHaveLength(1);
  });

  it("reading the list again changes it only while the contact has never been called", async () => {
    const stage = await stageOf();
    await stage.campaign.add(timed(new Date(noon + hour)));
    expect(await stage.campaign.sync(timed(new Date(noon + 2 * hour)))).toMatchObject({
      changed: 1,
    });
    await stage.play(hour);
    expect(stage.posts).toHaveLength(0);
    await stage.campaign.add(timed(new Date(noon + 3 * hour)));
    await stage.play(hour);
    expect(stage.posts).toHaveLength(0);
    await stage.play(hour);
    expect(stage.posts).toHaveLength(1);
    expect(await stage.campaign.sync(timed(new Date(noon + 9 * hour)))).toMatchObject({
      changed: 0,
    });
    await stage.tell(0, "call.completed", "normal");
    await stage.play(24 * hour);
    expect(stage.posts).toHaveLength(1);
  });

  it("stays when the contact leaves the list and comes back", async () => {
    const stage = await stageOf();
    await stage.campaign.add(timed(later));
    await stage.campaign.sync([]);
    expect(await stage.campaign.sync(timed(later))).toMatchObject({ restored: 1 });
    await stage.play(2 * hour);
    expect(stage.posts).toHaveLength(0);
    await stage.play(hour);
    expect(stage.posts).toHaveLength(1);
  });

  it("a time that the contact asked for stays when the list says nothing", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.campaign.callBack(numberOf(0), later);
    await stage.campaign.sync(people(1));
    await stage.play(hour);
    expect(stage.posts).toHaveLength(0);
  });

  it.each([
    ["soon", "call_at must be ISO 8601"],
    ["2026-06-03 15:00", "call_at is local time, and needs a timezone"],
  ])("%s is refused with its line", async (call_at, reason) => {
    const { campaign } = await stageOf();
    const { refused } = await campaign.add(timed(call_at));
    expect(refused).toEqual([{ line: 1, reason: expect.stringContaining(reason) }]);
  });
});

it("call-backs and appointments come before retries, and those before whom nobody called", async () => {
  const stage = await stageOf({ concurrency: 4, attempts: 2, retryDelay: minute });
  const timed = { to_number: numberOf(9), call_at: new Date(noon + minute) };
  await stage.campaign.add([...people(6), timed]);
  await stage.play();
  expect(numbers(stage)).toEqual([0, 1, 2, 3].map(numberOf));
  await stage.campaign.callBack(numberOf(1), new Date(noon + 2 * minute));
  await stage.campaign.pause();
  await stage.tell(0, "call.failed", "busy");
  await stage.tell(1, "call.completed", "normal");
  for (const post of [2, 3]) await stage.tell(post, "call.completed", "normal");
  stage.now = noon + hour;
  await stage.campaign.resume();
  await stage.play();
  expect(numbers(stage).slice(4)).toEqual([9, 1, 0, 4].map(numberOf));
});
