import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Agent } from "../../src/agents/agent.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { scriptedAgent } from "../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../src/testing/simulate-call.ts";
import { launch } from "../runtimes/browser.ts";
import { artefact } from "./stage.ts";
import { violations } from "./visit.ts";

const agent: Agent = {
  ...scriptedAgent([{ ms: 900 }, { tool: "book_a_table", args: { at: "19:30" } }, { ms: 5_000 }]),
  tools: { book_a_table: { description: "Books.", run: () => "Booked." } },
};

/** A call with a tool, an interruption and a turn that nobody answers. */
const call = () =>
  simulateCall({
    app: (socket) => connectAgent(socket, agent),
    caller: [
      { type: "until-quiet" },
      { type: "tone", hertz: 440, ms: 800 },
      { type: "until-speech", ms: 1_000 },
      { type: "tone", hertz: 440, ms: 600 },
      { type: "silence", ms: 3_000 },
      { type: "hangup" },
    ],
  });

describe("the report of a simulated call", () => {
  let browser: Browser;
  let folder: string;
  beforeAll(async () => {
    [browser, folder] = await Promise.all([launch(), mkdtemp(join(tmpdir(), "report-"))]);
    await (await call()).report(folder);
  });
  afterAll(async () => {
    await Promise.all([browser.close(), rm(folder, { recursive: true })]);
  });

  it("narrow and wide, in light and in dark, no violation of axe, no wider than the window", async () => {
    // axe is no part of the page, and must run in it.
    const context = await browser.newContext({ bypassCSP: true, reducedMotion: "reduce" });
    const page = await context.newPage();
    await page.goto(pathToFileURL(join(folder, "report.html")).href);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const look = `${width}-${colorScheme}-report`;
        await page.screenshot({ path: artefact(look), fullPage: true });
        expect(await page.evaluate(() => document.documentElement.scrollWidth), look).toBe(width);
        expect(await violations(page), look).toEqual([]);
      }
    }
  });

  it("its own policy lets its styles and its audio in, and complains of nothing", async () => {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => {
      const url = request.url();
      if (!/^(data|file):/.test(url)) complaints.push(`asked for ${url}`);
    });
    await page.goto(pathToFileURL(join(folder, "report.html")).href);
    await page.waitForFunction(() => (document.querySelector("audio")?.duration ?? 0) > 3);
    expect(await page.locator("main").evaluate((main) => getComputedStyle(main).fontSize)).toBe(
      "16px",
    );
    expect(complaints).toEqual([]);
  });
});
