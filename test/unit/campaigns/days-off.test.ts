import { describe, expect, it } from "vitest";
import { CallingHours, type Window } from "../../../src/campaigns/calling-hours.ts";
import { people, stageOf } from "./stage.ts";

const base = { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" };
const at = (text: string): number => Date.parse(text);
const hoursOf = (...windows: Window[]) => new CallingHours(windows);

describe("except: dates on which nobody is called", () => {
  it("are closed, and the next working day opens as always", () => {
    // Christmas 2026 is a Friday.
    const hours = hoursOf({ ...base, except: ["2026-12-25"] });
    expect(hours.at(at("2026-12-24T10:00Z"), "").open).toBe(true);
    expect(hours.at(at("2026-12-25T10:00Z"), "").open).toBe(false);
    expect(hours.opens(at("2026-12-24T19:30Z"), "")).toBe(at("2026-12-28T08:00Z"));
    expect(hours.closes(at("2026-12-24T10:00Z"), "")).toBe(at("2026-12-24T19:00Z"));
  });

  it("are the contact's own dates", () => {
    const all = { ...base, days: "sun-sat", from: "00:00", to: "24:00", except: ["2026-12-25"] };
    const hours = hoursOf(all);
    const eve = at("2026-12-24T12:00Z");
    expect(hours.closes(eve, "Pacific/Auckland")).toBe(eve); // the 25th, 1:00
    expect(hours.closes(eve, "Europe/Berlin")).toBe(at("2026-12-24T23:00Z"));
    expect(hours.closes(eve, "America/New_York")).toBe(at("2026-12-25T05:00Z"));
    expect(hours.opens(eve, "Pacific/Auckland")).toBe(at("2026-12-25T11:00Z"));
    expect(hours.opens(at("2026-12-25T10:00Z"), "America/New_York")).toBe(at("2026-12-26T05:00Z"));
  });

  it("end at midnight what began the day before, and leave out the whole of what begins on them", () => {
    const night = { ...base, days: "sun-sat", from: "22:00", to: "02:00", except: ["2026-12-25"] };
    const hours = hoursOf(night);
    expect(hours.closes(at("2026-12-24T22:00Z"), "")).toBe(at("2026-12-24T23:00Z"));
    expect(hours.opens(at("2026-12-24T23:00Z"), "")).toBe(at("2026-12-26T21:00Z"));
  });

  it("are those of their window alone", () => {
    const hours = hoursOf(
      { ...base, except: ["2026-12-25"] },
      { ...base, from: "12:00", to: "14:00" },
    );
    expect(hours.opens(at("2026-12-24T19:30Z"), "")).toBe(at("2026-12-25T11:00Z"));
  });

  it("may be a day with a change of the clocks", () => {
    const hours = hoursOf({ ...base, days: "sun-sat", except: ["2026-03-29", "2026-10-25"] });
    expect(hours.opens(at("2026-03-28T19:30Z"), "")).toBe(at("2026-03-30T07:00Z"));
    expect(hours.opens(at("2026-10-24T18:30Z"), "")).toBe(at("2026-10-26T08:00Z"));
  });

  it("make a list take longer", () => {
    const week = 5 * 11 * 3_600_000;
    const monday = at("2026-12-14T08:00Z");
    const finishes = (except: string[]) =>
      hoursOf({ ...base, except }).finishes(monday, 2 * week, [""]);
    expect(finishes([])).toBe(at("2026-12-25T19:00Z"));
    expect(finishes(["2026-12-25"])).toBe(at("2026-12-28T19:00Z"));
  });

  it("nobody is called on them", async () => {
    const first = await stageOf({ window: { ...base, except: ["2026-12-25"] } });
    first.now = at("2026-12-25T08:00Z");
    const stage = await first.reopen();
    await stage.campaign.add(people(1));
    await stage.play(at("2026-12-28T08:00Z") - stage.now - 1);
    expect(stage.posts).toHaveLength(0);
    await stage.play(1);
    expect(stage.posts).toHaveLength(1);
  });

  it.each(["25.12.2026", "2026-12-32", "2026-02-29", 20261225])("%s is refused", async (date) => {
    const window: object = { ...base, except: [date] };
    const given: object = { window };
    await expect(stageOf(given)).rejects.toThrow("window.except must be dates");
  });
});
