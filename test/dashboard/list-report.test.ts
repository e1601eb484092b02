import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openLedger } from "../../src/campaigns/index.ts";
import { reportDataOf } from "../../src/cli/report/data.ts";
import { reportPage } from "../../src/cli/report/page.ts";
import { launch } from "../runtimes/browser.ts";
import { people, stageOf } from "../unit/campaigns/stage.ts";
import { artefact } from "./stage.ts";
import { violations } from "./visit.ts";

let browser: Browser;
const folder = mkdtempSync(join(tmpdir(), "list-report-"));

beforeAll(async () => {
  browser = await launch();
});

afterAll(async () => {
  await browser.close();
  rmSync(folder, { recursive: true });
});

/** The page of a list, some of whom have answered. */
const pageOf = async (contacts: number): Promise<string> => {
  const database = new DatabaseSync(":memory:");
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(contacts));
  await stage.play();
  for (let post = 0; post < contacts; post++) {
    if (post % 3 === 0) await stage.hear(post, { answers: { visit: String(post % 2) } });
    await stage.tell(post, post % 3 === 0 ? "call.completed" : "call.failed", "busy");
  }
  const ledger = openLedger(database);
  const options = { ledger: "people.outdial", timezone: "Europe/Berlin", now: stage.now };
  const data = reportDataOf(ledger.progress(), ledger.figures(), { ...options, hasNumbers: false });
  const file = join(folder, `${contacts}.html`);
  writeFileSync(file, reportPage(data));
  return pathToFileURL(file).href;
};

it.each([0, 60])("the report of %d contacts, narrow and wide, light and dark", async (contacts) => {
  const context = await browser.newContext({ bypassCSP: true, reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(await pageOf(contacts));
  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      const look = `${width}-${colorScheme}-list-report-${contacts}`;
      await page.screenshot({ path: artefact(look), fullPage: true });
      expect(await page.evaluate(() => document.documentElement.scrollWidth), look).toBe(width);
      expect(await violations(page), look).toEqual([]);
    }
  }
  await context.close();
});

it("its own policy lets it draw, and requests nothing; printed, it is light and has every figure", async () => {
  const context = await browser.newContext({ colorScheme: "dark" });
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  const url = await pageOf(30);
  await page.goto(url);
  expect(await page.locator("canvas").count()).toBe(2);
  expect([requests, complaints]).toEqual([[url], []]);
  const column = page.getByRole("columnheader", { name: "Machines" }).first();
  expect(await column.isVisible()).toBe(false);
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => column.isVisible()).toBe(true);
  const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  expect(background).toBe("rgb(255, 255, 255)");
  await context.close();
});
