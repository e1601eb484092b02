import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { launch } from "../runtimes/browser.ts";
import { bridges, type RunningBridge, startBridge } from "./bridges.ts";
import { number, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

let browser: Browser;
let service: Service;
let bridge: RunningBridge;
let page: Page;
const complaints: string[] = [];
const hangsUp = { outcome: "answer", hangUpAfter: 5_000 } as const;
const ringsOn = { outcome: "no_answer", ringFor: 600_000 } as const;
let telephone: typeof hangsUp | typeof ringsOn;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

beforeEach(async () => {
  telephone = hangsUp;
  service = await startService({ onCall: () => telephone });
  bridge = await startBridge(bridges.node ?? expect.fail(), service);
  page = await browser.newPage();
  complaints.length = 0;
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => complaints.push(message.text()));
  await page.goto(bridge.url);
});

afterEach(async () => {
  await page.close();
  await bridge.close();
  await service.close();
});

const dial = async (whose: string, to: string): Promise<void> => {
  await page.getByLabel("Your token").fill(whose);
  await page.getByLabel("Number").fill(to);
  await page.getByRole("button", { name: "Call" }).click();
};

const state = () => page.getByRole("status").textContent();

test("the page places a call and shows it live to its end", async () => {
  telephone = ringsOn;
  await dial(token, number);
  const shows = (what: string) =>
    until(`${what} is shown`, async () => (await state())?.startsWith(what) ?? false);
  await shows("ringing");
  const { id = "" } = service.emulator.calls[0] ?? {};
  service.emulator.answer(id);
  await shows("answered");
  service.emulator.hangup(id);
  await shows("completed");
  expect(await state()).toBe(`completed, normal, ${service.emulator.call(id)?.duration} s`);
  const events = await page.getByRole("listitem").allTextContents();
  expect(events.map((each) => each.replace(/^.*call\./, ""))).toEqual([
    "initiated",
    "ringing",
    "answered",
    "completed",
  ]);
  expect(service.emulator.calls.map(({ to_number }) => to_number)).toEqual([number]);
  expect(complaints).toEqual([]);
});

test("no key is in anything that the browser is given, and the token is kept nowhere", async () => {
  const bodies: string[] = [];
  const urls: string[] = [];
  page.on("response", async (response) => {
    urls.push(response.url());
    bodies.push(await response.text().catch(() => ""));
  });
  await page.reload();
  await dial(token, number);
  await until("the call is shown to be over", async () => (await state())?.startsWith("completed"));
  expect(bodies.length).toBeGreaterThan(4);
  const all = bodies.join() + urls.join();
  for (const secret of [service.emulator.apiKey, service.emulator.webhookSecret, "outdial=", token])
    expect(all).not.toContain(secret);
  const stored = await page.evaluate(
    "JSON.stringify([{ ...localStorage, ...sessionStorage }, document.cookie])",
  );
  expect(stored).toBe('[{},""]');
});

test("a refusal is told in words, and the button can be pressed again", async () => {
  await dial(token.toUpperCase(), number);
  await until("the refusal is told", async () => (await state()) === "The token is not known.");
  await dial(token, "+441632960000");
  const words = "This token may not call that number.";
  await until("the refusal is told", async () => (await state()) === words);
  expect(service.emulator.calls).toEqual([]);
});

test("a call that the bridge shows no more is asked for no more, and the next one can be placed", async () => {
  telephone = ringsOn;
  await dial(token, number);
  await until("it rings", async () => (await state())?.startsWith("ringing"));
  await page.getByLabel("Your token").fill(token.toUpperCase());
  await until("the refusal is told", async () => (await state()) === "The token is not known.");
  await until("the button is back", () => page.getByRole("button", { name: "Call" }).isEnabled());
});

test("the policy lets no other script, style, frame or address in", async () => {
  const response = await fetch(bridge.url);
  expect(response.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
  );
  await page
    .evaluate(`{
    const script = document.createElement("script");
    script.append("window.injected = true");
    document.body.append(script);
  }`)
    .catch(() => {});
  expect(await page.evaluate("window.injected")).toBeUndefined();
  const other = `${service.baseUrl}/api/v1/calls/initiate`;
  const reached = await page.evaluate(`fetch("${other}").then(() => true, () => false)`);
  expect(reached).toBe(false);
});
