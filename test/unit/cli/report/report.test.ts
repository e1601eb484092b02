import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openLedger } from "../../../../src/campaigns/index.ts";
import { reportDataOf } from "../../../../src/cli/report/data.ts";
import { reportPage } from "../../../../src/cli/report/page.ts";
import { reportLines } from "../../../../src/cli/report/text.ts";
import { invoke } from "../../../cli/cli.ts";
import { numberOf, people, stageOf } from "../../campaigns/stage.ts";

let folder: string;
let file: string;

/** Noon in Berlin: a person, a machine, one who is busy twice, and one who waits; an hour later another person. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "report-"));
  file = join(folder, "people.outdial");
  const database = new DatabaseSync(file);
  const stage = await stageOf({ attempts: 2, retryDelay: 3_600_000 }, database);
  await stage.campaign.add(people(4));
  await stage.play();
  await stage.hear(0, { answers: { visit: "1", back: `under ${numberOf(7)}, <b>please</b>` } });
  await stage.tellMore(0, "call.completed", { reason: "normal", cost: "1234.5", currency: "USD" });
  await stage.tellMore(1, "call.completed", {
    reason: "normal",
    answered_by: "machine_start",
    cost: "0.005",
  });
  await stage.tell(2, "call.failed", "busy");
  await stage.tell(3, "call.failed", "no_answer");
  await stage.play(3_600_000);
  await stage.tell(4, "call.failed", "busy");
  await stage.campaign.close();
  database.close();
});

afterAll(() => rmSync(folder, { recursive: true }));

const dataOf = (timezone: string, hasNumbers = false) => {
  const database = new DatabaseSync(file);
  const ledger = openLedger(database);
  const now = Date.parse("2026-06-03T12:00Z");
  const options = { ledger: "people.outdial", timezone, now, hasNumbers };
  const data = reportDataOf(ledger.progress(), ledger.figures(), options);
  database.close();
  return data;
};

it("a report has calls and who answered them by hour and day of a zone, and how contacts ended", () => {
  const data = dataOf("Europe/Berlin");
  expect(data).toMatchObject({
    contacts: { contacts: 4, waiting: 0, calling: 1 },
    calls: { calls: 6, people: 1, machines: 1 },
    hours: [
      { hour: 12, calls: 4, people: 1, machines: 1 },
      { hour: 13, calls: 2, people: 0, machines: 0 },
    ],
    days: [{ date: "2026-06-03", calls: 6 }],
    attempts: [2, 2],
    dispositions: [
      { name: "completed", contacts: 1 },
      { name: "machine", contacts: 1 },
      { name: "busy", contacts: 1 },
    ],
  });
  const [first, second] = dataOf("Pacific/Kiritimati").days;
  expect(first).toMatchObject({ date: "2026-06-04", calls: 6 });
  expect(second).toBeUndefined();
});

it("the terminal shows the same, with rates of what there is", () => {
  const text = reportLines(dataOf("Europe/Berlin")).join("\n");
  expect(text).toContain("6 calls: 16.7 % answered by people, 16.7 % by machines");
  expect(text).toMatch(/^ {2}12:00 {2}4 {3}25\.0 % {2}█{6}$/m);
  expect(text).toMatch(/^ {2}13:00 {2}2 {4}0\.0 %$/m);
  expect(text).toMatch(/^ {2}completed {2}1 {3}33\.3 % {2}█{8}$/m);
  expect(text).toContain("Answers: visit (1 contact)\n  1  1  100.0 %");
});

it("costs have a sum for each currency, and are not there where the carrier reports none", () => {
  const data = dataOf("Europe/Berlin");
  const text = "Cost, as the carrier reports it: 0.005 for 1 call, 1,234.5 USD for 1 call";
  expect(reportLines(data)).toContain(text);
  expect(reportPage(data)).toContain(`<p class="soft">${text}.</p>`);
  const none = { ...data, costs: [] };
  expect(reportLines(none).join()).not.toContain("Cost");
  expect(reportPage(none)).not.toContain("Cost,");
});

it("no telephone number is in a report without being asked for, neither of the list nor of an answer", () => {
  const data = dataOf("Europe/Berlin");
  for (const text of [reportPage(data), reportLines(data).join("\n"), JSON.stringify(data)]) {
    expect(text).toContain("under ***");
    expect(text).not.toContain("202555");
  }
  const asked = reportPage(dataOf("Europe/Berlin", true));
  expect(asked).toContain(`under ${numberOf(7)}, &lt;b&gt;please&lt;/b&gt;`);
  expect(asked).not.toContain(numberOf(0));
});

it("the page loads nothing: its own style and script have their hashes in its policy", () => {
  const page = reportPage(dataOf("Europe/Berlin"));
  const [, policy = ""] = /Content-Security-Policy" content="([^"]+)"/.exec(page) ?? [];
  expect(policy.replaceAll("&#39;", "'")).toMatch(
    /^default-src 'none'; style-src 'sha256-\S+'; script-src 'sha256-\S+'; base-uri 'none'/,
  );
  expect(page.match(/\b(src|href)=|https?:/g)).toBeNull();
});

it("a ledger without contacts has a page and lines, and nothing that is not a number", () => {
  const database = new DatabaseSync(":memory:");
  return stageOf({}, database).then(() => {
    const ledger = openLedger(database);
    const options = { ledger: "new", timezone: "UTC", now: 0, hasNumbers: false };
    const data = reportDataOf(ledger.progress(), ledger.figures(), options);
    expect(data).toMatchObject({ state: "running", hours: [], days: [] });
    const text = `${reportPage(data)}${reportLines(data).join()}`.replace(
      /<script>.*<\/script>/s,
      "",
    );
    expect(text).toContain("No call has begun yet");
    expect(text).not.toMatch(/NaN|undefined|Infinity/);
  });
});

it("outdial report prints figures or JSON, and replaces an earlier page and nothing else", async () => {
  const html = join(folder, "report.html");
  const args = ["report", file, "--timezone", "Europe/Berlin"];
  const printed = await invoke([...args, "--html", html]);
  expect(printed).toMatchObject({ code: 0, stderr: "" });
  expect(printed.stdout).toMatch(/^people\.outdial: running\n4 contacts: 3 ended, 1 live\n/);
  const again = await invoke([...args, "--html", html, "--json"]);
  expect(JSON.parse(again.stdout)).toMatchObject({
    calls: { calls: 6 },
    timezone: "Europe/Berlin",
  });
  expect(readFileSync(html, "utf8")).toMatch(/^<!doctype html>/);
  const before = readFileSync(file);
  const kept = await invoke([...args, "--html", file]);
  expect(kept.stderr).toMatch(/--html is a file that is no report: it is kept/);
  expect(kept.code).toBe(2);
  expect(readFileSync(file).equals(before)).toBe(true);
  expect((await invoke([...args, "--html", join(folder, "none", "a.html")])).code).toBe(1);
  expect((await invoke(["report", file, "--timezone", "Berlin"])).code).toBe(2);
  writeFileSync(join(folder, "empty.outdial"), "");
  const empty = await invoke(["report", join(folder, "empty.outdial")]);
  expect(empty.stderr).toMatch(/the ledger is empty/);
});

it("answers stand in the order of the keys, and who opted out by one apart", async () => {
  const database = new DatabaseSync(":memory:");
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(6));
  await stage.play();
  for (const [at, visit] of ["4", "10", "2", "9", "4", "9"].entries()) {
    await stage.hear(at, { answers: { visit } });
  }
  // Who opts out at the second question has rated before.
  await stage.play(1_000);
  await stage.hear(0, { answers: { price: "9" } });
  await stage.campaign.block([numberOf(0), numberOf(3)]);
  for (const at of [0, 1, 2, 3, 4, 5]) await stage.tell(at, "call.completed", "normal");
  await stage.play(1_000);
  await stage.campaign.block(numberOf(5)); // By hand, after the call.
  const options = { ledger: "a.outdial", timezone: "UTC", now: 0, hasNumbers: false };
  const own = { title: "Visits in <May>", questions: { visit: "How was your visit?" } };
  const ledger = openLedger(database);
  const data = reportDataOf(ledger.progress(), ledger.figures(), { ...options, ...own });
  expect(data.answers).toEqual([
    {
      ...{ name: "visit", text: "How was your visit?", contacts: 6 },
      values: [
        { value: "2", contacts: 1 },
        { value: "4", contacts: 2 },
        { value: "9", contacts: 1 },
        { value: "10", contacts: 1 },
      ],
      optedOut: [{ value: "9", contacts: 1 }],
    },
    { name: "price", contacts: 1, values: [], optedOut: [{ value: "9", contacts: 1 }] },
  ]);
  const text = reportLines(data).join("\n");
  expect(text).toMatch(/^Visits in <May>: /);
  expect(text).toContain("Answers: How was your visit? (5 contacts)\n  2   1   20.0 %");
  expect(text).toContain("\n  1 contact asked not to be called again (9: 1)");
  const page = reportPage(data);
  expect(page).toContain("<h1>Visits in &lt;May&gt;</h1>");
  expect(page).toContain("<caption>How was your visit? ");
  expect(page).toContain("1 contact asked not to be called again (9: 1).");
});

it("--title and --question are what the report says, and a question without a text is refused", async () => {
  const args = ["report", file, "--title", "May", "--question", "visit=How was it?"];
  expect((await invoke(args)).stdout).toMatch(
    /^May: running\n(?:.*\n)*Answers: How was it\? \(1 contact\)/,
  );
  expect((await invoke(["report", file, "--question", "visit"])).code).toBe(2);
});
