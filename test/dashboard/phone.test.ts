import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { asking } from "./asking.ts";
import { attend, row, theatre, violations } from "./visit.ts";

const show = theatre();

const question = "Your appointment is tomorrow at nine. Press 1 to confirm.";

/** The telephone of a call that asks, answered on the page. */
const answered = async (page: Page) => {
  await attend(page);
  await show.stage.place({ to_number: "+12025550102", flow_url: await asking() });
  await page.getByRole("button", { name: "Answer" }).click();
  const log = page.getByRole("log", { name: "What was said" });
  await log.getByText("Press 1 to confirm").waitFor();
  return { log, keypad: page.getByRole("group", { name: "Keypad" }) };
};

describe("a telephone", () => {
  it("has twelve keys with names, and shows what was said and pressed, as the timeline does", async () => {
    const page = await show.signIn();
    const { log, keypad } = await answered(page);
    const names = await keypad
      .getByRole("button")
      .evaluateAll((keys) => keys.map((key) => key.getAttribute("aria-label")));
    expect(names).toEqual(["1", "2", "3", "4", "5", "6", "7", "8", "9", "star", "0", "hash"]);
    await keypad.getByRole("button", { name: "1", exact: true }).click();
    await log.getByText("Thank you. It is confirmed.").first().waitFor();
    expect(await log.locator("kbd").allTextContents()).toEqual(["1"]);
    await row(page, "+12025550102").click();
    const timeline = page.getByRole("list", { name: "Timeline" });
    await timeline.getByText("key 1").waitFor();
    await timeline.getByText(`${question} (180 s)`, { exact: true }).first().waitFor();
    await timeline.getByText("Thank you. It is confirmed.", { exact: true }).first().waitFor();
    expect(await violations(page)).toEqual([]);
    expect(show.complaints).toEqual([]);
  });

  it("takes the keys of the computer while it has the focus, and only then", async () => {
    const page = await show.signIn();
    const { log } = await answered(page);
    await page.getByLabel("Number or id", { exact: true }).fill("1");
    await page.getByRole("button", { name: "Hang up" }).focus();
    await page.keyboard.press("Control+2");
    await page.keyboard.press("*");
    await log.getByText("key *").waitFor();
    await page.keyboard.press("1");
    await log.getByText("Thank you. It is confirmed.").first().waitFor();
    expect(await log.locator("kbd").allTextContents()).toEqual(["*", "1"]);
  });

  it("speaks aloud only once somebody has switched it on, and a key interrupts it", async () => {
    const page = await show.visit();
    await page.addInitScript(`
      globalThis.spoken = [];
      const speak = ({ text, lang }) => spoken.push([text, lang]);
      Object.defineProperty(globalThis, "speechSynthesis", {
        value: { speak, cancel: () => spoken.push("stopped") },
      });`);
    await page.goto(show.stage.link);
    const { keypad, log } = await answered(page);
    const spoken = () => page.evaluate("spoken");
    expect(await spoken()).toEqual([]);
    const aloud = page.getByRole("button", { name: "Speak aloud", pressed: false });
    await aloud.click();
    await expect.poll(spoken).toContainEqual([question, "en-GB"]);
    await keypad.getByRole("button", { name: "1", exact: true }).click();
    await log.getByText("Thank you.").first().waitFor();
    const said = ["stopped", ["Thank you. It is confirmed.", ""]];
    await expect.poll(spoken).toEqual(expect.arrayContaining([[question, "en-GB"], ...said]));
    await page.getByRole("button", { name: "Speak aloud", pressed: true }).click();
    await page.getByRole("button", { name: "Speak aloud", pressed: false }).waitFor();
  });
});

const many = 20;

it("of many live calls, only those have a telephone that ring, or that somebody has opened", async () => {
  const page = await show.signIn();
  const flow_url = await asking();
  const phones = page.locator("#phones > li");
  const states = page.locator("#calls .state");
  await attend(page);
  // One after the other: answered at once, their flows would be, too, and share the time in which each must be answered.
  for (let live = 1; live < many; live++) {
    const id = await show.stage.place({ flow_url });
    await expect.poll(() => phones.count()).toBe(1);
    await page.evaluate((id) => fetch(`/dashboard/calls/${id}/answer`, { method: "POST" }), id);
    await expect.poll(() => states.allTextContents()).toEqual(Array(live).fill("answered"));
  }
  await show.stage.place({ to_number: "+12025550102", flow_url });
  await page.getByRole("heading", { name: `Calls ${many}` }).waitFor();
  await expect.poll(() => phones.count()).toBe(1);
  await row(page, "+12025550100").first().click();
  await expect.poll(() => phones.count()).toBe(2);
  await phones.first().getByRole("button", { name: "Hang up" }).waitFor();
  await row(page, "+12025550100").first().click();
  await expect.poll(() => phones.count()).toBe(1);
  await row(page, "+12025550100").nth(5).click();
  await phones.first().getByText("Press 1 to confirm").first().waitFor();
});

it("a call that was placed on the page keeps its telephone", async () => {
  const page = await show.signIn();
  await page.getByText("Numbers, flow and callback").click();
  await page.getByLabel("Flow", { exact: true }).fill(await asking());
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByRole("button", { name: "1", exact: true }).click();
  await page.getByRole("log").getByText("Thank you.").first().waitFor();
});
