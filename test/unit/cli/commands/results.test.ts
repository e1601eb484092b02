import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { PassThrough, Readable } from "node:stream";
import { expect, it } from "vitest";
import { csvOf } from "../../../../examples/campaign/results.ts";
import { verifyUrl } from "../../../../src/callbacks/signed-url.ts";
import { cell, command, resultLines } from "../../../../src/cli/commands/results.ts";
import { Terminal } from "../../../../src/cli/terminal.ts";
import { numberOf, secret, stageOf } from "../../campaigns/stage.ts";

it.each([
  ["a-1", "a-1"],
  [undefined, ""],
  [3, "3"],
  ["=1+1", "'=1+1"],
  ["'=1+1", "''=1+1"], // another text, so another cell
  ["''=1+1", "'''=1+1"],
  ["'tis", "'tis"],
  ["  =1+1", "'=1+1"],
  ["+12025550101", "'+12025550101"],
  ["@sum", "'@sum"],
  ["-0.0085", "-0.0085"], // a cost
  ["-0.5+1", "'-0.5+1"],
  // Some spreadsheets read full-width signs as the plain ones.
  ["＝1+1", "'＝1+1"],
  ["＋1", "'＋1"],
  ["－1", "'－1"],
  ["＠sum", "'＠sum"],
  ["a,b", '"a,b"'],
  ['"a"', '"""a"""'],
  // Where a spreadsheet separates by semicolons, quotes don't hold a cell together.
  ["a;=1+1;b", `"a;'=1+1;b"`],
  ['a;"=1+1"', `"a;""'=1+1"""`],
  ["a|@b", `"a|'@b"`],
  // What a terminal would obey, and what ends a cell.
  ["\u001b]0;owned\u0007\u001b[2J", '"]0;owned [2J"'],
  ["a\t=1\r\n=2", "a =1 =2"],
  ["\u202ebusy", "busy"],
])("writes %j as %s", (value, text) => {
  expect(cell(value)).toBe(text);
});

it("answers have a column each in the order in which they came up, and variables where they are asked for", async () => {
  const folder = mkdtempSync(join(tmpdir(), "results-"));
  const file = join(folder, "people.outdial");
  const database = new DatabaseSync(file);
  chmodSync(file, 0o600);
  const stage = await stageOf({ variables: ["name"] }, database);
  await stage.campaign.add([
    { to_number: numberOf(0), variables: { name: "=Ada" } },
    { to_number: numberOf(1) },
  ]);
  await stage.play();
  await stage.hear(1, { answers: { visit: "1" }, answered_by: "human" });
  await stage.hear(0, { answers: { price: "=9;-1", visit: "2" } });
  await stage.tellMore(1, "call.completed", { cost: "-0.00850", currency: "USD", duration: 3 });
  const download = csvOf(Readable.from(stage.campaign.results()), stage.campaign.answerNames());
  const downloaded = (await new Response(download).text()).trimEnd().split("\r\n");
  await stage.campaign.close();
  database.close();
  const printed = async (...args: string[]): Promise<string[]> => {
    let text = "";
    const stdout = new PassThrough().on("data", (chunk) => (text += chunk));
    const terminal = new Terminal({ stdin: undefined, stdout, stderr: new PassThrough(), env: {} });
    const { signal } = new AbortController();
    await command.run([file, ...args], { env: {}, terminal, signal, reached() {}, commands: {} });
    return text.trimEnd().split(/\r?\n/);
  };
  expect((await printed()).map((row) => row.split(",")[10])).toEqual(["cost", "", "-0.00850"]);
  expect(await printed()).toEqual(downloaded); // That of examples/campaign.
  const own = (row = "") => row.split(",").slice(11).join(",");
  expect((await printed()).map(own)).toEqual([
    "currency,recordings,visit,price",
    `,,2,"'=9;'-1"`,
    "USD,,1,",
  ]);
  expect((await printed("--variables")).map(own)).toEqual([
    "currency,recordings,visit,price,name",
    `,,2,"'=9;'-1",'=Ada`,
    "USD,,1,,",
  ]);
  const [first = ""] = await printed("--json", "--variables");
  expect(JSON.parse(first)).toMatchObject({
    answers: { visit: "2", price: "=9;-1" },
    variables: { name: "=Ada" },
  });
  rmSync(folder, { recursive: true });
});

it("no two columns have one name, also where questions and columns of the list are called like another", async () => {
  const stage = await stageOf({ variables: ["visit", "reason", "Cost"] });
  const variables = { visit: "list", reason: "list", Cost: "list" };
  await stage.campaign.add([{ to_number: numberOf(0), variables }]);
  await stage.play();
  await stage.hear(0, { answers: { visit: "1", id: "2", answer_id: "3" } });
  const [header = ""] = [...resultLines(stage.campaign, { variables: true })]
    .join("")
    .split("\r\n");
  const names = header.split(",");
  expect(names.slice(13)).toEqual([
    ...["visit", "answer_id", "answer_answer_id"],
    ...["list_visit", "list_reason", "list_Cost"],
  ]);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(names.length);
});

it("recordings have a column of their ids, and one for each name, as that of the campaign Worker", async () => {
  const stage = await stageOf({});
  await stage.campaign.add([{ to_number: numberOf(0) }, { to_number: numberOf(1) }]);
  await stage.play();
  const { flow_url = "" } = stage.posts[0] ?? {};
  const context = await verifyUrl(flow_url, { secret });
  const recording_url = "https://storage.test/r.wav?signature=MARKED";
  for (const [recording_id, as] of [
    ["RE1", "why"],
    ["RE2", "why"],
    ["RE3", undefined],
  ] as const) {
    await stage.campaign.note({ call_id: "cs_0", recording_id, recording_url, as, context });
  }
  const rows = [...resultLines(stage.campaign, {})].join("").split("\r\n");
  expect(rows.map((row) => row.split(",").slice(12))).toEqual([
    ["recordings", "why"],
    ["RE1 RE2 RE3", "RE1 RE2"],
    ["", ""],
  ]);
  const download = csvOf(Readable.from(stage.campaign.results()), stage.campaign.answerNames());
  expect((await new Response(download).text()).trimEnd().split("\r\n")).toEqual(rows);
  const [first = ""] = [...resultLines(stage.campaign, { json: true })].join("").split("\n");
  expect(JSON.parse(first).recordings).toEqual(["RE1", "RE2", "RE3"]);
});
