import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CallRecord } from "outdial/emulator";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Service, startService } from "../bridge/service.ts";
import { overflow, violations } from "../dashboard/visit.ts";
import { launch } from "../runtimes/browser.ts";
import { listOf, numbersOf, rowsOf } from "./csv.ts";
import { startWorker, stranger, token, type Worker } from "./worker.ts";

const artefacts = fileURLToPath(new URL("../artefacts/", import.meta.url));
mkdirSync(artefacts, { recursive: true });

let browser: Browser;
let service: Service;
let worker: Worker;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  browser = await launch();
  service = await startService({ speed: 50, notifications: { lost: 0.02 }, seed: 5 });
  const { emulator, baseUrl } = service;
  const { apiKey, webhookSecret } = emulator;
  worker = await startWorker({ baseUrl, apiKey, webhookSecret });
});

afterAll(async () => {
  await browser.close();
  await worker.close();
  await service.close();
});

const visit = async (
  options: BrowserContextOptions = {},
  url: string = worker.url,
): Promise<void> => {
  // No test needs an animation, and each frame costs CPU on a machine without a GPU.
  const context = await browser.newContext({
    timezoneId: "Europe/Berlin",
    reducedMotion: "reduce",
    ...options,
  });
  page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => {
    if (/error|warning/.test(message.type())) complaints.push(message.text());
  });
  await page.goto(url);
};

const cleanUp: (() => Promise<void>)[] = [];

beforeEach(() => {
  complaints.length = 0;
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  for (const close of cleanUp.splice(0).reverse()) await close();
});

const signIn = async (whose = token): Promise<void> => {
  await page.getByLabel("Token").fill(whose);
  await page.getByRole("button", { name: "Open" }).click();
};

const numbers = [...numbersOf(60), "+12025550101", "+12025550102", "+12025550103"];

const file = (list: string) => ({
  name: "people.csv",
  mimeType: "text/csv",
  buffer: Buffer.from(list),
});

/** Makes a campaign, as far as its list. */
const begin = async (name: string, rate = "30"): Promise<void> => {
  const summary = page.getByText("New campaign");
  await summary.waitFor();
  if (!(await page.getByLabel("Name", { exact: true }).isVisible())) await summary.click();
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Calls a second").fill(rate);
  await page.getByLabel("Live at once").fill("60");
  await page.getByLabel("At any hour of any day").check();
  await page.getByRole("button", { name: "Make it" }).click();
  await page.getByRole("heading", { name }).waitFor();
};

const upload = async (list: string): Promise<void> => {
  await page.getByLabel("List, as CSV").setInputFiles(file(list));
  await page.getByRole("button", { name: "Add the list" }).click();
  await page.getByText(/\d+ added/).waitFor();
};

/** What a screen reader says of a field beside its name. */
const descriptionOf = (field: Locator): Promise<string> =>
  field.evaluate((element) =>
    (element.getAttribute("aria-describedby") ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent ?? "")
      .join(" "),
  );

/** The texts of the primary buttons in view. */
const nextSteps = (): Promise<readonly string[]> =>
  page.locator(".primary:visible").allTextContents();

const count = (name: string) =>
  page.locator("#counts div", { hasText: name }).locator("dd").textContent();

test("a list is uploaded, started, watched to its end and downloaded", async () => {
  await visit();
  await signIn();
  await expect.poll(nextSteps).toEqual(["Make it"]);
  await begin("Spring");
  await expect.poll(nextSteps).toEqual(["Add the list"]);
  await upload(`${listOf(numbers)}nobody\n`);
  expect(await page.getByText(/\d+ added/).textContent()).toBe(
    "63 added, 0 already known, 1 refused.",
  );
  await page.getByText(/^to_number must be .*: line 65$/).waitFor();
  await page.getByText("63 waiting, about 3 s left.").waitFor();
  await expect.poll(nextSteps).toEqual(["Start calling 63"]);
  await page.getByRole("button", { name: "Start calling 63" }).click();
  await page.getByText("running", { exact: true }).waitFor();
  await expect.poll(nextSteps).toEqual([]);
  await page.getByRole("img", { name: /ended, \d+ completed/ }).waitFor();
  await expect.poll(() => count("busy")).toBe("1");
  await expect.poll(() => page.getByRole("button", { name: "Pause" }).isDisabled()).toBe(true);
  const downloading = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download results" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toBe("results.csv");
  const chunks: Buffer[] = [];
  for await (const chunk of await download.createReadStream()) chunks.push(chunk);
  const rows = rowsOf(Buffer.concat(chunks).toString());
  expect(rows.map(({ to_number }) => to_number).sort()).toEqual([...numbers].sort());
  expect(complaints).toEqual([]);
});

test("by keyboard alone: a campaign is made, paused and canceled for good after a question", async () => {
  await visit();
  await page.keyboard.press("Tab");
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.locator("#campaigns").waitFor();
  await begin("Keys", "2");
  await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("file");
  await upload(listOf(numbersOf(50)));
  for (const name of [/^Start calling/, "Pause", /^Start calling/]) {
    const button = page.getByRole("button", { name });
    await expect.poll(() => button.isEnabled()).toBe(true);
    await button.focus();
    await page.keyboard.press("Enter");
  }
  const state = page.locator("#state");
  await expect.poll(() => state.textContent()).toBe("running");
  const cancel = page.getByRole("button", { name: "Cancel for good" }).first();
  await cancel.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect(await state.textContent()).toBe("running");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => state.textContent()).toMatch(/canceled|done/);
  await expect.poll(async () => Number(await count("canceled"))).toBeGreaterThan(0);
  await expect.poll(nextSteps).toEqual(["Download results"]);
  expect(complaints).toEqual([]);
});

test("answers, call-backs and the button that stops everything: it asks once, and ends every live call", async () => {
  const slow = await startService({ speed: 0.5, ringDuration: 5 });
  cleanUp.push(slow.close);
  const { apiKey, webhookSecret } = slow.emulator;
  // It takes some 200 s to say, and a key ends it.
  const asking = { QUESTION: "Press 1 or 2 after the news. ".repeat(50) };
  const surveyor = await startWorker({ baseUrl: slow.baseUrl, apiKey, webhookSecret }, asking);
  cleanUp.push(surveyor.close);
  const talking = () => slow.emulator.calls.filter(({ state }) => state === "answered");
  const press = (call: CallRecord | undefined, key: string) =>
    slow.emulator.press(call?.id ?? "", key);
  await visit({}, surveyor.url);
  await signIn();
  await begin("Survey", "60");
  const people = numbersOf(12).map((number) => number.replace("303", "305"));
  await upload(listOf(people));
  await page.getByRole("button", { name: "Start calling 12" }).click();
  // Each is asked until a key is pressed: one that comes before the question is lost.
  const asked = () =>
    talking().filter(({ history }) => history.some(({ type }) => type === "action"));
  await expect.poll(() => asked().length).toBe(12);
  const [first, second, ...rest] = asked();
  press(first, "1");
  press(second, "0");
  await page.getByText("1 to be called at a time that was agreed on, the first").waitFor();
  const table = page.getByRole("table", { name: "answer: answered by 2" });
  await table.waitFor();
  expect(await table.getByRole("row").allTextContents()).toEqual([
    "AnswerContactsShare",
    "0150 %",
    "1150 %",
  ]);
  await page
    .getByRole("img", { name: /^Calls by the hour\. .* 12 calls, 2 answered by/ })
    .waitFor();
  await page.getByText("Call somebody back").click();
  await page.getByLabel("Number", { exact: true }).fill(rest[0]?.to_number ?? "");
  await page.getByLabel("At, by your clock").fill("2040-01-01T12:00");
  await page.getByRole("button", { name: "Agree on it" }).click();
  await page.getByText("It will be called then, within the calling hours.").waitFor();
  const stop = page.getByRole("button", { name: "End all calls" }).first();
  await stop.click();
  await page.getByRole("dialog").getByRole("button", { name: "Go on" }).click();
  expect(talking()).toHaveLength(10);
  await stop.click();
  await page.getByRole("dialog").getByRole("button", { name: "End all calls" }).click();
  await page.getByText("10 ended.").waitFor();
  await expect.poll(() => talking().length).toBe(0);
  await expect.poll(() => page.locator("#state").textContent()).toMatch(/^paused/);
  await expect.poll(() => stop.isDisabled()).toBe(true);
  expect(complaints).toEqual([]);
});

test("what goes wrong is shown in words, and can be done again", async () => {
  await visit();
  await signIn(token.toUpperCase());
  const field = page.getByLabel("Token");
  await expect.poll(() => descriptionOf(field)).toBe("This token is unknown.");
  await signIn(stranger);
  await page.getByText("New campaign").waitFor();
  expect(await page.locator(".error").count()).toBe(0);
  await page.getByLabel("Name", { exact: true }).fill("Fast");
  const rate = page.getByLabel("Calls a second");
  await rate.fill("6");
  const make = page.getByRole("button", { name: "Make it" });
  await make.click();
  await expect.poll(() => descriptionOf(rate)).toBe("must be at most 5 for this token");
  await expect.poll(() => rate.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await violations(page)).toEqual([]);
  await rate.fill("5");
  for (const day of ["Mon", "Tue", "Wed", "Thu", "Fri"])
    await page.getByLabel(day, { exact: true }).uncheck();
  await make.click();
  const days = page.getByRole("group", { name: "Days" });
  await expect.poll(() => descriptionOf(days)).toMatch(/^must be days such as/);
  for (const day of ["Mon", "Tue", "Wed", "Sat"])
    await page.getByLabel(day, { exact: true }).check();
  await page.getByLabel("Time zone").selectOption("America/New_York");
  await make.click();
  await page.getByText("5 calls a second, mon-wed,sat, 09:00 to 20:00, America/New_York").waitFor();
  // The first thousand rows are read before any contact is given.
  const numbers = Array.from({ length: 1_001 }, (_, at) => `+1202555${1_000 + at}\n`).join("");
  await page.getByLabel("List, as CSV").setInputFiles(file(`to_number\n${numbers}"+12025550100\n`));
  await page.getByRole("button", { name: "Add the list" }).click();
  const list = page.getByLabel("List, as CSV");
  await expect
    .poll(() => descriptionOf(list))
    .toMatch(
      /^the list is not CSV at line 1004: .* 1,?001 contacts of the lines before were added\.$/,
    );
});

test("no key, no secret and no token is in what the browser is given, or stays with it", async () => {
  await visit();
  const bodies: string[] = [];
  page.on("response", async (response) => {
    bodies.push(response.url(), await response.text().catch(() => ""));
  });
  await page.reload();
  await signIn();
  await begin("Secrets");
  await upload(listOf(numbersOf(3)));
  for (const secret of [service.emulator.apiKey, "for-these-tests-only", "outdial=", token]) {
    expect(bodies.join()).not.toContain(secret);
  }
  const stored = await page.evaluate(
    "JSON.stringify([{ ...localStorage, ...sessionStorage }, document.cookie])",
  );
  expect(stored).toBe('[{},""]');
});

const day = new Date().setHours(0, 0, 0, 0);

/** What the Worker says of a long list at the end of a day: no test calls so many. */
const manyOf = (contacts: number) => {
  const states = {
    ...{ waiting: 38_211, calling: 60, unclear: 3, completed: 31_204, machine: 9_120 },
    ...{ message_left: 4_010, flow_error: 12, busy: 5_020, no_answer: 11_804, rejected: 402 },
    ...{
      unreachable: 120,
      refused: 8,
      unknown: 2,
      expired: 0,
      canceled: 0,
      blocked: 24,
      placed: 0,
    },
  };
  const progress = { state: "running", done: false, contacts, ...states };
  const history = Array.from({ length: 200 }, (_, index) => ({
    ...progress,
    ...Object.fromEntries(
      Object.entries(states).map(([name, count]) => [name, Math.round((count * index) / 200)]),
    ),
    at: Date.now() - (200 - index) * 120_000,
  }));
  const values = ["1", "2", "3", "Wednesday afternoon after five, but please not before", "9"];
  const figures = {
    quarters: Array.from({ length: 44 }, (_, index) => {
      const calls = Math.round(1_400 + 900 * Math.sin(index / 5));
      const at = day + 9 * 3_600_000 + index * 900_000;
      return { at, calls, people: Math.round(calls * 0.46), machines: Math.round(calls * 0.2) };
    }),
    answers: ["visit", "price_of_the_whole_thing"].map((name, question) => ({
      name,
      contacts: 28_000 - 9_000 * question,
      values: values.map((value, index) => ({ value, contacts: 9_000 >> (index + question) })),
    })),
    callBacks: { waiting: 1_204, next: day + 20 * 3_600_000 },
    attempts: [60_000, 12_000],
  };
  return { progress, history, figures };
};

/** What there is to see, and how it comes about. */
const scenes: Readonly<Record<string, () => Promise<void>>> = {
  door: async () => {},
  plan: async () => {
    await signIn();
    await page.getByText("New campaign").waitFor();
    if (!(await page.getByLabel("Name", { exact: true }).isVisible()))
      await page.getByText("New campaign").click();
  },
  empty: async () => {
    await signIn();
    await begin("Nobody yet");
  },
  ready: async () => {
    await signIn();
    await begin("Readers of the autumn letter");
    await upload(`${listOf(numbers)}nobody\n12\n`);
  },
  running: async () => {
    await scenes.ready?.();
    await page.getByRole("button", { name: /^Start calling/ }).click();
    await page.getByRole("img", { name: /ended, \d+ completed/ }).waitFor();
  },
  many: async () => {
    const many = manyOf(100_000);
    for (const [what, body] of Object.entries(many)) {
      await page.route(new RegExp(`/${what}(\\?|$)`), (route) => route.fulfill({ json: body }));
    }
    await signIn();
    await begin("Everybody");
    await page.getByText("1,204 to be called at a time that was agreed on").waitFor();
    await page.getByRole("img", { name: /^Calls by the hour/ }).waitFor();
    await page.getByText("Call somebody back").click();
  },
  stop: async () => {
    await scenes.many?.();
    await page.getByRole("button", { name: "End all calls" }).first().click();
  },
  sure: async () => {
    await scenes.ready?.();
    await page.getByRole("button", { name: "Cancel for good" }).first().click();
  },
};

const cases = [360, 1280].flatMap((width) =>
  Object.keys(scenes).map((scene) => [width, scene] as const),
);

describe("the page", () => {
  test.each(cases)(
    "at %i pixels, %s: in light and in dark no violation of axe, nothing cut off",
    async (width, scene) => {
      await visit({ viewport: { width, height: 900 } });
      await scenes[scene]?.();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const path = `${artefacts}campaign-${width}-${colorScheme}-${scene}.png`;
        await page.screenshot({ path, fullPage: true });
        expect(await overflow(page), colorScheme).toBe(0);
        expect(await violations(page), colorScheme).toEqual([]);
      }
      expect(complaints).toEqual([]);
    },
  );
});
