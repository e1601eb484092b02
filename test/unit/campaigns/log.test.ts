import { execFile } from "node:child_process";
import { copyFileSync, linkSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLedger } from "../../../src/campaigns/ledger.ts";
import { LedgerException } from "../../../src/campaigns/ledger-exception.ts";
import { people, stageOf } from "./stage.ts";

let folder: string;
let file: string;
let other: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "log-"));
  file = join(folder, "people.outdial");
  other = join(folder, "other.outdial");
});
afterEach(() => rmSync(folder, { recursive: true }));

const script = `
  const { stageOf } = await import(process.argv[1]);
  const { DatabaseSync } = await import("node:sqlite");
  const opened = stageOf({}, new DatabaseSync(process.argv[2]));
  console.log(await opened.then(() => "opened", ({ reason, message }) => reason ?? message));
`;

/** What another process is told that would dial from a file. */
const openedElsewhere = async (path: string): Promise<string> => {
  const stage = new URL("./stage.ts", import.meta.url).href;
  const args = ["--no-warnings", "--input-type=module", "-e", script, stage, path];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim();
};

describe("a file without its log", () => {
  it.each<[string, () => unknown]>([
    ["is a copy", () => copyFileSync(file, other)],
    ["has another name, too", () => linkSync(file, other)],
    ["was moved", () => renameSync(file, other)],
    [
      "has lost what was beside it",
      () => {
        for (const end of ["-wal", "-shm", "-lock"]) rmSync(file + end);
        renameSync(file, other);
      },
    ],
  ])("that %s while it is dialled from is refused: its claims aren't known", async (_, happen) => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(3));
    await stage.play();
    happen();
    expect(await openedElsewhere(other)).toBe("log_missing");
    expect(stage.posts).toHaveLength(3);
  });

  it("that was long is refused too, and one that was erased from", async () => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(9_000).map((each) => ({ ...each, timezone: "UTC" })));
    await stage.campaign.add(people(9_000).map((each) => ({ ...each, timezone: "Europe/Berlin" })));
    await stage.play(100);
    copyFileSync(file, other);
    expect(await openedElsewhere(other)).toBe("log_missing");
    await stage.campaign.erase("+4915112345678");
    await stage.play(100);
    copyFileSync(file, other);
    expect(await openedElsewhere(other)).toBe("log_missing");
  }, 60_000);
});

describe("a process that is killed while it folds its log", () => {
  /** The file and its log as they are between the two stamps of a fold. */
  const killed = async (...ends: string[]) => {
    const stage = await stageOf({}, new DatabaseSync(file));
    await stage.campaign.add(people(3));
    await stage.play();
    const folding = new DatabaseSync(file);
    folding.exec("update outdial_fact set value = 'new' where name = 'folded'");
    folding.exec("pragma wal_checkpoint(passive)");
    for (const end of ends) copyFileSync(file + end, other + end);
  };

  it("goes on with what is there", async () => {
    await killed("", "-wal");
    const again = await stageOf({}, new DatabaseSync(other));
    await again.play();
    expect(again.posts).toEqual([]);
    expect(again.campaign.progress()).toMatchObject({ calling: 3 });
  });

  it("is refused without its log, also to look at", async () => {
    await killed("");
    expect(() => openLedger(new DatabaseSync(other))).toThrow(LedgerException);
    expect(await openedElsewhere(other)).toBe("log_missing");
  });
});

it("a file whose campaign was closed stands alone", async () => {
  const database = new DatabaseSync(file);
  const stage = await stageOf({}, database);
  await stage.campaign.add(people(3));
  await stage.play();
  await stage.campaign.close();
  database.close();
  copyFileSync(file, other);
  const again = await stageOf({}, new DatabaseSync(other));
  await again.play();
  expect(again.posts).toEqual([]);
});

it("a file whose process has died goes on with its log", async () => {
  const stage = await stageOf({}, new DatabaseSync(file));
  await stage.campaign.add(people(3));
  await stage.play();
  for (const end of ["", "-wal"]) copyFileSync(file + end, other + end);
  const again = await stageOf({}, new DatabaseSync(other));
  await again.play();
  expect(again.posts).toEqual([]);
  expect(again.campaign.progress()).toMatchObject({ calling: 3 });
});
