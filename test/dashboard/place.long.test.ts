import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { raise } from "./stage.ts";
import { row, theatre, violations } from "./visit.ts";

const show = theatre();

/** Where the page shows the response to the call that was placed on it. */
const status = "#place-status";

describe("a call that is placed on the page", () => {
  it("is one of the scenario that is chosen, by keyboard alone", async () => {
    const page = await show.signIn();
    const scenario = page.getByLabel("Scenario");
    await scenario.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await row(page, "+12025550101").filter({ hasText: "failed · busy" }).waitFor();
    await expect.poll(() => page.locator(status).textContent()).toBe("HTTP 202: Call accepted.");
    expect(show.complaints).toEqual([]);
  });

  it.each([
    ["+12025550110", /^HTTP 503: The service is unavailable\.$/],
    ["+12025550112", /^No answer: .*tim/],
    ["+12025550113", /^No answer: /],
    ["+12025550114", /^No answer: The connection was dropped$/],
    ["+12025550115", /^HTTP 202: accepted, but this is not JSON$/],
    ["+12025550116", /^No answer: The connection was dropped$/],
    ["+12025550117", /^No answer: The connection was dropped$/],
    ["+12025550118", /^HTTP 503: The service failed after it had placed the call\.$/],
  ])("to %s says what the API answered", async (number, words) => {
    const page = await show.signIn();
    await page.getByLabel("Scenario").selectOption(number);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.locator(status).filter({ hasText: words }).waitFor();
  });

  it("goes to the number, the flow and the callback that are filled in", async () => {
    const page = await show.signIn();
    await page.getByText("Numbers, flow and callback").click();
    await page.getByLabel("To", { exact: true }).fill("+4930901820");
    await page.getByLabel("Flow", { exact: true }).fill(`${show.stage.baseUrl}/sample/flow?a=1`);
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await row(page, "+4930901820").click();
    await page.getByText("/sample/flow?a=1").first().waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("is refused with the field that is wrong, and the page shows that field", async () => {
    const page = await show.signIn();
    await page.getByText("Numbers, flow and callback").click();
    await page.getByLabel("To", { exact: true }).fill("030 90182");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByText(/^HTTP 422: to_number: /).waitFor();
    await page.getByLabel("Flow", { exact: true }).fill("");
    await page.getByText("Numbers, flow and callback").click();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await page.getByLabel("Flow", { exact: true }).waitFor();
  });

  it("is placed by the curl line that is copied", async () => {
    const page = await show.signIn();
    await page.getByLabel("Scenario").selectOption("+12025550103");
    await page.getByRole("button", { name: "Copy as curl" }).click();
    await page.getByText("Copied, with the key in it.").waitFor();
    const line = await page.evaluate(() => navigator.clipboard.readText());
    const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ data: { to_number: "+12025550103" } });
    // The key is in no argument: those are public.
    expect(line).toMatch(/^echo '[^']+' \| curl /);
    expect(line.slice(line.indexOf("|"))).not.toContain(show.stage.key);
    expect(await page.content()).not.toContain(show.stage.key);
  });
});

describe("the switch", () => {
  const words = "Ring until I answer or reject";

  it("lets a telephone ring until somebody decides on the page", async () => {
    await show.stage.stop();
    show.stage = await raise("--speed", "20");
    const page = await show.signIn();
    await page.getByRole("switch", { name: words }).focus();
    await page.keyboard.press("Space");
    const other = await page.context().newPage();
    await other.goto(show.stage.baseUrl);
    await other.getByRole("switch", { name: words, checked: true }).waitFor();
    await show.stage.place({ to_number: "+12025550103" });
    const id = await show.stage.place({});
    await show.stage.place({ to_number: "+12025550101" });
    await row(page, "failed · busy").waitFor();
    await show.stage.place({ to_number: "+12025550102" });
    const reject = page.getByRole("button", { name: "Reject" });
    await expect.poll(() => reject.count()).toBe(3);
    // Left to themselves they would stop ringing within two seconds; the tone of the last lasts three.
    const answer = page.getByRole("button", { name: "Answer" });
    await answer.first().click();
    await row(page, "+12025550102").filter({ hasText: "completed" }).waitFor();
    await expect.poll(() => reject.count()).toBe(2);
    await answer.first().click();
    await show.stage.running.says(new RegExp(`${id.slice(-6)} +answered`));
    await expect.poll(() => reject.count()).toBe(1);
    await reject.click();
    await row(page, "+12025550103").filter({ hasText: "failed · rejected" }).waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it("is off at first, and leaves it to the number again once it is off", async () => {
    const page = await show.signIn();
    const control = page.getByRole("switch", { name: words, checked: false });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/attendant\/present$/, async (route) => {
      await released;
      await route.continue();
    });
    const off = page.waitForResponse(/\/attendant\/absent$/);
    await control.click();
    await page.getByRole("switch", { name: words, checked: true }).click();
    await control.waitFor();
    release(); // The request to switch it on is on its way for long: the other waits for it.
    await off;
    await show.stage.place({});
    await show.stage.running.says(/ answered\n/);
  });
});
