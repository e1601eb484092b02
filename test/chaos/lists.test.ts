import { expect, it } from "vitest";
import { type ListChaos, listChaos } from "./lists.ts";

const short = { contacts: 60, kills: 3, stops: 1, seed: 20_261_123, lost: 0.1 } as const;

const cases: readonly (readonly [ListChaos["service"], ListChaos["home"]])[] = [
  ["twilio", "file"],
  ["telnyx", "file"],
  ["vonage", "objects"],
  ["outdial", "objects"],
];

it.each(cases)(
  "with %s, on %s: one POST an attempt, no committed answer lost, who asked for it is called back, no known id ends unknown",
  async (service, home) => {
    const { faults, summary } = await listChaos({ ...short, service, home });
    expect(faults).toEqual([]);
    expect(summary.killed).toBeGreaterThan(0);
    expect(summary.answered).toBeGreaterThan(0);
    expect(summary.lost).toBeGreaterThan(0);
  },
);

it.each(["file", "objects"] as const)(
  "the receiver is away for 30 minutes, and then back: on %s no contact ends as unknown",
  async (home) => {
    const away = { ...short, kills: 0, stops: 0, away: 1_800_000 };
    const { faults, summary } = await listChaos({ ...away, service: "vonage", home });
    expect(faults).toEqual([]);
    expect(summary).toMatchObject({ unknown: 0 });
    expect(summary.asked).toBeGreaterThan(10);
  },
);
