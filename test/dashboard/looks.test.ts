import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { artefact, type Stage } from "./stage.ts";
import { overflow, row, theatre, violations } from "./visit.ts";

const show = theatre("--speed", "4");

const broken = (stage: Stage) => ({ flow_url: `${stage.baseUrl}/no/flow` });

/** Opens the last call, and waits for its last notification. */
const open = async (page: Page, words: string, last: string): Promise<void> => {
  await row(page, words).first().click();
  await page.getByRole("list", { name: "Timeline" }).getByText(last, { exact: true }).waitFor();
};

/** What there is to see, and how it comes about. */
const scenes: Readonly<Record<string, (page: Page, stage: Stage) => Promise<void>>> = {
  empty: async () => {},
  ringing: async (page, stage) => {
    await page.getByRole("switch").click();
    for (const to_number of ["+12025550102", "+12025550100"]) await stage.place({ to_number });
    await page.getByRole("button", { name: "Answer" }).first().click();
    await page.getByText("on the line").waitFor();
  },
  completed: async (page, stage) => {
    await stage.place({});
    await open(page, "+12025550100", "call.completed");
    await page.getByText("Request and answer").last().click();
    await page.getByText("Numbers, flow and callback").click();
  },
  failed: async (page, stage) => {
    await stage.place(broken(stage));
    await stage.place({ to_number: "+12025550103", status_callback_url: "http://127.0.0.1:9/" });
    await row(page, "try 2 at").waitFor();
    await open(page, "completed · flow error", "call.completed");
  },
  many: async (page, stage) => {
    const numbers = ["00", "01", "03", "02", "04", "05"].map((last) => `+120255501${last}`);
    for (let round = 0; round < 8; round++) {
      await Promise.all(numbers.map((to_number) => stage.place({ to_number })));
      await page.waitForTimeout(150);
    }
    await page.getByRole("heading", { name: "Calls 48" }).waitFor();
    await page.waitForTimeout(600);
  },
};

const cases = [360, 1280].flatMap((width) =>
  Object.keys(scenes).map((scene) => [width, scene] as const),
);

describe("the page", () => {
  it.each(cases)(
    "at %i pixels, %s: in light and in dark no violation of axe, nothing cut off",
    async (width, scene) => {
      const page = await show.signIn({ viewport: { width, height: 900 } });
      await scenes[scene]?.(page, show.stage);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const path = artefact(`${width}-${colorScheme}-${scene}`);
        await page.screenshot({ path, fullPage: true });
        expect(await overflow(page), colorScheme).toBe(0);
        expect(await violations(page), colorScheme).toEqual([]);
      }
      expect(show.complaints).toEqual([]);
    },
  );

  it.each([360, 1280])(
    "at %i pixels warns of what regeneration means, nothing cut off",
    async (width) => {
      const page = await show.signIn({ viewport: { width, height: 900 } });
      await page.getByRole("button", { name: "Regenerate" }).click();
      expect(await overflow(page)).toBe(0);
      await page.screenshot({ path: artefact(`${width}-dialog`) });
    },
  );
});
