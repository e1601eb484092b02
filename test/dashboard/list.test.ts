import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";
import { dashboard } from "../../src/emulator/dashboard/routes.ts";
import { createEmulator } from "../../src/emulator/index.ts";
import type { Stage } from "./stage.ts";
import { attend, isLive, row, theatre, violations } from "./visit.ts";

const show = theatre();

/** An emulator of calls that are over at once, and send nothing over a network, and its dashboard on a port. */
const raiseQuick = async (): Promise<Pick<Stage, "baseUrl" | "link" | "place" | "stop">> => {
  const emulator = createEmulator({ clock: "instant", fetch: () => new Response() });
  const { fetch, token } = dashboard(emulator, { isHost: () => true });
  const { port, stop } = await serveNode(fetch, { hostname: "127.0.0.1", port: 0 });
  const baseUrl = `http://127.0.0.1:${port}`;
  const from_number = "+12025550199";
  const urls = { flow_url: `${baseUrl}/flow`, status_callback_url: `${baseUrl}/status` };
  return {
    baseUrl,
    link: `${baseUrl}/?token=${token}`,
    place: async (params) => {
      const response = await emulator.fetch(`${baseUrl}/api/v1/calls/initiate`, {
        method: "POST",
        headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
        body: JSON.stringify({ from_number, ...urls, ...params }),
      });
      return (await response.json()).data.id;
    },
    stop: async () => {
      await emulator.close();
      await stop();
    },
  };
};

const busy = "+12025550101";

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
    await expect.poll(() => shown(page)).toBe(2);
    expect(await violations(page)).toEqual([]);
  });

  it("is filtered by state and number, and says how many of them are shown", async () => {
    const page = await show.signIn();
    const id = await show.stage.place({ to_number: "+12025550101" });
    for (const last of ["03", "00"]) {
      await show.stage.place({ to_number: `+120255501${last}` });
    }
    await row(page, "failed · rejected").waitFor();
    await attend(page);
    await show.stage.place({ to_number: "+12025550102" });
    const state = page.getByLabel("State");
    const number = page.getByLabel("Number or id", { exact: true });
    await state.selectOption("failed");
    await page.getByRole("heading", { name: "Calls 2 of 4" }).waitFor();
    await number.fill("0103");
    await page.getByRole("heading", { name: "Calls 1 of 4" }).waitFor();
    await number.fill(id);
    await page.getByRole("heading", { name: "Calls 1 of 4" }).waitFor();
    await number.fill("0103");
    await expect.poll(() => shown(page)).toBe(1);
    await state.selectOption("completed");
    await page.getByText("No call matches the filters.").waitFor();
    await number.fill("");
    // A call comes into view once it is what is asked for.
    await row(page, "completed").waitFor();
    await state.selectOption("active");
    await row(page, "+12025550102").waitFor();
    await expect.poll(() => shown(page)).toBe(1);
  });

  it("has the requests that were refused among its calls, with the reason", async () => {
    const page = await show.signIn();
    await show.stage.statusWith("another");
    await page.getByText("Invalid API Key.", { exact: true }).waitFor();
    await show.stage.place({ to_number: "+12025550101" });
    await row(page, "failed · busy").waitFor();
    await page.getByLabel("Scenario").selectOption("+12025550110");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText("refused · HTTP 503", { exact: true }).waitFor();
    const states = page.locator("#calls > li:not([hidden]) .state");
    const all = ["refused · HTTP 503", "failed · busy", "refused · HTTP 403"];
    await expect.poll(() => states.allTextContents()).toEqual(all);
    await page.getByRole("heading", { name: "Calls 1 · 2 refused" }).waitFor();
    await page.reload();
    await isLive(page);
    await page.getByText("refused · HTTP 503", { exact: true }).waitFor();
    await expect.poll(() => states.allTextContents()).toEqual(all);
    await page.getByLabel("State").selectOption("refused");
    await expect.poll(() => shown(page)).toBe(2);
    await page.getByLabel("State").selectOption("failed");
    await expect.poll(() => shown(page)).toBe(1);
    expect(await page.content()).not.toContain("another");
    expect(await violations(page)).toEqual([]);
  });

  it("is drawn over time, in words too", async () => {
    const page = await show.signIn();
    expect(await page.getByRole("img", { name: /^Calls that came in/ }).count()).toBe(0);
    await attend(page);
    await show.stage.place({ to_number: "+12025550101" });
    await show.stage.place({ to_number: "+12025550102" });
    await page
      .getByRole("img", { name: /: 1 failed, 1 active\. At most \d at a time\.$/ })
      .waitFor();
    await expect.poll(() => page.locator("#plot rect").count()).toBeGreaterThan(0);
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByRole("img", { name: /: 2 failed\./ }).waitFor();
  });

  it("shows the thousand calls that are kept, and draws only the rows in view while it scrolls", async () => {
    await show.stage.stop();
    show.stage = { ...show.stage, ...(await raiseQuick()) };
    const place = async (count: number) => {
      for (let placed = 0; placed < count; placed++) await show.stage.place({ to_number: busy });
    };
    await place(950);
    const page = await show.signIn();
    await place(100);
    await page.getByRole("heading", { name: "Calls 1000 of 1050" }).waitFor();
    await expect.poll(() => shown(page)).toBe(1_000);
    await page.reload();
    await isLive(page);
    await page.getByRole("heading", { name: "Calls 1000" }).waitFor();
    const drawn = await page.evaluate(async () => {
      const rows = [...document.querySelectorAll("#calls > li > h3")];
      const counts: number[] = [];
      for (let step = 0; step < 40; step++) {
        window.scrollBy(0, 1_000);
        await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        const isDrawn = (row: Element) => row.checkVisibility({ contentVisibilityAuto: true });
        counts.push(rows.filter(isDrawn).length);
      }
      return counts;
    });
    expect(Math.min(...drawn)).toBeGreaterThan(0);
    expect(Math.max(...drawn)).toBeLessThan(200);
  });
});
