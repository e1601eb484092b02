import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimes } from "../cli/cli.ts";
import { partOf } from "../part.ts";

const path = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));
const commands = {
  node: [path("node_modules/node/bin/node"), "--no-warnings"],
  deno: [path("node_modules/.bin/deno"), "run", "-A"],
  bun: [path("node_modules/.bin/bun")],
} as const;

type Runtime = keyof typeof commands;
type Action = "add" | "call" | "block" | "read" | "look";

let folder: string;
let ledger: string;
let log: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "file-"));
  ledger = join(folder, "people.outdial");
  log = join(folder, "posts");
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(folder, { recursive: true });
});

const start = (runtime: Runtime, action: Action, file: string, contacts: number) => {
  const [command, ...args] = commands[runtime];
  const script = path("chaos/caller.js");
  const child = spawn(command, [...args, script, action, file, log, String(contacts)]);
  children.push(child);
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output += chunk;
  });
  const ended = once(child, "close").then(() => output.trim());
  return { child, ended };
};

/** What a process prints that runs to its end. */
const run = (runtime: Runtime, action: Action, file: string, contacts = 0): Promise<string> =>
  start(runtime, action, file, contacts).ended;

const posts = (): readonly string[] =>
  existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];

const twice = (): readonly string[] => {
  const all = posts();
  return all.filter((number, index) => all.indexOf(number) !== index);
};

const until = async (condition: () => boolean): Promise<void> => {
  await expect.poll(condition, { interval: 5, timeout: 60_000 }).toBe(true);
};

describe.each(partOf(runtimes).map((runtime) => [runtime]))(
  "on %s, a ledger's file alone",
  (runtime) => {
    it("has the block that came after the run, though nobody closed it", async () => {
      expect(await run(runtime, "add", ledger, 3)).toBe("");
      await run(runtime, "block", ledger);
      const copy = join(folder, "copy.outdial");
      copyFileSync(ledger, copy);
      expect(await run(runtime, "call", copy)).toBe("");
      expect(posts()).toEqual(["+12025550001", "+12025550002"]);
    });

    it("has every claim that led to a POST, though others read it and its process was killed", async () => {
      const contacts = 150;
      const calling = start(runtime, "call", ledger, contacts);
      await until(() => posts().length > 0);
      const readers = runtimes.map((other) => start(other, "read", ledger, 0));
      await until(() => posts().length > 40);
      calling.child.kill("SIGKILL");
      await calling.ended;
      for (const { child } of readers) child.kill("SIGKILL");
      await Promise.all(readers.map(({ ended }) => ended));
      const alone = join(folder, "alone.outdial");
      const whole = join(folder, "whole.outdial");
      const journal = `${ledger}-journal`;
      copyFileSync(ledger, alone);
      copyFileSync(ledger, whole);
      if (existsSync(journal)) copyFileSync(journal, `${whole}-journal`);
      // Killed in the middle of a commit, a file without its journal may be torn: then it says so.
      const isTorn = existsSync(journal) && statSync(journal).size > 0;
      const before = posts().length;
      const said = await run(runtime, "call", alone);
      if (!isTorn) expect(said).toBe("");
      else expect(["", "damaged"]).toContain(said);
      expect(twice()).toEqual([]);
      if (said === "damaged") {
        expect(posts()).toHaveLength(before);
        expect(await run(runtime, "call", whole)).toBe("");
        expect(twice()).toEqual([]);
      }
      // A claim without a POST is never called again: at most a few.
      expect(posts().length).toBeGreaterThan(contacts - 30);
    });

    it("is usable after a kill in an import, whoever looked at it first", async () => {
      const contacts = 20_000;
      // An empty ledger has 70 kB.
      for (const size of [100_000, 500_000]) {
        const file = join(folder, `${size}.outdial`);
        const adding = start(runtime, "add", file, contacts);
        await until(() => existsSync(file) && statSync(file).size > size);
        adding.child.kill("SIGKILL");
        await adding.ended;
        for (const other of runtimes) expect(Number(await run(other, "look", file))).not.toBeNaN();
        expect(await run(runtime, "add", file, contacts)).toBe("");
        expect(await run(runtime, "look", file)).toBe(String(contacts));
      }
    });
  },
);
