import { expect, test } from "vitest";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { carriers } from "../carriers/carriers.ts";
import { type Side, serveMedia } from "./compared/application.ts";
import { answerTimeout, behaveAs, emulatedCallees } from "./compared/callees.ts";
import { casesOf, kindCount } from "./compared/cases.ts";
import { runList } from "./compared/run.ts";
import { openStage } from "./stage.ts";

/** The interfaces, each with its own part of the calls. */
const sides: readonly (Side & { readonly name: string; readonly emulated: EmulatorOptions })[] = [
  {
    ...{ name: "outdial", service: undefined, signsStart: false, emulated: {} },
    keyOf: ({ apiKey }) => apiKey,
  },
  ...carriers,
];

/** How many calls are compared in all: by default those of the short form. */
const total = Number(process.env.OUTDIAL_CALLS ?? 32);

test.each(sides.map((side, at) => ({ ...side, at })))(
  "$name: the same seeded calls are the same on the emulator and on the line",
  async ({ at, emulated, ...side }) => {
    const count = Math.ceil(total / sides.length);
    // In the short form each interface has other kinds; Vonage rings for 60 s, and gets none that nobody answers there.
    const cases = casesOf(20_261_128 + at, count, (at + 1) * count);
    const media = await serveMedia(side);
    const callees = emulatedCallees(cases);
    const [simulated, real] = await Promise.all([
      runList(cases, side, media, async (fetch) =>
        createEmulator({ ...emulated, ...callees, host: "127.0.0.1", fetch }),
      ),
      runList(cases, side, media, async (fetch) => {
        const { exchange, telephone } = await openStage({
          ...{ ...emulated, host: "127.0.0.1", answerTimeout, fetch },
        });
        telephone.behave(behaveAs(cases));
        return exchange;
      }),
    ]);
    expect(new Set(real.map(({ kind }) => kind)).size).toBe(Math.min(count, kindCount));
    // The application was notified of each call to its end, and did something on the line.
    expect(real.filter(({ notified, did }) => notified.length < 2 || did.length < 2)).toEqual([]);
    expect(real).toEqual(simulated);
  },
);
