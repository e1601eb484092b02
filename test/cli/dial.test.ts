import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmulator, type Emulator } from "outdial/emulator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serveNode } from "../../src/cli/serve/node.ts";
import type { Server } from "../../src/cli/serve/server.ts";
import { freePort } from "../chaos/service.ts";
import {
  type Ended,
  outdial,
  type Runtime,
  runtimes,
  start,
  startInShell,
  startOnTerminal,
} from "./cli.ts";

const secret = "a secret that was made at random";

const people = `\ufeffPhone_Number,ID,Name,Timezone\r
+1 202 555 0100,A-1,"Ada, ""the"" first",\r
+12025550101,A-2,Bob,Europe/Berlin\r
+12025550103,=1+1,Cid,\r
`;

let folder: string;
let emulator: Emulator;
let server: Server;
let port: number;
let posts: number;
/** How the notifications were answered; 0 for a connection that was cut off. */
let answers: number[];
let watch: () => void;

/** Waits until the service has had so many requests: at that moment, before one more. */
const posted = (count: number): Promise<void> =>
  new Promise((resolve) => {
    watch = () => posts >= count && resolve();
    watch();
  });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "dial-"));
  posts = 0;
  answers = [];
  watch = () => {};
  port = await freePort();
  emulator = createEmulator({
    speed: 100,
    fetch: async (request, init) => {
      if (request.url.includes("/flow")) return Response.json({ action: "hangup" });
      const at = answers.push(0) - 1;
      const response = await fetch(request, init);
      answers[at] = response.status;
      return response;
    },
  });
  const handler = (request: Request): Promise<Response> => {
    posts++;
    watch();
    return emulator.fetch(request);
  };
  server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
});

afterEach(async () => {
  await server.stop();
  emulator.reset();
  await emulator.close();
  rmSync(folder, { recursive: true });
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const env = () => ({
  OUTDIAL_API_KEY: emulator.apiKey,
  OUTDIAL_BASE_URL: `http://127.0.0.1:${server.port}`,
  OUTDIAL_SECRET: secret,
});

const words = (list: string, ...more: readonly string[]): readonly string[] => [
  "dial",
  list,
  ...["--from", "+12025550199", "--flow", "http://127.0.0.1:9/flow", "--window", "always"],
  ...["--rate", "50", "--settle", "5s", ...more],
];

const listening = () => ["--listen", `127.0.0.1:${port}`, "--yes"];

const run = (args: readonly string[], runtime: Runtime = "node"): Promise<Ended> =>
  outdial(runtime, args, env(), { allow: ["-A"] });

const results = async (): Promise<readonly string[]> => {
  const { stdout } = await run(["results", join(folder, "people.outdial")]);
  return stdout.trim().split("\r\n");
};

describe.each(runtimes)("outdial dial, under %s", (runtime) => {
  it("calls a list to its end, and says what became of each", async () => {
    const list = file("people.csv", people);
    const ended = await run(words(list, ...listening(), "--json"), runtime);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ...{ contacts: 3, completed: 1, busy: 1, rejected: 1, no_answer: 0, unknown: 0, refused: 0 },
    });
    await expect.poll(() => new Set(answers)).toEqual(new Set([204]));
    const [head, ...rows] = await results();
    expect(head).toBe("to_number,id,disposition,reason,attempts,call_id");
    expect(rows.map((row) => row.split(",").slice(0, 3).join(","))).toEqual([
      "+12025550100,A-1,completed",
      "+12025550101,A-2,busy",
      "+12025550103,'=1+1,rejected",
    ]);
    expect(statSync(join(folder, "people.outdial")).mode & 0o777).toBe(0o600);
  });

  it("goes on where it was after kill -9, and calls nobody twice", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    const running = start(runtime, words(list, ...listening()), env(), { allow: ["-A"] });
    await posted(10);
    running.child.kill("SIGKILL");
    await running.ended;
    const before = posts;
    const { stdout } = await run(words(list, ...listening(), "--json"), runtime);
    const told = JSON.parse(stdout);
    expect(told.completed + told.unknown).toBe(60);
    expect(before).toBeLessThan(60);
    expect(posts).toBeLessThanOrEqual(60);
    const numbers = emulator.calls.map(({ to_number }) => to_number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe("outdial dial", () => {
  it("tells what it would do with --dry-run: who is refused and why, how long, when, recorded or not", async () => {
    const list = file("people.csv", `${people}0170 1234,,Eve,\r\n+12025550100,,Ada,\r\n`);
    const dnc = file("dnc.txt", "+12025550101 # asked on Monday\n\n");
    const args = words(list, "--listen", `127.0.0.1:${port}`, "--dry-run", "--dnc", dnc);
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("2 contacts to call, of 3 contacts");
    expect(stderr).toMatch(/1 on the do-not-call list; 1 refused/);
    expect(stderr).toMatch(/refused: to_number needs "\+" and its country code.*: line 5/);
    expect(stderr).toMatch(/at any hour/);
    expect(stderr).toMatch(/RECORDED: people must be told/);
    expect(stderr).not.toContain("0170");
    expect(posts).toBe(0);
    expect(existsSync(join(folder, "people.outdial"))).toBe(false);
  });

  it("reads national numbers with --country", async () => {
    const list = file("people.csv", "phone\n(202) 555-0100\n+49 (0)30 123456\n");
    const { stderr } = await run(words(list, ...listening(), "--dry-run", "--country", "us"));
    expect(stderr).toContain("2 contacts to call");
  });

  it("ends contacts as placed where somebody else receives the notifications", async () => {
    const list = file("people.csv", people);
    const callback = ["--callback", "http://127.0.0.1:9/status", "--yes", "--json"];
    const { code, stdout } = await run(words(list, ...callback));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ placed: 3, done: true });
  });

  it("exits 1 when the service refuses every call, and goes on once that is mended", async () => {
    const list = file("people.csv", people);
    const args = words(list, ...listening(), "--json");
    const wrong = await outdial("node", args, { ...env(), OUTDIAL_API_KEY: "ak_wrong" });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/paused: HTTP 403/);
    expect(wrong.stderr).not.toContain("ak_wrong");
    expect((await run(args)).code).toBe(0);
  });

  it("exits 3 when some are unknown", async () => {
    const list = file("people.csv", "number\n+12025550110\n");
    const { code, stdout } = await run(words(list, ...listening(), "--json"));
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ unknown: 1 });
  });

  it.each(["SIGINT", "SIGHUP"] as const)(
    "exits 130 at %s, after the calls that live; the same command goes on",
    async (event) => {
      const many = Array.from({ length: 60 }, (_, index) => `+1303555${1000 + index}`).join("\n");
      const list = file("people.csv", `number\n${many}\n`);
      const args = words(list, ...listening(), "--json");
      const running = start("node", args, env());
      await posted(5);
      running.child.kill(event);
      const { code, stdout } = await running.ended;
      expect(code).toBe(130);
      expect(JSON.parse(stdout)).toMatchObject({ calling: 0, unknown: 0, contacts: 60 });
      const again = await run(args);
      expect(again.code).toBe(0);
      expect(JSON.parse(again.stdout)).toMatchObject({ completed: 60 });
      expect(posts).toBe(60);
    },
  );

  it("is refused for a journal that is in use; results and block work meanwhile", async () => {
    const many = Array.from({ length: 20 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    const slow = words(list, "--yes", "--rate", "1").filter((word) => word !== "50");
    const args = slow.filter(
      (word, index) => !(word === "--rate" && slow[index + 1] === "--settle"),
    );
    const running = start("node", [...args, "--listen", `127.0.0.1:${port}`], env());
    await posted(1);
    const other = await freePort();
    const second = await run([...args, "--listen", `127.0.0.1:${other}`]);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/journal is in use/);
    const journal = join(folder, "people.outdial");
    expect((await run(["block", journal, "+13035551019"])).stdout).toMatch(/^1 blocked/);
    expect((await results()).at(-1)).toMatch(/^\+13035551019,,skipped,blocked,0/);
    running.child.kill("SIGKILL");
    await running.ended;
  });

  it("reads the do-not-call list again when it changes", async () => {
    const list = file("people.csv", "number\n+13035551000\n+13035551001\n+13035551002\n");
    const dnc = file("dnc.txt", "");
    const args = words(list, ...listening(), "--dnc", dnc, "--json").map((word) =>
      word === "50" ? "0.4" : word,
    );
    const running = start("node", args, env());
    await posted(1);
    file("dnc.txt", "+13035551001\n+13035551002\n");
    const { stdout } = await running.ended;
    expect(JSON.parse(stdout)).toMatchObject({ completed: 1, skipped: 2 });
  });

  it("begins no call from --until on: who waits is expired", async () => {
    const list = file("people.csv", people);
    const { code, stdout, stderr } = await run(
      words(list, ...listening(), "--json", "--until", "2026-01-01T12:00Z"),
    );
    expect(code).toBe(0);
    expect(stderr).toContain("until 2026-01-01T12:00:00.000Z");
    expect(JSON.parse(stdout)).toMatchObject({ contacts: 3, expired: 3, done: true });
    expect(posts).toBe(0);
  });

  it("begins no more calls a day than --per-day says, also when it is run again", async () => {
    const list = file("people.csv", people);
    // A day that has its noon now: no midnight comes between the two runs.
    const ahead = 12 - new Date().getUTCHours();
    const zone = `Etc/GMT${ahead > 0 ? "-" : "+"}${Math.abs(ahead)}`;
    const day = ["--window", "sun-sat 00:00-24:00", "--timezone", zone];
    const args = words(list, ...listening(), "--json", "--per-day", "2", ...day).filter(
      (word, index, all) => word !== "always" && all[index + 1] !== "always",
    );
    for (const _ of ["a run", "another"]) {
      const running = start("node", args, env());
      await running.says(/2 a day at most/);
      await expect.poll(() => posts, { timeout: 20_000, interval: 5 }).toBe(2);
      running.child.kill("SIGINT");
      const { code, stdout } = await running.ended;
      expect(code).toBe(130);
      expect(JSON.parse(stdout)).toMatchObject({ contacts: 3, waiting: 1, calling: 0 });
    }
    expect(posts).toBe(2);
  });

  it.each([
    ["+12025550101\t7\n", []],
    ["+12025550102\n+12025550101 12\n", []],
    ["+12025550101.0\n", []],
    ["2025550102;2025550101\n", ["--country", "US"]],
    ["2024-01-05;2025550101\n", ["--country", "US"]],
    ["0012025550101\n", ["--country", "US"]],
  ])(
    "calls nobody with a do-not-call list that can't be read as a number a line: %j",
    async (text, more) => {
      const list = file("people.csv", "number\n+12025550101\n");
      const dnc = file("dnc.txt", text);
      const { code, stderr } = await run(words(list, ...listening(), "--dnc", dnc, ...more));
      expect(stderr).toMatch(/the do-not-call list can't be read: line \d/);
      expect(stderr).not.toContain("2025550101");
      expect(code).toBe(2);
      expect(posts).toBe(0);
    },
  );

  it("knows a number of the do-not-call list in any spelling", async () => {
    const list = file("people.csv", "number\n+4930123456\n+49 030 123457\n");
    const dnc = file("dnc.txt", '+49 030 123456\r\n"+49 (0)30 123457"\r\n');
    const { stdout } = await run(words(list, ...listening(), "--dnc", dnc, "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ skipped: 2 });
    expect(posts).toBe(0);
  });

  describe("keeps nothing of a list that was refused", () => {
    const refuse = (list: string, ...more: readonly string[]) =>
      run(words(list, "--listen", `127.0.0.1:${port}`, ...more));

    it("who was taken out of the list is not called by the next run", async () => {
      const list = file("people.csv", "number\n+13035551000\n+13035551001\n");
      expect((await refuse(list)).stderr).toContain("give --yes");
      file("people.csv", "number\n+13035551002\n");
      const { stdout } = await run(words(list, ...listening(), "--json"));
      expect(JSON.parse(stdout)).toMatchObject({ contacts: 1, completed: 1 });
      expect(emulator.calls.map(({ to_number }) => to_number)).toEqual(["+13035551002"]);
    });

    it("nor is a do-not-call list kept that was the wrong file", async () => {
      const list = file("people.csv", "number\n+13035551000\n");
      const dnc = file("dnc.txt", "+13035551000\n");
      expect((await refuse(list, "--dnc", dnc)).stderr).toContain("1 on the do-not-call list");
      const { stdout } = await run(words(list, ...listening(), "--json"));
      expect(JSON.parse(stdout)).toMatchObject({ completed: 1, skipped: 0 });
    });
  });

  it("calls whom the list has now, as it has them now", async () => {
    const numbers = ["+13035551000", "+13035551001", "+13035551002", "+13035551003"];
    const csv = (rows: readonly string[]) => `number,id\n${rows.join("\n")}\n`;
    const list = file("people.csv", csv(numbers.map((number) => `${number},old`)));
    const args = words(list, ...listening(), "--json").map((word) =>
      word === "50" ? "0.5" : word,
    );
    const running = start("node", args, env());
    await posted(1);
    running.child.kill("SIGINT");
    await running.ended;
    const [called = ""] = emulator.calls.map(({ to_number }) => to_number);
    const [kept, left] = numbers.filter((number) => number !== called);
    file("people.csv", csv([`${kept},new`]));
    const asked = await run([...args.filter((word) => word !== "--yes"), "--rate", "50"]);
    expect(asked.code).toBe(2);
    const again = await run(args.map((word) => (word === "0.5" ? "50" : word)));
    expect(again.stderr).toMatch(/^1 contact to call, of 4 contacts/);
    expect(again.stderr).toMatch(/1 were never called, and change as the list has/);
    expect(again.stderr).toMatch(/2 no longer in the list: not called/);
    const rows = await results();
    expect(rows.find((row) => row.startsWith(`${kept}`))).toMatch(/,new,completed/);
    expect(rows.find((row) => row.startsWith(`${left}`))).toMatch(
      /,old,canceled,no longer in the list,0/,
    );
    expect(posts).toBe(2);
    // Who is in the list again is called after all; who was called is not.
    file("people.csv", csv(numbers.map((number) => `${number},old`)));
    const last = await run(args.map((word) => (word === "0.5" ? "50" : word)));
    expect(last.stderr).toMatch(/2 were left out before, and are in the list again/);
    expect(JSON.parse(last.stdout)).toMatchObject({ completed: 4, canceled: 0 });
    expect(posts).toBe(4);
  });

  it("looks into the journal with --dry-run, and changes nothing in it", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const journal = join(folder, "people.outdial");
    const before = readFileSync(journal);
    file("people.csv", `${people}+13035551000,,Dan,\r\n`);
    const { code, stdout, stderr } = await run(words(list, ...listening(), "--dry-run", "--json"));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^1 contact to call, of 4 contacts; 3 are in the journal already/);
    expect(JSON.parse(stdout)).toMatchObject({ waiting: 1, contacts: 4, duplicate: 3 });
    expect(readFileSync(journal)).toEqual(before);
  });

  it("leaves nothing behind for a list that isn't there", async () => {
    const { code, stderr } = await run(words(join(folder, "nope.csv"), ...listening()));
    expect(stderr).toMatch(/the list can't be read \(ENOENT\)/);
    expect(code).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses another campaign's journal", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const other = words(list, ...listening()).map((word) =>
      word.endsWith("/flow") ? "http://127.0.0.1:9/other" : word,
    );
    const { code, stderr } = await run(other);
    expect(code).toBe(2);
    expect(stderr).toMatch(/another campaign/);
  });

  it("keeps key and secret out of the journal", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const bytes = readFileSync(join(folder, "people.outdial"), "latin1");
    expect(bytes).toContain("+12025550100");
    expect(bytes).not.toContain(emulator.apiKey);
    expect(bytes).not.toContain(secret);
  });

  it.each([
    ["n", "n\r", 1, /you said no: nobody was called/],
    ["ctrl-D", "\u0004", 1, /you said no: nobody was called/],
    ["ctrl-C", "\u0003", 130, /interrupted: nobody was called/],
  ])("asks on a terminal, and calls nobody after %s", async (_, keys, exit, line) => {
    const list = file("people.csv", people);
    const args = words(list, "--listen", `127.0.0.1:${port}`).map((word) => `'${word}'`);
    const running = startOnTerminal(args, env());
    await running.says(/Call them\? \[y\/N\]/);
    running.child.stdin?.write(keys);
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(line);
    expect(code).toBe(exit);
    expect(posts).toBe(0);
  });

  it("keeps one line on a terminal that tells how far it is, until the end", async () => {
    const list = file("people.csv", people);
    const args = words(list, ...listening()).map((word) => `'${word === "50" ? "1" : word}'`);
    const running = startOnTerminal(args, env());
    await running.says(/K\[[#-]{20}\] [0-2]\/3 {2}\d live {2}\d s left at 1\/s/);
    const { code, stdout } = await running.ended;
    expect(code).toBe(0);
    expect(stdout.trimEnd()).toMatch(/\[#{20}\] 3\/3 {2}0 live .*1 completed, 1 busy, 1 rejected$/);
  });

  it("tells on a terminal when the next window opens, and calls nobody before", async () => {
    const list = file("people.csv", people);
    const tomorrow = new Date(Date.now() + 86_400_000).toUTCString().slice(0, 3).toLowerCase();
    const args = words(list, ...listening(), "--timezone", "UTC").map((word) =>
      word === "always" ? `'${tomorrow} 12:00-12:01'` : `'${word}'`,
    );
    const running = startOnTerminal(args, env());
    await running.says(/0\/3 {2}0 live {2}next call in (1 d )?\d+ h/);
    running.child.kill("SIGTERM");
    await running.ended;
    expect(posts).toBe(0);
  });

  it("calls them after y on a terminal", async () => {
    const list = file("people.csv", people);
    const args = words(list, "--listen", `127.0.0.1:${port}`).map((word) => `'${word}'`);
    const running = startOnTerminal(args, env());
    await running.says(/Call them\? \[y\/N\]/);
    running.child.stdin?.write("y\r");
    expect((await running.ended).code).toBe(0);
    expect(posts).toBe(3);
  });

  it.each([
    [["--listen", "127.0.0.1:1"], /give --yes/],
    [["--yes"], /either --listen or --callback must be given/],
    [["--callback", "https://x.test/s", "--attempts", "2", "--yes"], /need --listen/],
    [["--callback", "https://x.test/s", "--yes", "--retry-on", "hunger"], /--retry-on takes busy/],
    [["--callback", "https://x.test/s", "--yes", "--retry-after", "soon"], /--retry-after must be/],
    [["--callback", "https://x.test/s", "--yes", "--per-day", "0"], /--per-day must be/],
    [["--callback", "https://x.test/s", "--yes", "--until", "soon"], /--until must be a date/],
    [["--callback", "https://x.test/s", "--yes", "--country", "Atlantis"], /--country must be/],
    [["--callback", "https://x.test/s", "--yes", "--dnc", "/nowhere"], /do-not-call list can't be/],
    [["--callback", "https://x.test/s", "--yes", "--window", "mon 9-5"], /--window/],
    [["--listen", "127.0.0.1:1", "--public-url", "https://x.test/a?b", "--yes"], /--public-url is/],
    [["--callback", "https://x.test/s", "--yes", "--timezone", "Europe/Berln"], /--timezone must/],
    [
      ["--callback", "https://x.test/s", "--yes", "--until", "2026-12-24"],
      /--until must be a date/,
    ],
    [["--callback", "https://x.test/s", "--yes", "--until", "2026-12-24T12:00"], /time and zone/],
    [["--callback", "https://x.test/s", "--yes", "--variables", "nosuch"], /no column .*: nosuch/],
  ])("exits 2: %j", async (more, line) => {
    const list = file("people.csv", people);
    const given = words(list, ...more);
    const { code, stderr } = await run(
      more.includes("--window") ? given.filter((word) => word !== "always").toSpliced(6, 1) : given,
    );
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
    expect(posts).toBe(0);
  });

  it.each([
    ["OUTDIAL_SECRET", /OUTDIAL_SECRET is not set/],
    ["OUTDIAL_API_KEY", /OUTDIAL_API_KEY is not set/],
    ["OUTDIAL_BASE_URL", /which service/],
  ])("exits 2 without %s", async (name, line) => {
    const list = file("people.csv", people);
    const { [name as keyof ReturnType<typeof env>]: _, ...rest } = env();
    const { code, stderr } = await outdial("node", words(list, ...listening()), rest);
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
  });

  it.each([
    [["always", "mon-fri 09:00-20:00"], /--window is "always", or hours, and not both/],
    [["mon-fri 25:00-26:00"], /--window must be hours such as "mon-fri 09:00-20:00", or "always"$/],
  ])("exits 2 for the windows %j", async (windows, line) => {
    const list = file("people.csv", people);
    const args = words(list, ...listening(), "--timezone", "UTC");
    const given = windows.flatMap((each) => ["--window", each]);
    const { code, stderr } = await run([...args.toSpliced(args.indexOf("--window"), 2), ...given]);
    expect(stderr.trim().replace(/; see .*/, "")).toMatch(line);
    expect(code).toBe(2);
  });

  it("leaves a file that is no journal as it is, and says so", async () => {
    const list = file("people.csv", people);
    const journal = file("people.outdial", "something else, of more than a page ".repeat(200));
    chmodSync(journal, 0o600);
    for (const args of [words(list, ...listening()), ["results", list], ["block", journal, "+1"]]) {
      const { code, stderr } = await run(args);
      expect(stderr).toMatch(/the journal is none/);
      expect(code).toBe(2);
    }
    const other = join(folder, "other.db");
    const database = new DatabaseSync(other);
    database.exec("create table mine (a)");
    database.close();
    const before = readFileSync(other);
    expect((await run(["results", other])).code).toBe(2);
    expect(readFileSync(other)).toEqual(before);
  });

  it("refuses a journal that others may read", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    chmodSync(join(folder, "people.outdial"), 0o644);
    const { code, stderr } = await run(words(list, ...listening()));
    expect(stderr).toMatch(/not yours alone: chmod 600/);
    expect(code).toBe(2);
  });

  it("prints results, and exits 1 when they can't all be written; a reader may leave", async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    await run(words(list, ...listening(), "--until", "2026-01-01T12:00Z"));
    const args = ["results", join(folder, "people.outdial")];
    const full = await startInShell("node", args, env(), "> /dev/full").ended;
    expect(full.stderr).toMatch(/not all could be written/);
    expect(full.code).toBe(1);
    const left = await startInShell("node", args, env(), "| head -1").ended;
    expect(left.stderr).toBe("");
    expect(left.stdout).toMatch(/^to_number/);
  });

  it("exits 2 for a secret that is too short", async () => {
    const list = file("people.csv", people);
    const { code, stderr } = await outdial("node", words(list, ...listening()), {
      ...env(),
      OUTDIAL_SECRET: "short",
    });
    expect(stderr).toMatch(/OUTDIAL_SECRET must be 16 characters or more/);
    expect(code).toBe(2);
  });

  it.each([
    ['number\n"+1', /no CSV at line/],
    ["name\nAda\n", /has no column to_number/],
    ["number;name\n+12025550101;Ada\n", /must be separated by commas/],
  ])("exits 2 for the list %j", async (text, line) => {
    const { code, stderr } = await run(words(file("people.csv", text), ...listening()));
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
  });

  it("exits 2 without --window: nobody is called at night for a flag that was forgotten", async () => {
    const list = file("people.csv", people);
    const args = words(list, ...listening());
    const at = args.indexOf("--window");
    const { code, stderr } = await run(args.toSpliced(at, 2));
    expect(stderr).toMatch(/--window is missing/);
    expect(code).toBe(2);
  });
});
