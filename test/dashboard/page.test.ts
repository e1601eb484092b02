import { describe, expect, it } from "vitest";
import { asking } from "./asking.ts";
import { artefact, raise } from "./stage.ts";
import { attend, row, theatre, violations } from "./visit.ts";

const show = theatre();
const { complaints, visit, signIn } = show;

describe("signing in", () => {
  it("takes the link once, and keeps a cookie that no script can read", async () => {
    const page = await signIn();
    expect(page.url()).toBe(`${show.stage.baseUrl}/`);
    const [cookie, ...others] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
    expect(show.stage.link).not.toContain(cookie?.value);
    expect(others).toEqual([]);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    await page.reload();
    await page.getByRole("heading", { name: "API key" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("shows nothing to who has no link, and takes the token by hand", async () => {
    const page = await visit();
    await page.goto(show.stage.baseUrl);
    expect(await page.getByRole("heading", { name: "API key" }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await page.screenshot({ path: artefact("sign-in") });
    await page.getByLabel("Token").fill("another");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "another run" }).waitFor();
    await page.getByLabel("Token").fill(new URL(show.stage.link).searchParams.get("token") ?? "");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "API key" }).waitFor();
  });
});

describe("the API key", () => {
  it("is masked, revealed, hidden again, and never in the page unasked", async () => {
    const page = await signIn();
    expect(await page.content()).not.toContain(show.stage.key);
    await page.getByRole("button", { name: "Reveal" }).click();
    await page.getByText(show.stage.key).waitFor();
    await page.getByRole("button", { name: "Hide", pressed: true }).click();
    await page.getByText("ak_•").waitFor();
    expect(await page.content()).not.toContain(show.stage.key);
  });

  it("is copied", async () => {
    const page = await signIn();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(show.stage.key);
  });

  it("is regenerated after a warning, and the old one is refused at once", async () => {
    const page = await signIn();
    const other = await page.context().newPage();
    await other.goto(show.stage.baseUrl);
    await other.getByRole("button", { name: "Reveal" }).click();
    await other.getByText(show.stage.key).waitFor();

    await page.getByRole("button", { name: "Regenerate" }).click();
    const dialog = page.getByRole("dialog", { name: "Regenerate the API key?" });
    await dialog.getByText("all callers must switch to the new key together").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await show.stage.statusWith(show.stage.key)).toBe(202);

    await page.getByRole("button", { name: "Regenerate" }).click();
    await dialog.getByRole("button", { name: "Regenerate" }).click();
    await page.getByText("The old one is refused from now on").waitFor();
    expect(await show.stage.statusWith(show.stage.key)).toBe(403);
    await page.getByRole("button", { name: "Reveal" }).click();
    const key =
      (await page
        .locator("#key")
        .filter({ hasText: /^ak_[\w-]{43}$/ })
        .textContent()) ?? "";
    expect(key).not.toBe(show.stage.key);
    expect(await show.stage.statusWith(key)).toBe(202);
    // What another window had revealed is the old key: it is hidden.
    await other.getByRole("button", { name: "Reveal" }).waitFor();
  });
});

describe("a call", () => {
  it("rings until it is answered on the page, and is hung up there, by keyboard alone", async () => {
    const page = await signIn();
    await attend(page);
    await show.stage.place({ to_number: "+12025550102", flow_url: await asking() });
    const answer = page.getByRole("button", { name: "Answer" });
    await answer.focus();
    await page.keyboard.press("Enter");
    await show.stage.running.says(/answered\n/);
    const hangUp = page.getByRole("button", { name: "Hang up" });
    await hangUp.waitFor();
    // The button that was pressed is gone; the focus goes to what comes next.
    await expect
      .poll(() => hangUp.evaluate((button) => button === document.activeElement))
      .toBe(true);
    await page.keyboard.press("Enter");
    await show.stage.running.says(/completed +normal/);
    await hangUp.waitFor({ state: "detached" });
    await row(page, "+12025550102")
      .filter({ hasText: /completed/ })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("is rejected on the page", async () => {
    const page = await signIn();
    await attend(page);
    await show.stage.place({ to_number: "+12025550102" });
    await page.getByRole("button", { name: "Reject" }).click();
    await show.stage.running.says(/failed +rejected/);
    await row(page, "+12025550102").filter({ hasText: "failed · rejected" }).waitFor();
  });

  it("opens as a timeline that goes on by itself, up to the recording, which plays", async () => {
    const page = await signIn();
    await show.stage.place({});
    await row(page, "+12025550100").click();
    const timeline = page.getByRole("list", { name: "Timeline" });
    await timeline.getByText("call.completed", { exact: true }).waitFor();
    const steps = await timeline.locator("li.step b").allTextContents();
    expect(steps).toEqual(["initiated", "ringing", "answered", "completed"]);
    await timeline.getByText(/^flow step 1 · HTTP 200/).waitFor();
    await timeline.getByText(/^play for 3\.0 s/).waitFor();

    await timeline.getByText("Request and answer").last().click();
    await timeline
      .getByText(/webhook-signature: v1,/)
      .last()
      .waitFor();
    await timeline.getByText('"type": "call.completed"').waitFor();
    await timeline
      .getByText(/^Answer · HTTP 204/)
      .last()
      .waitFor();

    const audio = timeline.getByLabel("Recording of the call");
    const played = await audio.evaluate(async (element) => {
      const player = element as HTMLAudioElement;
      await player.play();
      await new Promise<void>((resolve) => {
        player.ontimeupdate = () => player.currentTime > 0 && resolve();
      });
      return player.duration;
    });
    // On a busy machine a call lasts longer than what is played in it.
    const text = (await timeline.locator("li.recording .what").textContent()) ?? "";
    const recorded = Number(/recording · (\d+\.\d) s/.exec(text)?.[1]);
    expect(recorded).toBeGreaterThan(2.9);
    expect(Math.abs(played - recorded)).toBeLessThan(0.1);
    expect(complaints).toEqual([]);
  });

  it("tells each try of a notification that does not arrive, and why the flow failed", async () => {
    await show.stage.stop();
    show.stage = await raise("--speed", "200");
    const page = await signIn();
    await show.stage.place({
      flow_url: `${show.stage.baseUrl}/no/flow`,
      status_callback_url: `${show.stage.baseUrl}/dashboard/key`,
    });
    await row(page, "completed · flow error").click();
    const timeline = page.getByRole("list", { name: "Timeline" });
    await timeline.getByText(/call\.completed · try 1 · given up · HTTP 401/).waitFor();
    await timeline.getByText(/flow error · .*step 1.*flow_url.*404/i).waitFor();
  });

  it("shows what strangers wrote as text, whatever it is", async () => {
    const page = await signIn();
    const evil = "<img src=x onerror=alert(1)>";
    await attend(page);
    await show.stage.place({
      to_number: "+12025550102",
      flow_url: `${show.stage.baseUrl}/${evil.replaceAll(" ", "%20")}`,
    });
    await row(page, "+12025550102").click();
    await page.getByRole("button", { name: "Answer" }).click();
    await page.getByText("flow error").first().waitFor();
    await page.getByText("<img").first().waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it.each([
    [
      "a flow that can't be followed",
      { flow_url: "http://127.0.0.1:1/flow" },
      /^step 1: flow_url gave no answer/,
    ],
    ["a telephone that is busy", { to_number: "+12025550101" }, /^busy$/],
  ])("names the cause first in the details of a call that failed: %s", async (_, params, cause) => {
    const page = await signIn();
    await show.stage.place(params);
    const head = page.getByRole("heading").getByRole("button", { name: /flow error|busy/ });
    await head.click();
    const facts = page.locator(".facts");
    await facts.getByText("Cause", { exact: true }).waitFor();
    expect(await facts.locator("dt").first().textContent()).toBe("Cause");
    expect(await facts.locator("dd").first().textContent()).toMatch(cause);
  });

  it("stays open when the connection to the emulator breaks and comes back", async () => {
    const page = await signIn();
    const id = await show.stage.place({ to_number: "+12025550101" });
    await row(page, "failed · busy").waitFor();
    const facts = await page.evaluate(async (call) => {
      const { history: _, ...rest } = await (await fetch(`/dashboard/calls/${call}`)).json();
      return rest;
    }, id);
    const { promise: opened, resolve: resume } = Promise.withResolvers<void>();
    let connections = 0;
    await page.route("**/dashboard/events", async (route) => {
      connections++;
      // It comes back twice once the row is open; the last connection gets no answer, so that the page rests.
      if (connections === 2) await opened;
      if (connections === 4) return;
      const news = { now: Date.now(), whole: true, key: false, calls: [facts], refused: [] };
      const body = `retry: 100\n\ndata: ${JSON.stringify(news)}\n\n`;
      await route.fulfill({ contentType: "text/event-stream", body });
    });
    await page.reload();
    await row(page, "failed · busy").click();
    resume();
    await expect.poll(() => connections).toBe(4);
    await page
      .getByRole("list", { name: "Timeline" })
      .getByText("call.failed", { exact: true })
      .waitFor();
    expect(await row(page, "failed · busy").getAttribute("aria-expanded")).toBe("true");
    expect(await page.getByRole("list", { name: "Timeline" }).count()).toBe(1);
  });
});
