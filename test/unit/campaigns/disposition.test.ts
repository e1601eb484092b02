import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { proofs } from "../../../src/campaigns/disposition.ts";
import { dispositions } from "../../../src/campaigns/index.ts";
import { stageOf } from "./stage.ts";

const names = Object.keys(dispositions);
const file = new URL("../../../src/campaigns/disposition.ts", import.meta.url).pathname;
const source = readFileSync(file, "utf8");

/** The rows of a table in Markdown that begin with a disposition. */
const rowsIn = (text: string): readonly string[] =>
  text.split("\n").flatMap((line) => /\| (`\w+` \| .+) \|$/.exec(line)?.[1] ?? []);

const rows = Object.entries(dispositions).map(([name, { meaning }]) => `\`${name}\` | ${meaning}`);

describe("the dispositions have one table", () => {
  it("docs/campaigns.md has its rows", () => {
    const page = readFileSync(new URL("../../../docs/campaigns.md", import.meta.url), "utf8");
    expect(rowsIn(page)).toEqual(rows);
  });

  it("docs/campaigns.md has what proves each end, in the order of the ranks", () => {
    const page = readFileSync(new URL("../../../docs/campaigns.md", import.meta.url), "utf8");
    const ranks = page.matchAll(/^\| (\d+) \| .+ \| `(\w+)` \|$/gm);
    expect(Array.from(ranks, ([, rank, name]) => [Number(rank), name])).toEqual(
      proofs.map(([rank, , disposition]) => [rank, disposition]),
    );
    expect(proofs.map(([rank]) => rank)).toEqual(proofs.map((_, at) => at + 1));
  });

  it("the documentation of `Disposition` has its rows", () => {
    expect(rowsIn(source)).toEqual(rows);
  });

  it("a progress counts each", async () => {
    const { campaign } = await stageOf();
    expect(campaign.progress()).toMatchObject(Object.fromEntries(names.map((name) => [name, 0])));
  });

  it("`retryOn` takes those that another attempt may follow on", async () => {
    const isTaken = async (name: string) => {
      const given: object = { retryOn: [name] };
      return stageOf(given).then(
        () => true,
        () => false,
      );
    };
    for (const [name, { retry }] of Object.entries(dispositions)) {
      expect([name, await isTaken(name)]).toEqual([name, retry]);
    }
  });
});
