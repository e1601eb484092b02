import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { asking } from "./asking.ts";
import { artefact, type Stage } from "./stage.ts";
import { attend, overflow, row, theatre, violations } from "./visit.ts";

const show = theatre("--speed", "4");

const broken = (stage: Stage) => ({ flow_url: `${stage.baseUrl}/no/flow` });

/** Opens the last call, and waits for its last notification. */
const open = async (page: Page, words: string, last: string): Promise<void> => {
  await row(page, words).first().click();
  await page.getByRole("list", { name: "Timeline" }).getByText(last, { exact: true }).waitFor();
};

/** How many calls the plot shows. */
const plotted = async (page: Page): Promise<number> => {
  const text = await page
    .getByRole("img", { name: /^Calls that came in/ })
    .getAttribute("aria-label");
  const counts = text?.match(/\d+(?= (completed|failed|active))/g) ?? [];
  return counts.reduce((sum, count) => sum + Number(count), 0);
};

/** What there is to see, and how it comes about. */
const scenes: Readonly<Record<string, (page: Page, stage: Stage) => Promise<void>>> = {
  empty: async () => {},
  ringing: async (page, stage) => {
    await attend(page);
    const flow_url = await asking(); // It goes on until it is seen.
    for (const to_number of ["+12025550102", "+12025550100"]) {
      await stage.place({ to_number, flow_url });
    }
    await page.getByRole("button", { name: "Answer" }).first().click();
    await page.getByText("on the line").waitFor();
  },
  asking: async (page, stage) => {
    await attend(page);
    await stage.place({ flow_url: await asking(), to_number: "+12025550102" });
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByRole("log").getByText("Press 1 to confirm").waitFor();
    await page.getByRole("button", { name: "7", exact: true }).click();
    await row(page, "+12025550102").click();
    await page.getByRole("list", { name: "Timeline" }).getByText("key 7").waitFor();
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
    await row(page, "+12025550103")
      .filter({ hasText: /, try \d at|given up/ })
      .waitFor();
    await open(page, "completed · flow error", "call.completed");
  },
  many: async (page, stage) => {
    const numbers = ["00", "01", "03", "02", "04", "05"].map((last) => `+120255501${last}`);
    for (let round = 1; round <= 8; round++) {
      await Promise.all(numbers.map((to_number) => stage.place({ to_number })));
      await page.getByRole("heading", { name: `Calls ${6 * round}` }).waitFor();
    }
    await expect.poll(() => plotted(page)).toBe(48);
  },
  dialog: async (page) => {
    await page.getByRole("button", { name: "Regenerate" }).click();
    await page.getByRole("dialog").waitFor();
  },
};

describe("the page", () => {
  it.each(Object.keys(scenes))(
    "%s: narrow and wide, in light and in dark, no violation of axe, nothing cut off",
    async (scene) => {
      const page = await show.signIn();
      await scenes[scene]?.(page, show.stage);
      for (const width of [360, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const look = `${width}-${colorScheme}-${scene}`;
          await page.screenshot({ path: artefact(look), fullPage: true });
          expect(await overflow(page), look).toBe(0);
          expect(await violations(page), look).toEqual([]);
        }
      }
      expect(show.complaints).toEqual([]);
    },
  );
});
