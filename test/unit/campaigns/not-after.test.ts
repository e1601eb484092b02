import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CampaignOptions } from "../../../src/campaigns/options.ts";
import { BadParametersException, ServiceException, TimeoutException } from "../../../src/errors.ts";
import { noon, numberOf, people, type Stage, stageOf } from "./stage.ts";

const window = { days: "sun-sat", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };
const evening = Date.parse("2026-06-03T18:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: noon });
});
afterEach(() => {
  vi.useRealTimers();
});

/** One step, and its answers. */
const once = async ({ campaign }: Stage): Promise<void> => {
  await campaign.step();
  await campaign.idle();
};

/**
 * The `notAfter` that `create` gets for each of two contacts at noon.
 *
 * @param ahead - of the machine's clock, in milliseconds: the campaign's
 */
const given = async (options: Partial<CampaignOptions>, ahead = 0) => {
  vi.setSystemTime(noon - ahead);
  const limits = new Map<string, Date | undefined>();
  const stage = await stageOf({
    ...options,
    clock: () => Date.now() + ahead,
    create: async ({ to_number }, { notAfter }) => {
      limits.set(to_number, notAfter);
      return { id: "cs_1" };
    },
  });
  await stage.campaign.add([
    { to_number: numberOf(0) },
    { to_number: numberOf(1), timezone: "Asia/Tokyo" }, // where it is 19:00 at noon
  ]);
  for (let round = 0; round < 3; round++) {
    await once(stage);
    vi.setSystemTime(Date.now() + 10); // the pace
  }
  return [limits.get(numberOf(0)), limits.get(numberOf(1))];
};

describe("notAfter, as create gets it", () => {
  it("is the end of the contact's own hours", async () => {
    expect(await given({ window })).toEqual([
      new Date(evening),
      new Date("2026-06-03T11:00:00.000Z"),
    ]);
  });

  it("is until, where that is earlier", async () => {
    const until = new Date("2026-06-03T15:00:00Z");
    expect(await given({ window, until })).toEqual([until, new Date("2026-06-03T11:00:00.000Z")]);
    expect(await given({ until })).toEqual([until, until]);
  });

  it("is left out where no hours end", async () => {
    expect(await given({})).toEqual([undefined, undefined]);
  });

  it("is by the machine's clock, which the client reads, where the campaign has another", async () => {
    const hour = 3_600_000;
    expect(await given({ window }, -hour)).toEqual([
      new Date(evening + hour),
      new Date("2026-06-03T12:00:00.000Z"),
    ]);
    const until = new Date(8.64e15); // the last there is
    expect(await given({ until }, hour)).toEqual([
      new Date(8.64e15 - hour),
      new Date(8.64e15 - hour),
    ]);
    expect(await given({ until }, -hour)).toEqual([until, until]);
  });
});

describe("a call that notAfter kept from being sent", () => {
  const late = async (error: unknown, options: Partial<CampaignOptions> = { window }) => {
    const stage = await stageOf(options);
    await stage.campaign.add(people(1));
    stage.answer = () => {
      stage.now = evening;
      vi.setSystemTime(evening);
      throw error;
    };
    await once(stage);
    return stage;
  };
  const tooLate = () => new TimeoutException("notAfter has passed", { placed: "no" });

  it("releases the claim; its contact waits for the next hours, however often", async () => {
    const stage = await late(tooLate());
    for (let evenings = 1; evenings < 30; evenings++) {
      const day = evenings * 86_400_000;
      const end = evening + day;
      stage.answer = () => {
        stage.now = end;
        vi.setSystemTime(end);
        throw tooLate();
      };
      stage.now = noon + day;
      vi.setSystemTime(noon + day);
      await once(stage);
    }
    expect(stage.posts).toHaveLength(30);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, calling: 0, state: "running" });
    expect(await stage.campaign.step()).toBe(Date.parse("2026-07-03T07:00:00Z"));
    const events = [...stage.campaign.audit()].map(({ event }) => event);
    expect(new Set(events)).toEqual(new Set(["opened", "claimed", "released", "waiting"]));
  });

  it("ends as expired once until has passed, never as refused", async () => {
    const stage = await late(tooLate(), { until: new Date(evening) });
    await stage.campaign.step();
    expect(stage.campaign.progress()).toMatchObject({ expired: 1, refused: 0, done: true });
  });

  it("does not slow the pace: the service is not at fault", async () => {
    const stage = await late(tooLate());
    expect(stage.campaign.rate).toBe(1_000);
  });

  it.each([
    ["may have been placed", new TimeoutException("late", { placed: "maybe" }), { unclear: 1 }],
    ["was refused", new ServiceException("HTTP 400", { placed: "no", code: 400 }), { refused: 1 }],
    [
      "could not be made",
      new BadParametersException([{ param: "apiKey", message: "is missing" }]),
      { waiting: 1, state: "paused" },
    ],
  ])("is distinguished from one that %s after the end of the hours", async (_, error, progress) => {
    expect((await late(error)).campaign.progress()).toMatchObject(progress);
  });
});

describe("the plan of a list", () => {
  const planOf = async (create: CampaignOptions["create"]) =>
    (await stageOf({ create })).campaign.sync(people(1), { confirm: () => false });

  it("warns of a create that drops notAfter", async () => {
    const [warning] = (await planOf(async () => ({ id: "cs_1" }))).warnings;
    expect(warning).toContain("create: (params, options) => client.calls.create(params, options)");
    expect((await planOf(async (_params) => ({ id: "cs_1" }))).warnings).toHaveLength(1);
  });

  it("has no warning where create declares both parameters", async () => {
    expect((await planOf(async (_params, _options) => ({ id: "cs_1" }))).warnings).toEqual([]);
  });
});
