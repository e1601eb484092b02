import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { raise } from "./stage.ts";
import { isLive, row, theatre, violations } from "./visit.ts";

const show = theatre();

const shown = (page: Page) => page.locator("#calls > li:not([hidden])").count();

describe("the list", () => {
  it("says in the row that notifications fail, and when the next try is", async () => {
    const page = await show.signIn();
    await show.stage.place({
      to_number: "+12025550101",
      status_callback_url: `${show.stage.baseUrl}/nothing`,
    });
    await row(page, "2 notifications given up").waitFor();
    await show.stage.place({
      to_number: "+12025550103",
      status_callback_url: "http://127.0.0.1:9/",
    });
    const words = /call\.initiated not delivered \(.+\), try \d at \d\d:\d\d:\d\d/;
    await row(page, "+12025550103").filter({ hasText: words }).waitFor();
    await page.getByLabel("State").selectOption("not notified");
    expect(await shown(page)).toBe(2);
    expect(await violations(page)).toEqual([]);
  });

  it("is filtered by state and number, and says how many of them are shown", async () => {
    const page = await show.signIn();
    for (const last of ["01", "03", "00", "02"]) {
      await show.stage.place({ to_number: `+120255501${last}` });
    }
    await row(page, "failed · rejected").waitFor();
    const state = page.getByLabel("State");
    const number = page.getByLabel("Number", { exact: true });
    await state.selectOption("failed");
    await page.getByRole("heading", { name: "Calls 2 of 4" }).waitFor();
    await number.fill("0103");
    await page.getByRole("heading", { name: "Calls 1 of 4" }).waitFor();
    expect(await shown(page)).toBe(1);
    await state.selectOption("completed");
    await page.getByText("None of them is like that.").waitFor();
    await number.fill("");
    // A call comes into view once it is what is asked for.
    await row(page, "completed").waitFor();
    await state.selectOption("going on");
    await row(page, "+12025550102").waitFor();
    expect(await shown(page)).toBe(1);
  });

  it("is drawn over time, in words too", async () => {
    const page = await show.signIn();
    expect(await page.getByRole("img", { name: /^Calls that came in/ }).count()).toBe(0);
    await show.stage.place({ to_number: "+12025550101" });
    await show.stage.place({ to_number: "+12025550102" });
    await page
      .getByRole("img", { name: /: 1 failed, 1 going on\. At most \d at a time\.$/ })
      .waitFor();
    expect(await page.locator("#plot rect").count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("img", { name: /: 2 failed\./ }).waitFor();
  });

  it("shows the thousand calls that are kept, and scrolls through them smoothly", async () => {
    await show.stage.stop();
    show.stage = await raise("--speed", "10000");
    const page = await show.signIn();
    for (let placed = 0; placed < 1_050; placed += 50) {
      const to_number = "+12025550101";
      await Promise.all(Array.from({ length: 50 }, () => show.stage.place({ to_number })));
    }
    await page.getByRole("heading", { name: "Calls 1000 of 1050" }).waitFor();
    expect(await shown(page)).toBe(1_000);
    await page.reload();
    await isLive(page);
    await page.getByRole("heading", { name: "Calls 1000" }).waitFor();
    /** The times of 200 frames in each of which the page is scrolled so far, the shortest first. */
    const framesOf = (pixels: number) =>
      page.evaluate(async (by) => {
        const times: number[] = [];
        let last = performance.now();
        for (let frame = 0; frame < 200; frame++) {
          window.scrollBy(0, by);
          await new Promise((resolve) => requestAnimationFrame(resolve));
          times.push(performance.now() - last);
          last = performance.now();
        }
        return times.sort((one, other) => one - other);
      }, pixels);
    const [still, moving] = [await framesOf(0), await framesOf(300)];
    const told = ({ 100: median = 0, 190: most = 0 }: readonly number[]) =>
      `median ${median.toFixed(1)} ms, 95 % ${most.toFixed(1)} ms`;
    console.log(`frames of a scroll: ${told(moving)}; of a page at rest: ${told(still)}`);
    // Sixty a second, as the screen has them: half of all at least, or half of those at rest where the
    // machine is busy.
    expect(moving[100]).toBeLessThan(2 * Math.max(17, still[100] ?? 0));
  }, 180_000);
});
