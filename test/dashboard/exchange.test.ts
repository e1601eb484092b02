import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { serveNode } from "../../src/cli/serve.ts";
import { tone } from "../../src/emulator/recording/track.ts";
import { Metrics } from "../../src/exchange/metrics.ts";
import { openPages } from "../../src/exchange/page/routes.ts";
import { Recorder } from "../../src/exchange/recorder.ts";
import type { CallRecord, HistoryEntry } from "../../src/server/history.ts";
import { callOf, failedOf, fakeService, rang } from "../unit/exchange/fake-service.ts";
import { artefact } from "./stage.ts";
import { isLive, overflow, row, theatreOf, violations } from "./visit.ts";

const begun = Date.now() - 90_000;
const at = (ms: number): string => new Date(begun + ms).toISOString();

const entriesOf = (call_id: string): readonly HistoryEntry[] => [
  { type: "state", state: "initiated", call_id, at: at(0) },
  { type: "state", state: "ringing", call_id, at: at(1_200) },
  { type: "state", state: "answered", call_id, at: at(4_000) },
  {
    type: "flow",
    step: 1,
    url: "https://app.example/flow",
    ms: 31,
    status: 200,
    action: { action: "hangup" },
    call_id,
    at: at(4_040),
  },
  {
    type: "action",
    step: 1,
    action: { action: "hangup" },
    plays: [{ text: "Your appointment is tomorrow at nine. Press 1 to confirm." }],
    call_id,
    at: at(4_050),
  },
];

const callWith = (id: string, facts: Partial<CallRecord> = {}): CallRecord =>
  callOf(id, {
    initiated_at: begun,
    answered_at: begun + 4_000,
    history: entriesOf(id),
    ...facts,
  });

const ended = { state: "completed", reason: "normal", ended_at: begun + 64_000 } as const;

/** The pages of an exchange on a port: two live calls, three that are over, failed notifications and a recording. */
const raiseExchange = async () => {
  const service = fakeService();
  service.live.push(
    callWith("cs_live1", { to_number: "+12025550101" }),
    callOf("cs_live2", { state: "ringing", to_number: "+12025550102", initiated_at: begun }),
  );
  service.over.push(
    callWith("cs_over1", {
      ...ended,
      history: [
        ...entriesOf("cs_over1"),
        { type: "state", ...ended, call_id: "cs_over1", at: at(64_000) },
        {
          type: "recording",
          url: "https://calls.example/recordings/cs_over1.wav?signature=x",
          seconds: 2,
          call_id: "cs_over1",
          at: at(64_010),
        },
      ],
    }),
    callWith("cs_over2", { state: "failed", reason: "busy", to_number: "+12025550103" }),
  );
  service.failedNotifications.push(
    failedOf("evt_1"),
    failedOf("evt_2", {
      state: "pending",
      attempts: 1,
      next_at: Date.now() + 60_000,
      status: undefined,
      error: "gave no answer within 10000 ms",
      response: undefined,
    }),
  );
  const db = new DatabaseSync(":memory:");
  const folder = mkdtempSync(join(tmpdir(), "recordings-"));
  const recorder = await Recorder.open({ folder, db, maxDays: 1, maxBytes: 2 ** 30 });
  recorder.begin(callOf("cs_over1"));
  recorder.frame("cs_over1", "callee", 0, tone(440, 8_000, 0, 16_000));
  recorder.end("cs_over1");
  let port = 0;
  const pages = openPages({
    service,
    recorder,
    metrics: new Metrics(),
    limits: () => [
      { name: "calls at once", used: 2, most: 30 },
      { name: "minutes today, of the key", used: 287, most: 300 },
    ],
    isHost: (host) => host === `127.0.0.1:${port}`,
    controlToken: "control",
    apiUrl: "https://calls.example",
    onEvent: () => {},
  });
  const server = await serveNode(pages.fetch, { hostname: "127.0.0.1", port: 0 });
  port = server.port;
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    baseUrl,
    link: `${baseUrl}/?token=${pages.token}`,
    service,
    pages,
    stop: async () => {
      pages.close();
      await server.stop();
      await recorder.close();
      db.close();
    },
  };
};

const show = theatreOf(raiseExchange);

describe("the exchange's page", () => {
  it("shows live calls and what each does, and follows them to their end", async () => {
    const page = await show.signIn();
    await row(page, "+12025550101").getByText("Press 1 to confirm").waitFor();
    await row(page, "+12025550102").filter({ hasText: "ringing" }).waitFor();
    const { service, pages } = show.stage;
    service.live.shift();
    service.over.push(callWith("cs_live1", { ...ended, to_number: "+12025550101" }));
    pages.onEvent(rang("cs_live1"));
    await row(page, "+12025550101").filter({ hasText: "completed" }).waitFor();
    await page.getByRole("heading", { name: "Calls 4" }).waitFor();
    expect(show.complaints).toEqual([]);
  });

  it("opens a call as the emulator's timeline, whose recording plays from the page's own address", async () => {
    const page = await show.signIn();
    await row(page, "+12025550100").click();
    const timeline = page.getByRole("list", { name: "Timeline" });
    await timeline.getByText("Your appointment is tomorrow at nine.").waitFor();
    const duration = await timeline
      .getByLabel("Recording of the call")
      .evaluate(async (element) => {
        const player = element as HTMLAudioElement;
        await player.play();
        return player.duration;
      });
    expect(duration).toBeCloseTo(2, 1);
    expect(show.complaints).toEqual([]);
  });

  it("sends a failed notification again, and shows what its receiver answered, as text", async () => {
    const page = await show.signIn();
    const failed = page.getByRole("listitem").filter({ hasText: "given up" });
    await failed.getByText("Answer").click();
    await failed.getByText("the receiver is <b>broken</b>").waitFor();
    await failed.getByRole("button", { name: "Send again" }).click();
    await failed.getByText("It is being sent.").waitFor();
    expect(show.stage.service.resent).toEqual(["evt_1"]);
    show.stage.service.failedNotifications = [];
    await page.getByText("All are delivered.").waitFor();
  });

  it("regenerates the key after a warning, and shows the new one once", async () => {
    const page = await show.signIn();
    await page.getByRole("button", { name: "Regenerate" }).click();
    const dialog = page.getByRole("dialog", { name: "Regenerate the API key?" });
    await dialog.getByText("all callers must switch to the new key together").waitFor();
    await page.keyboard.press("Escape");
    expect(show.stage.service.keys).toBe(0);
    await page.getByRole("button", { name: "Regenerate" }).click();
    await dialog.getByRole("button", { name: "Regenerate" }).click();
    await page.getByText("ak_key-number-1").waitFor();
    await page.getByRole("button", { name: "Copy" }).click();
    await page.getByText("Copied.").waitFor();
    await page.reload();
    await isLive(page);
    expect(await page.content()).not.toContain("ak_key");
  });

  it("says when Asterisk is away, and when it is back", async () => {
    const page = await show.signIn();
    const alert = page.getByRole("alert").filter({ hasText: "Asterisk is not reached" });
    show.stage.service.isReady = false;
    await alert.waitFor();
    show.stage.service.isReady = true;
    await alert.waitFor({ state: "hidden" });
  });

  it("signs all browsers out", async () => {
    const page = await show.signIn();
    const other = await page.context().newPage();
    await other.goto(show.stage.baseUrl);
    await isLive(other);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token or password").waitFor();
    await other.getByRole("alert").filter({ hasText: "The exchange has ended" }).waitFor();
    await page.goto(show.stage.link);
    await page.getByRole("alert").filter({ hasText: "neither the token" }).waitFor();
  });

  it("narrow and wide, in light and in dark, no violation of axe, nothing cut off", async () => {
    const page = await show.signIn();
    await row(page, "+12025550100").click();
    await page.getByLabel("Recording of the call").waitFor();
    await page.getByText("Answer", { exact: true }).first().click();
    await page.getByText("287 of 300").waitFor({ state: "attached" });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        const look = `exchange-${width}-${colorScheme}`;
        await page.screenshot({ path: artefact(look), fullPage: true });
        expect(await overflow(page), look).toBe(0);
        expect(await violations(page), look).toEqual([]);
      }
    }
    const stranger = await show.visit({ viewport: { width: 360, height: 740 } });
    await stranger.goto(show.stage.baseUrl);
    expect(await violations(stranger)).toEqual([]);
    await stranger.screenshot({ path: artefact("exchange-sign-in") });
  });
});
