import { describe, expect, it } from "vitest";
import { raise, raiseProcess } from "./stage.ts";
import { attend, isLive, row, theatre, violations } from "./visit.ts";

const show = theatre();

const alert = "alert";

describe("a lost connection", () => {
  it("is seen at once, and buttons rest until it is back", async () => {
    await show.stage.stop();
    show.stage = await raiseProcess();
    const page = await show.signIn();
    await attend(page);
    await show.stage.place({ to_number: "+12025550102" });
    const buttons = ["Answer", "Reject", "Reveal", "Regenerate …", "Call"].map((name) =>
      page.getByRole("button", { name, exact: true }),
    );
    for (const button of buttons) await expect.poll(() => button.isEnabled()).toBe(true);
    const { running } = show.stage;
    // It stands still, and says neither goodbye nor anything else.
    running.kill("SIGSTOP");
    try {
      await page.getByRole(alert).filter({ hasText: "The emulator is silent." }).waitFor();
      for (const button of buttons) await expect.poll(() => button.isEnabled()).toBe(false);
      await expect.poll(() => page.getByRole("switch").isEnabled()).toBe(false);
      // What can be read can be read on.
      await row(page, "+12025550102").click();
      expect(await violations(page)).toEqual([]);
    } finally {
      running.kill("SIGCONT");
    }
    await isLive(page);
    await page.getByRole(alert).waitFor({ state: "hidden" });
    for (const button of buttons) await expect.poll(() => button.isEnabled()).toBe(true);
  });

  it("gives the focus back to the button that had it", async () => {
    const page = await show.signIn();
    const button = page.getByRole("button", { name: "Reveal" });
    await button.focus();
    await page.route("**/dashboard/key", (route) => route.abort());
    await page.keyboard.press("Enter");
    await page.getByRole(alert).filter({ hasText: "does not respond" }).waitFor();
    await isLive(page);
    await expect
      .poll(() => button.evaluate((element) => element === document.activeElement))
      .toBe(true);
  });

  it("is said to be for good when the emulator has ended, after a restart too", async () => {
    const page = await show.signIn();
    await show.stage.stop();
    await page
      .getByRole(alert)
      .filter({ hasText: "The connection to the emulator is lost." })
      .waitFor();
    const { port } = new URL(show.stage.baseUrl);
    show.stage = await raise("--port", port);
    await page.getByRole(alert).filter({ hasText: "Open the link of the new run." }).waitFor();
  });
});
