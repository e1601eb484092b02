import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createEmulator, type Emulator } from "outdial/emulator";
import { flowHandler, hangup } from "outdial/flows";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { openCampaign } from "../../src/campaigns/index.ts";
import { DoNotCallFile } from "../../src/cli/dial/do-not-call.ts";
import { type Server, serveNode } from "../../src/cli/serve.ts";
import { execute, path } from "../examples/execute.ts";
import { nobodysUrl } from "../nobody.ts";
import { partOf } from "../part.ts";
import {
  begin,
  type Ended,
  invoke,
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
/** Where the latest run receives notifications: each has a port of its own. */
let receiver: string;
/** While it is set, the service answers no call. */
let held: Promise<void> | undefined;
/** While it is set, another program holds the ledger. */
let ledgerHeld: Promise<void> | undefined;
/** While it is set, the service answers with this status, and calls nobody. */
let status: number | undefined;
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

/** Another program holds the ledger until it is released. */
const holdLedger = (): (() => void) => {
  const other = new DatabaseSync(join(folder, "people.outdial"));
  other.exec("begin exclusive");
  const { promise, resolve } = Promise.withResolvers<void>();
  ledgerHeld = promise;
  return () => {
    other.close();
    ledgerHeld = undefined;
    resolve();
  };
};

/** The service answers no call until it is released. */
const holdAnswers = (): (() => void) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  return resolve;
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "dial-"));
  posts = 0;
  answers = [];
  receiver = "";
  held = undefined;
  status = undefined;
  ledgerHeld = undefined;
  watch = () => {};
  emulator = createEmulator({
    speed: 100,
    fetch: async (request, init) => {
      if (request.url.includes("/flow")) return Response.json({ action: "hangup" });
      const { pathname, search } = new URL(request.url);
      for (;;) {
        const at = answers.push(0) - 1;
        const again = new Request(receiver + pathname + search, request.clone());
        const response = await fetch(again, init);
        answers[at] = response.status;
        if (response.status !== 500 || !ledgerHeld) return response;
        // The emulator is 100 times faster than a service, and would soon give up.
        await ledgerHeld;
      }
    },
  });
  const handler = async (request: Request): Promise<Response> => {
    // A call is read, too: one whose notification was lost.
    if (request.method === "GET") return emulator.fetch(request);
    const { status_callback_url } = await request.clone().json();
    receiver = new URL(status_callback_url).origin;
    posts++;
    watch();
    await held;
    return status === undefined ? emulator.fetch(request) : new Response(null, { status });
  };
  server = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
});

afterEach(async () => {
  await server.stop();
  emulator.reset();
  await emulator.close();
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

/** What SQLite leaves of the ledger of a run that was killed while it made it. */
const makeLedger = (): string => {
  const ledger = file("people.outdial", "");
  chmodSync(ledger, 0o600);
  return ledger;
};

const env = () => ({
  OUTDIAL_API_KEY: emulator.apiKey,
  OUTDIAL_BASE_URL: `http://127.0.0.1:${server.port}`,
  SIGNING_SECRET: secret,
});

const words = (list: string, ...more: readonly string[]): readonly string[] => [
  "dial",
  list,
  ...["--from", "+12025550199", "--flow", "http://127.0.0.1:9/flow", "--window", "always"],
  ...["--rate", "50", ...(more.includes("--settle") ? [] : ["--settle", "5m"]), ...more],
];

const listening = () => ["--listen", "127.0.0.1:0", "--yes"];

const run = (args: readonly string[], runtime?: Runtime): Promise<Ended> =>
  runtime ? outdial(runtime, args, env(), { allow: ["-A"] }) : invoke(args, env());

const results = async (): Promise<readonly string[]> => {
  const { stdout } = await run(["results", join(folder, "people.outdial")]);
  return stdout.trim().split("\r\n");
};

describe.each(partOf(runtimes))("outdial dial, under %s", (runtime) => {
  it("calls a list to its end, and prints the outcome of each contact", async () => {
    const list = file("people.csv", people);
    const ended = await run(words(list, ...listening(), "--json"), runtime);
    expect(ended.code, ended.stderr).toBe(0);
    expect(ended.stdout.trim().split("\n")).toHaveLength(1);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      ...{ contacts: 3, completed: 1, busy: 1, rejected: 1, no_answer: 0, unknown: 0, refused: 0 },
    });
    await expect.poll(() => new Set(answers)).toEqual(new Set([204]));
    const [head, ...rows] = await results();
    expect(head).toBe(
      "to_number,id,disposition,reason,attempts,call_id,started_at,ended_at,duration,answered_by,cost,currency,recordings",
    );
    expect(rows.map((row) => row.split(",").slice(0, 3).join(","))).toEqual([
      "+12025550100,A-1,completed",
      "+12025550101,A-2,busy",
      "+12025550103,'=1+1,rejected",
    ]);
    expect(statSync(join(folder, "people.outdial")).mode & 0o777).toBe(0o600);
  });

  it("resumes after kill -9, and calls nobody twice", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    // What was claimed and not sent before the kill is unknown after this time.
    const settle = ["--settle", "5s"];
    const args = words(list, ...listening(), ...settle, "--json");
    const running = start(runtime, args, env(), { allow: ["-A"] });
    await posted(10);
    running.child.kill("SIGKILL");
    await running.ended;
    const before = posts;
    const { stdout } = await run(args, runtime);
    const { completed, unknown } = JSON.parse(stdout);
    expect(completed + unknown).toBe(60);
    expect(before).toBeLessThan(60);
    expect(posts).toBeLessThanOrEqual(60);
    const numbers = emulator.calls.map(({ to_number }) => to_number);
    expect(new Set(numbers).size).toBe(numbers.length);
  });
});

describe("outdial dial --idempotent", () => {
  /** Begins a list, kills the process before the answer to its only POST, and adds a row. */
  const killed = async (settle: string): Promise<readonly string[]> => {
    const list = file("people.csv", "number\n+13035551000\n");
    // With a port of its own each run would have other URLs, and another request.
    const urls = [...listening(), "--public-url", await nobodysUrl()];
    const args = words(list, ...urls, "--idempotent", "--settle", settle);
    held = new Promise(() => {});
    const running = start("node", args, env());
    await posted(1);
    running.kill("SIGKILL");
    await running.ended;
    held = undefined;
    file("people.csv", "number\n+13035551000\n+13035551001\n");
    return args;
  };

  it("asks again after kill -9 with the same API key", async () => {
    const running = start("node", await killed("5m"), env());
    await posted(3);
    running.kill("SIGKILL");
    await running.ended;
  });

  it("asks nothing again after kill -9 with another API key: it may be of another account", async () => {
    const args = await killed("5s");
    await invoke(args, { ...env(), OUTDIAL_API_KEY: "ak_of_another_account" });
    expect(posts).toBe(2);
  });
});

describe("outdial dial", () => {
  it("leaves the live calls at a second ctrl-C, and says that the same command resumes", async () => {
    const answer = holdAnswers();
    const list = file("people.csv", people);
    const { child, ended } = start("node", words(list, ...listening()), env());
    await posted(1);
    child.kill("SIGINT");
    child.kill("SIGTERM"); // Counts as one, too; of two equal signals one may be lost.
    const { code, stderr } = await ended;
    answer();
    expect(stderr).toMatch(/\(calls may have been placed; the same command resumes[^\n]*\n$/);
    expect(code).toBe(130);
  });

  it("says at a second ctrl-C what an earlier run left in the ledger, though this one called nobody", async () => {
    const release = holdAnswers();
    const list = file("people.csv", people);
    const killed = start("node", words(list, ...listening()), env());
    await posted(1);
    killed.kill("SIGKILL");
    await killed.ended;
    // Nobody but the live call is left.
    const args = words(
      file("people.csv", people.split("\n").slice(0, 2).join("\n")),
      ...listening(),
    );
    const { child, ended, says } = start("node", args, env());
    await says(/contacts? to call, of/);
    child.kill("SIGINT");
    child.kill("SIGTERM");
    const { code, stderr } = await ended;
    release();
    expect(stderr).toMatch(/\(calls may have been placed; the same command resumes/);
    expect(code).toBe(130);
  });

  it("prints the plan with --dry-run: refused rows and why, duration, hours, recording", async () => {
    const list = file("people.csv", `${people}0170 1234,,Eve,\r\n+12025550100,,Ada,\r\n`);
    const dnc = file("dnc.txt", "+12025550101 # asked on Monday\n\n");
    const args = words(list, "--listen", "127.0.0.1:0", "--dry-run", "--do-not-call", dnc);
    const { code, stdout, stderr } = await run(args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("2 contacts to call, of 3 contacts");
    expect(stderr).toMatch(/1 on the do-not-call list; 1 refused/);
    expect(stderr).toMatch(/refused: to_number needs "\+" and its country code.*: line 5/);
    expect(stderr).toMatch(/at any hour/);
    expect(stderr).toMatch(/^ {2}by http:\/\/127\.0\.0\.1:\d+\/$/m);
    expect(stderr).toContain("  from +12025550199, flow http://127.0.0.1:9/flow\n");
    expect(stderr).toMatch(/RECORDED: people must be told/);
    expect(stderr).not.toContain("0170");
    expect(posts).toBe(0);
    expect(existsSync(join(folder, "people.outdial"))).toBe(false);
  });

  it("prints in the plan who is called again, days off, several senders, and times of contacts", async () => {
    const list = file(
      "people.csv",
      "phone,call_at\n+12025550100,2026-06-03T15:00Z\n+12025550101,\n",
    );
    const days = file("days.txt", "2090-12-25\n");
    const args = words(list, "--listen", "127.0.0.1:0", "--dry-run", "--from", "+12025550198").map(
      (word) => (word === "always" ? "mon-fri 09:00-20:00" : word),
    );
    const more = ["--timezone", "Europe/Berlin", "--except", "2090-01-01", "--except", days];
    const retries = ["--retry", "busy:5m:3,no_answer:2h", "--call-backs", "2"];
    const { code, stderr } = await run([...args, ...more, ...retries]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("1 new, to be called at a time of their own");
    expect(stderr).toContain("  not on 2090-01-01, 2090-12-25\n");
    expect(stderr).toContain(
      "  called again: busy after 5 min, up to 3 attempts; no_answer after 2 h, up to 2 attempts\n",
    );
    expect(stderr).toContain(
      "  from +12025550199, +12025550198 (each contact by one of them), flow",
    );
    expect(stderr).toContain('call time from "call_at"');
  });

  it.each([
    [["--retry", "busy:5m", "--retry-on", "busy"], /drop --retry-on and --retry-after/],
    [["--retry", "busy"], /--retry must be reasons, each with a delay/],
    [["--call-backs", "101"], /--call-backs must be a whole number from 0 to 100/],
    [["--except", "2026-12-25"], /--except needs hours: .*, not "always"/],
    [["--from", "Ada"], /--from must be an E\.164 number/],
    [["--callback", "https://app.test/", "--retry", "busy:5m"], /either --listen or --callback/],
  ])("refuses %j by the name of its flag", async (more, message) => {
    const list = file("people.csv", people);
    const { code, stderr } = await run(words(list, ...listening(), ...more));
    expect(stderr).toMatch(message);
    expect(code).toBe(2);
    expect(posts).toBe(0);
  });

  it("prints a plan for the command of README as it stands there", async () => {
    const block = /```sh\n(printf 'phone[\s\S]*?)```/.exec(
      readFileSync(path("README.md"), "utf8"),
    )?.[1];
    const script = `outdial() { "${process.execPath}" "${path("dist/cli/main.js")}" "$@"; }\n${block}`;
    const { code, stdout, stderr } = await execute("sh", ["-ec", script], env(), { cwd: folder });
    expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("1 contact to call, of 2 contacts");
    expect(stderr).toContain("from +12025550199, flow https://app.example/flow");
    expect(posts).toBe(0);
  });

  it("prints the names of columns in the plan without the control characters of a terminal", async () => {
    const header = '"ph\u001b[2Jone",no\u001b]0;x\u0007te,\u202eid2';
    const list = file("people.csv", `${header}\n+12025550100,,\n`);
    const column = ["--number-column", "ph\u001b[2Jone"];
    const { code, stderr } = await run(words(list, ...listening(), "--dry-run", ...column));
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('number from "ph [2Jone"');
    expect(stderr.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  it("reads national numbers with --country", async () => {
    const list = file("people.csv", "phone\n(202) 555-0100\n+49 (0)30 123456\n");
    const { stderr } = await run(words(list, ...listening(), "--dry-run", "--country", "us"));
    expect(stderr).toContain("2 contacts to call");
  });

  it("prints results with times and duration, as CSV and as lines of JSON", async () => {
    const list = file("people.csv", people);
    const before = Date.now();
    await run(words(list, ...listening()));
    const { stdout } = await run(["results", join(folder, "people.outdial"), "--json"]);
    const [first, ...others] = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(others).toHaveLength(2);
    expect(first).toMatchObject({ to_number: "+12025550100", disposition: "completed" });
    expect(Date.parse(first.started_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(first.ended_at)).toBeGreaterThanOrEqual(Date.parse(first.started_at));
    expect(first.duration).toEqual(expect.any(Number));
    expect((await results())[1]).toMatch(
      /^\+12025550100,A-1,completed,normal,1,\w+,[-\d]+T[^,]+Z,[-\d]+T[^,]+Z,\d+,,,,$/,
    );
  });

  it("says while it runs that the service cannot be reached, and why in the results", async () => {
    const list = file("people.csv", people);
    const away = { ...env(), OUTDIAL_BASE_URL: await nobodysUrl() };
    const running = start("node", words(list, ...listening()), away);
    await running.says(/0\/3 done {2}the service cannot be reached/);
    running.kill("SIGINT");
    expect((await running.ended).stderr).toContain("the same command resumes");
    expect((await results()).slice(1).join()).toMatch(/connect/i);
  });

  describe("asks the handlers before the first call", () => {
    /** An application whose flow is verified by a secret. */
    const application = (own: string): Promise<Server> => {
      const flow = flowHandler({ secret: own, onAnswer: () => hangup(), onError: () => {} });
      return serveNode(flow, { hostname: "127.0.0.1", port: 0 });
    };

    it("and calls nobody by a secret that the flow's handler has not", async () => {
      const app = await application("another secret of an application");
      const list = file("people.csv", people);
      const flow = `http://127.0.0.1:${app.port}/flow`;
      const args = words(list, ...listening()).map((word) =>
        /:9\/flow$/.test(word) ? flow : word,
      );
      const { code, stderr } = await run(args);
      await app.stop();
      expect(code).toBe(2);
      expect(stderr).toMatch(/--flow refused a URL that SIGNING_SECRET has signed \(wrong_token\)/);
      expect(stderr).toContain("Nobody was called");
      expect(posts).toBe(0);
    });

    it("and warns in the plan of what is unclear only", async () => {
      const app = await application(secret);
      const list = file("people.csv", people);
      const flow = `http://127.0.0.1:${app.port}/flow`;
      const warning =
        /warning: --flow could not be reached: whether its handler has SIGNING_SECRET/;
      const unreachable = await run(words(list, ...listening()));
      expect(unreachable.code).toBe(0);
      expect(unreachable.stderr).toMatch(warning);
      const args = words(list, ...listening(), "--ledger", join(folder, "other.outdial"));
      const right = await run(args.map((word) => (/:9\/flow$/.test(word) ? flow : word)));
      await app.stop();
      expect(right.code, right.stderr).toBe(0);
      expect(right.stderr).not.toContain("warning:");
    });
  });

  it("shows a maybe as unclear, and ends at the first ctrl-C: the ledger keeps it", async () => {
    const list = file("people.csv", people.split("\n").slice(0, 2).join("\n"));
    status = 503;
    const running = begin(words(list, ...listening()), env(), { columns: 160 });
    await running.says(
      /0\/1 done .* waiting for what is unclear; .* {2}1 unclear, until [-\d ]*\d\d:\d\d {2}0 live/,
    );
    running.kill("SIGINT");
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toMatch(/1 unclear: may have been called\. The ledger keeps/);
  });

  it("is never both running and done in its JSON", async () => {
    const list = file("people.csv", people);
    const { stdout } = await run(words(list, ...listening(), "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ state: "done", done: true });
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
    const wrong = await invoke(args, { ...env(), OUTDIAL_API_KEY: "ak_wrong" });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(/Paused: HTTP 403/);
    expect(wrong.stderr).not.toContain("ak_wrong");
    expect((await run(args)).code).toBe(0);
  });

  it("exits 3 when some are unknown", async () => {
    const list = file("people.csv", "number\n+12025550110\n");
    const { code, stdout } = await run(words(list, ...listening(), "--settle", "1s", "--json"));
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ unknown: 1 });
  });

  it("exits 130 at SIGHUP, after the live calls; the same command resumes", async () => {
    const many = Array.from({ length: 60 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    const args = words(list, ...listening(), "--json");
    const running = start("node", args, env());
    await posted(5);
    running.kill("SIGHUP");
    const { code, stdout } = await running.ended;
    expect(code).toBe(130);
    expect(JSON.parse(stdout)).toMatchObject({ calling: 0, unknown: 0, contacts: 60 });
    const again = await run(args);
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ completed: 60 });
    expect(posts).toBe(60);
  });

  it("is refused for a ledger that is in use; results and block work meanwhile", async () => {
    const many = Array.from({ length: 200 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    const slow = words(list, "--yes", "--rate", "1").filter((word) => word !== "50");
    const args = slow.filter(
      (word, index) => !(word === "--rate" && slow[index + 1] === "--settle"),
    );
    const running = begin([...args, "--listen", "127.0.0.1:0"], env());
    await posted(1);
    const second = await run([...args, "--listen", "127.0.0.1:0"]);
    expect(second.code).toBe(2);
    expect(second.stderr).toMatch(/ledger is in use/);
    const ledger = join(folder, "people.outdial");
    expect((await run(["block", ledger, "+13035551199"])).stdout).toMatch(/^1 blocked/);
    expect((await results()).at(-1)).toMatch(/^\+13035551199,,blocked,blocked,0/);
    running.kill("SIGINT");
    await running.ended;
  });

  it("reads the do-not-call list again when it changes", async () => {
    const list = file("people.csv", "number\n+13035551000\n+13035551001\n+13035551002\n");
    const dnc = file("dnc.txt", "");
    const more = ["--do-not-call", dnc, "--concurrency", "1", "--json"];
    const release = holdAnswers();
    const running = begin(words(list, ...listening(), ...more), env());
    await posted(1);
    file("dnc.txt", "+13035551001\n+13035551002\n");
    await expect.poll(async () => (await results()).join()).toMatch(/,blocked,.*,blocked,/s);
    release();
    const { stdout } = await running.ended;
    expect(JSON.parse(stdout)).toMatchObject({ completed: 1, blocked: 2 });
  });

  it("says how to go on where its ledger was moved, and calls nobody again meanwhile", async () => {
    const list = file("people.csv", people);
    const ledger = join(folder, "people.outdial");
    const release = holdAnswers();
    const running = begin(words(list, ...listening(), "--concurrency", "1"), env());
    await posted(1);
    renameSync(ledger, `${ledger}.old`);
    release();
    const { code, stderr } = await running.ended;
    expect(stderr).toMatch(
      /: if the file was moved, put it back before you run the command again\n$/,
    );
    expect(code).toBe(3);
    const again = await run(words(list, ...listening()));
    expect(again.stderr).toMatch(/the ledger is gone, but its lock is there/);
    expect(again.code).toBe(2);
    expect(posts).toBe(1);
    renameSync(`${ledger}.old`, ledger);
    expect((await run(words(list, ...listening()))).stderr).toContain("3 already in the ledger");
  });

  it("calls nobody again where another program emptied its ledger, and begins anew where its first run was killed", async () => {
    const list = file("people.csv", people);
    const ledger = join(folder, "people.outdial");
    await run(words(list, ...listening()));
    file("people.outdial", "");
    const soon = new Date(Date.now() + 100);
    utimesSync(ledger, soon, soon);
    for (const args of [words(list, ...listening()), ["results", ledger]]) {
      const { code, stderr } = await run(args);
      expect(stderr).toMatch(
        /the ledger was emptied after its last run: .*would call everybody again/,
      );
      expect(code).toBe(2);
    }
    expect(posts).toBe(3);
    const before = new Date(Date.now() - 10_000);
    utimesSync(ledger, before, before);
    utimesSync(`${ledger}-lock`, before, before);
    expect((await run(words(list, ...listening()))).code).toBe(0);
  });

  it.skipIf(process.platform === "win32")(
    "a list behind a link has the ledger of the list, by each of its names, and two ledgers of one list are refused",
    async () => {
      const list = file("people.csv", people);
      mkdirSync(join(folder, "links"));
      const link = join(folder, "links", "today.csv");
      symlinkSync(list, link);
      const first = await run(words(link, ...listening()));
      expect([first.code, posts]).toEqual([0, 3]);
      expect(readdirSync(join(folder, "links"))).toEqual(["today.csv"]);
      const again = await run(words(list, ...listening()));
      expect(again.stderr).toContain("3 already in the ledger");
      const ledgerLink = join(folder, "links", "linked.outdial");
      symlinkSync(join(folder, "people.outdial"), ledgerLink);
      await run(words(link, ...listening(), "--ledger", ledgerLink));
      expect(posts).toBe(3);
      // One from before this rule.
      copyFileSync(join(folder, "people.outdial"), join(folder, "links", "today.outdial"));
      const { code, stderr } = await run(words(link, ...listening()));
      expect(stderr).toMatch(
        /the list is a link, and there is a ledger beside the link and one beside the list/,
      );
      expect(code).toBe(2);
      rmSync(join(folder, "people.outdial"));
      rmSync(join(folder, "people.outdial-lock"));
      expect((await run(words(link, ...listening()))).stderr).toContain("3 already in the ledger");
      expect(posts).toBe(3);
    },
  );

  it.each([
    ["before", 2, /^outdial: the ledger cannot be written: is the disk full\?/],
    [
      "after",
      3,
      /\noutdial: the ledger cannot be written: is the disk full\?; the same command resumes\n$/,
    ],
  ])("says that the disk is full, %s the first call", async (when, exit, message) => {
    const many = Array.from({ length: 300 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    const args = words(list, ...listening());
    if (when === "after") {
      const first = begin(args, env());
      await posted(1);
      first.kill("SIGINT");
      await first.ended;
    }
    const size = when === "after" ? statSync(join(folder, "people.outdial")).size : 0;
    const blocks = Math.ceil(size / 512) + 32; // A file cannot grow beyond that, as on a full disk.
    const { code, stderr } = await startInShell("node", args, env(), "", `ulimit -f ${blocks}`)
      .ended;
    expect(stderr).toMatch(message);
    expect(code).toBe(exit);
    expect(posts > 0).toBe(when === "after");
  });

  it("ends as paused once its do-not-call list was away for a minute", async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    const list = file("people.csv", "number\n+13035551000\n+13035551001\n");
    const dnc = file("dnc.txt", "");
    const more = ["--do-not-call", dnc, "--concurrency", "1"];
    const release = holdAnswers();
    const running = begin(words(list, ...listening(), ...more), env());
    await posted(1);
    rmSync(dnc);
    let isOver = false;
    const ended = running.ended.finally(() => {
      isOver = true;
    });
    vi.advanceTimersByTime(1_000);
    await running.says(/the do-not-call list cannot be read \(ENOENT\); no call begins/);
    release();
    let looks = 1;
    for (; !isOver; looks++) {
      vi.advanceTimersByTime(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    vi.useRealTimers();
    const { code, stderr } = await ended;
    expect(looks).toBeGreaterThan(60);
    expect(stderr).toContain("Paused: the do-not-call list cannot be read");
    expect(code).toBe(1);
    expect(posts).toBe(1);
  });

  describe("survives another program that holds the ledger", () => {
    const numbers = ["+13035551000", "+13035551001", "+13035551002"];
    const busy = /another program holds the ledger/;
    const slowly = (...more: readonly string[]) =>
      words(file("people.csv", `number\n${numbers.join("\n")}\n`), ...listening(), ...more).map(
        (word) => (word === "50" ? "1" : word),
      );
    /** The errors that a handler prints. */
    let printed: MockInstance;

    beforeEach(() => {
      printed = vi.spyOn(console, "error");
    });

    afterEach(() => {
      expect(printed.mock.calls).toEqual([]);
    });

    /** No error of the code is shown to a user. */
    const isPlain = ({ stderr }: Ended) => !/Exception|Error|\.[jt]s:\d/.test(stderr);

    it("says so, and goes on once the file is free", async () => {
      const running = begin(slowly("--json"), env(), { columns: 120 });
      await posted(1);
      const release = holdLedger();
      await running.says(busy);
      await expect.poll(() => answers).toContain(500);
      release();
      const ended = await running.ended;
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(ended.code).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({ completed: 3, unknown: 0 });
      expect(posts).toBe(3);
    });

    it("calls nobody who was put on the do-not-call list meanwhile", async () => {
      const dnc = file("dnc.txt", "");
      const running = begin(slowly("--do-not-call", dnc, "--json"), env(), { columns: 120 });
      await posted(1);
      const release = holdLedger();
      const called = Date.now();
      const read = vi.spyOn(DoNotCallFile.prototype, "numbers");
      file("dnc.txt", `${numbers.slice(1).join("\n")}\n`);
      await expect.poll(() => read.mock.calls.length).toBe(1);
      // From now on the rate allows the next call.
      await expect.poll(() => Date.now() - called).toBeGreaterThan(1_000);
      release();
      const ended = await running.ended;
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(ended.code).toBe(0);
      expect(JSON.parse(ended.stdout)).toMatchObject({ completed: 1, blocked: 2 });
      expect(posts).toBe(1);
    });

    it("pauses for a do-not-call list that cannot be read meanwhile, until it can", async () => {
      const dnc = file("dnc.txt", "");
      const running = begin(slowly("--do-not-call", dnc), env(), { columns: 120 });
      await posted(1);
      const release = holdLedger();
      const read = vi.spyOn(DoNotCallFile.prototype, "numbers");
      file("dnc.txt", "nobody\n");
      await expect.poll(() => read.mock.calls.length).toBe(1);
      release();
      await running.says(/no call begins, and it is read again for 60 s/);
      expect(posts).toBe(1);
      file("dnc.txt", `${numbers[2]}\n`);
      const ended = await running.ended;
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(
        ended.stderr.match(/outdial: the do-not-call list cannot be read: line 1/g),
      ).toHaveLength(1);
      expect(ended.stderr).toContain("the do-not-call list is read again: calls go on");
      expect(ended.code).toBe(0);
      expect(posts).toBe(2);
    });

    it("ends after ctrl-C with the live calls in the ledger", async () => {
      const answer = holdAnswers();
      const running = begin(slowly("--json"), env(), { columns: 120 });
      await posted(1);
      const release = holdLedger();
      running.kill("SIGINT");
      await running.says(
        /another program holds the ledger {2}stopping: waiting for the live calls/,
      );
      answer();
      await expect.poll(() => answers).toContain(500);
      release();
      const ended = await running.ended;
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(ended.code).toBe(130);
      expect(ended.stderr).toContain("Interrupted with 2 waiting");
      expect(JSON.parse(ended.stdout)).toMatchObject({ completed: 1, calling: 0, waiting: 2 });
      expect((await results()).slice(1).join()).toMatch(/completed,normal,1,cs_/);
    });

    it("prints its summary when the ledger is held at the end", async () => {
      const running = begin(slowly(), env(), { columns: 120 });
      // The line is cleared, and the receiver is being closed, before the campaign is.
      await running.says(/\/3 done.*\[K$/s);
      const release = holdLedger();
      const ended = await running.ended;
      release();
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(ended.stderr).toContain("not marked as closed: the next run checks it");
      expect(ended.stderr).toContain("3 of 3 done: 3 completed");
      expect(ended.code).toBe(0);
      expect((await run(slowly())).code).toBe(0);
      expect(posts).toBe(3);
    });

    it("exits 2 when it is held from the start: nobody is called", async () => {
      const args = slowly();
      new DatabaseSync(join(folder, "people.outdial")).close();
      chmodSync(join(folder, "people.outdial"), 0o600);
      const release = holdLedger();
      const ended = await run(args);
      release();
      expect(isPlain(ended), ended.stderr).toBe(true);
      expect(ended.stderr).toMatch(
        /^outdial: the ledger is busy: another program reads or writes the file/,
      );
      expect(ended.code).toBe(2);
      expect(posts).toBe(0);
    });
  });

  it("refuses a do-not-call list that is no regular file: a pipe gives its numbers only once", async () => {
    const list = file("people.csv", "number\n+12025550101\n");
    const args = words(list, ...listening(), "--do-not-call", "/dev/stdin");
    const piped = "<<'.'\n+12025550101\n.\n";
    const { code, stderr } = await startInShell("node", args, env(), piped).ended;
    expect(posts).toBe(0);
    expect(stderr).toMatch(/the do-not-call list must be a regular file/);
    expect(code).toBe(2);
  });

  it("refuses a new list whose --until is over, and what a campaign refuses, before any file is made", async () => {
    const list = file("people.csv", people);
    const over = ["--until", "2026-01-01T12:00Z"];
    for (const [more, line] of [
      [over, /^outdial: --until is over: nobody would be called; see/],
      [[...over, "--dry-run"], /--until is over/],
      [[...over, "--emulate"], /--until is over/],
      [["--per-day", "0"], /--per-day must be a whole number/],
      [["--settle", "0s"], /--settle must be 1s or more/],
      [["--settle", "99999999999h"], /--settle must be at most 3650d/],
    ] as const) {
      const { code, stderr } = await run(words(list, ...listening(), ...more));
      expect(stderr).toMatch(line);
      expect(code).toBe(2);
      expect(readdirSync(folder)).toEqual(["people.csv"]);
    }
  });

  it("begins no call after --until: waiting contacts expire", async () => {
    const list = file("people.csv", people);
    makeLedger();
    const { code, stdout, stderr } = await run(
      words(list, ...listening(), "--json", "--until", "2026-01-01T12:00Z"),
    );
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^0 contacts to call, .*\n {2}warning: --until is over: no call begins, and 3 waiting contacts end as expired, for good\n/m,
    );
    expect(stderr).toContain("until 2026-01-01T12:00:00.000Z");
    expect(JSON.parse(stdout)).toMatchObject({ contacts: 3, expired: 3, done: true });
    expect(posts).toBe(0);
  });

  it("counts a promised call-back that can no longer be made, and its exit code is not 0", async () => {
    const list = file("people.csv", "number\n+13035551000\n");
    await run(words(list, ...listening()));
    const database = new DatabaseSync(join(folder, "people.outdial"));
    database.exec(
      "update outdial_contact set state = 'waiting', call_for = 2, call_at = 4000000000000, due = 4000000000000",
    );
    database.close();
    const { code, stdout } = await run(
      words(list, ...listening(), "--json", "--until", "2026-01-01T12:00Z"),
    );
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ completed: 0, call_back_missed: 1, done: true });
    expect(emulator.calls).toHaveLength(1);
    const report = await run(["report", join(folder, "people.outdial")]);
    expect(report.stdout).toMatch(/call_back_missed +1/);
  });

  it("begins at most --per-day calls, also when it is run again", async () => {
    const list = file("people.csv", people);
    // Where it is neither night nor evening: no midnight comes between the two runs.
    const zones = ["Pacific/Honolulu", "America/New_York", "Africa/Nairobi", "Asia/Tokyo"];
    const hourIn = (timeZone: string) =>
      Number(new Date().toLocaleString("en", { timeZone, hour: "numeric", hourCycle: "h23" }));
    const zone = zones.find((name) => hourIn(name) >= 3 && hourIn(name) < 20) ?? "";
    const day = ["--window", "sun-sat 00:00-24:00", "--timezone", zone];
    const args = words(list, ...listening(), "--json", "--per-day", "2", ...day).filter(
      (word, index, all) => word !== "always" && all[index + 1] !== "always",
    );
    for (const _ of ["a run", "another"]) {
      const running = begin(args, env());
      await running.says(/at most 2 per day/);
      await expect.poll(() => posts, { interval: 5 }).toBe(2);
      running.kill("SIGINT");
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
      const { code, stderr } = await run(
        words(list, ...listening(), "--do-not-call", dnc, ...more),
      );
      expect(stderr).toMatch(/the do-not-call list cannot be read: line \d/);
      expect(stderr).not.toContain("2025550101");
      expect(code).toBe(2);
      expect(posts).toBe(0);
    },
  );

  it("calls nobody whose row says so in the column of --opt-out-column", async () => {
    const rows = "+13035551000;no;\n+13035551001;yes;\n+13035551002;;1\n";
    const list = file("people.csv", `number;DoNotCall;HasOptedOutOfEmail\n${rows}`);
    const columns = ["--opt-out-column", "DoNotCall", "--ignore-columns", "HasOptedOutOfEmail"];
    const { stdout, stderr } = await run(words(list, ...listening(), ...columns, "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ contacts: 3, blocked: 1, completed: 2 });
    expect(stderr).toContain('do-not-call from "DoNotCall"');
    expect(emulator.calls.map(({ to_number }) => to_number).sort()).toEqual([
      "+13035551000",
      "+13035551002",
    ]);
  });

  it("warns in the plan of a value of --opt-out-column that no row has", async () => {
    const list = file("people.csv", "number;consent\n+13035551000;ja\n+13035551001;no\n");
    const { stderr } = await run(
      words(list, ...listening(), "--dry-run", "--opt-out-column", "consent=nein"),
    );
    expect(stderr).toContain(
      '  warning: no cell of "consent" has the value of --opt-out-column: no row is blocked by it\n',
    );
  });

  it("refuses a restored backup, which is older than the lock of its ledger, and says so in the plan", async () => {
    const list = file("people.csv", "number\n+13035551000\n");
    const first = await run(words(list, ...listening()));
    expect(first.stderr).not.toContain("restored backup");
    const ledger = join(folder, "people.outdial");
    copyFileSync(ledger, `${ledger}.backup`);
    file("people.csv", "number\n+13035551000\n+13035551001\n");
    const second = await run(words(list, ...listening()));
    expect(second.stderr).toMatch(/ledger of 20\d\d-.*Z: a restored backup would call again/);
    expect(emulator.calls).toHaveLength(2);
    copyFileSync(`${ledger}.backup`, ledger);
    const before = Date.now() / 1_000 - 60;
    utimesSync(ledger, before, before); // As a copy that keeps times has it.
    for (const more of [[], ["--dry-run"]]) {
      const { code, stderr } = await run(words(list, ...listening(), ...more));
      expect(stderr).toContain("the ledger is older than its last run");
      expect(code).toBe(2);
    }
    expect(emulator.calls).toHaveLength(2);
  });

  it("knows a number of the do-not-call list in any spelling", async () => {
    const list = file("people.csv", "number\n+4930123456\n+49 030 123457\n");
    const dnc = file("dnc.txt", '+49 030 123456\r\n"+49 (0)30 123457"\r\n');
    const { stdout } = await run(words(list, ...listening(), "--do-not-call", dnc, "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ blocked: 2 });
    expect(posts).toBe(0);
  });

  it("calls nobody who was erased under another secret: both are needed, with a comma between", async () => {
    const list = file("people.csv", "number\n+13035551000\n");
    const path = file("people.outdial", "");
    chmodSync(path, 0o600);
    const database = new DatabaseSync(path);
    const campaign = await openCampaign(database, {
      from_number: "+12025550199",
      flow_url: "http://127.0.0.1:9/flow",
      status_callback_url: "https://app.test/status",
      secret,
      service: new URL(env().OUTDIAL_BASE_URL).href,
      create: async (_params, _options) => ({ id: "cs_1" }),
      window: "always",
    });
    await campaign.erase("+13035551000");
    await campaign.close();
    database.close();
    const newer = "another that was made at random";
    const dial = (secrets: string) =>
      invoke(words(list, ...listening(), "--json"), { ...env(), SIGNING_SECRET: secrets });
    const refused = await dial(newer);
    expect(refused.stderr).toContain("erased from the ledger under another secret");
    expect(refused.code).toBe(2);
    const both = await dial(`${newer},${secret}`);
    expect(JSON.parse(both.stdout)).toMatchObject({ contacts: 0, refused_lines: 1 });
    expect(posts).toBe(0);
  });

  describe("keeps nothing of a list that was refused", () => {
    const refuse = (list: string, ...more: readonly string[]) =>
      run(words(list, "--listen", "127.0.0.1:0", ...more));

    it("who was taken out of the list is not called by the next run", async () => {
      const list = file("people.csv", "number\n+13035551000\n+13035551001\n");
      expect((await refuse(list)).stderr).toContain("pass --yes");
      file("people.csv", "number\n+13035551002\n");
      const { stdout } = await run(words(list, ...listening(), "--json"));
      expect(JSON.parse(stdout)).toMatchObject({ contacts: 1, completed: 1 });
      expect(emulator.calls.map(({ to_number }) => to_number)).toEqual(["+13035551002"]);
    });

    it("nor is a do-not-call list kept that was the wrong file", async () => {
      const list = file("people.csv", "number\n+13035551000\n");
      const dnc = file("dnc.txt", "+13035551000\n");
      expect((await refuse(list, "--do-not-call", dnc)).stderr).toContain(
        "1 on the do-not-call list",
      );
      const { stdout } = await run(words(list, ...listening(), "--json"));
      expect(JSON.parse(stdout)).toMatchObject({ completed: 1, blocked: 0 });
    });
  });

  it("calls the contacts of the present list, with its present columns", async () => {
    const numbers = ["+13035551000", "+13035551001", "+13035551002", "+13035551003"];
    const csv = (rows: readonly string[]) => `number,id\n${rows.join("\n")}\n`;
    const list = file("people.csv", csv(numbers.map((number) => `${number},old`)));
    const args = words(list, ...listening(), "--json").map((word) =>
      word === "50" ? "0.5" : word,
    );
    const running = begin(args, env());
    await posted(1);
    running.kill("SIGINT");
    await running.ended;
    const [called = ""] = emulator.calls.map(({ to_number }) => to_number);
    const [kept, left] = numbers.filter((number) => number !== called);
    file("people.csv", csv([`${kept},new`]));
    const asked = await run([...args.filter((word) => word !== "--yes"), "--rate", "50"]);
    expect(asked.code).toBe(2);
    const again = await run(args.map((word) => (word === "0.5" ? "50" : word)));
    expect(again.stderr).toMatch(/^1 contact to call, of 4 contacts/m);
    expect(again.stderr).toMatch(/1 waiting, and changed as in the list/);
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
    expect(last.stderr).toMatch(/2 left out before, and in the list again/);
    expect(JSON.parse(last.stdout)).toMatchObject({ completed: 4, canceled: 0 });
    expect(posts).toBe(4);
  });

  it("looks into the ledger with --dry-run, and changes nothing in it", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const ledger = join(folder, "people.outdial");
    const before = readFileSync(ledger);
    file("people.csv", `${people}+13035551000,,Dan,\r\n`);
    const { code, stdout, stderr } = await run(words(list, ...listening(), "--dry-run", "--json"));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^1 contact to call, of 4 contacts; 3 already in the ledger/);
    expect(JSON.parse(stdout)).toMatchObject({ waiting: 1, contacts: 4, duplicate: 3 });
    expect(readFileSync(ledger)).toEqual(before);
  });

  it("leaves nothing behind for a list that isn't there", async () => {
    const { code, stderr } = await run(words(join(folder, "nope.csv"), ...listening()));
    expect(stderr).toMatch(/the list cannot be read \(ENOENT\)/);
    expect(code).toBe(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("refuses another campaign's ledger", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const other = words(list, ...listening()).map((word) =>
      word.endsWith("/flow") ? "http://127.0.0.1:9/other" : word,
    );
    const { code, stderr } = await run(other);
    expect(code).toBe(2);
    expect(stderr).toMatch(/another campaign/);
  });

  it("keeps key and secret out of the ledger", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const bytes = readFileSync(join(folder, "people.outdial"), "latin1");
    expect(bytes).toContain("+12025550100");
    expect(bytes).not.toContain(emulator.apiKey);
    expect(bytes).not.toContain(secret);
  });

  it.each([
    ["n", "n\r", 1, /not confirmed: nobody was called/],
    ["ctrl-D", "\u0004", 1, /not confirmed: nobody was called/],
    ["ctrl-C", "\u0003", 130, /interrupted: nobody was called/],
  ])("asks on a terminal, and calls nobody after %s", async (_, keys, exit, line) => {
    const list = file("people.csv", people);
    const args = words(list, "--listen", "127.0.0.1:0").map((word) => `'${word}'`);
    const running = startOnTerminal(args, env());
    await running.says(/Call them\? \[y\/N\]/);
    running.child.stdin?.write(keys);
    const { code, stdout } = await running.ended;
    expect(stdout).toMatch(line);
    expect(code).toBe(exit);
    expect(posts).toBe(0);
  });

  it("keeps one line on a terminal, and prints the end whole with the next step", async () => {
    const list = file("people.csv", people);
    const args = words(list, ...listening()).map((word) => (word === "50" ? "1" : word));
    const running = begin(args, env(), { columns: 60 });
    const shown = await running.says(/\[K[0-2]\/3 done {2}\d waiting, about \d s left at 1\/s/);
    for (const line of shown.split(/\r|\n/)) {
      if (line.includes("/3 done")) expect(line.length).toBeLessThan(60 + 3);
    }
    const { code, stderr } = await running.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("\n3 of 3 done: 1 completed, 1 busy, 1 rejected\n".slice(1));
    expect(stderr).toMatch(/\nNext: outdial results \S+people\.outdial > results\.csv\n$/);
  });

  it("counts the rows on a terminal while a long list is read", async () => {
    const many = Array.from({ length: 30_000 }, (_, index) => `+1303${5_550_000 + index}`);
    const list = file("people.csv", `number\n${many.join("\n")}\n`);
    const running = begin(words(list, ...listening(), "--dry-run"), env(), { columns: 100 });
    await running.says(/reading the list: [\d,]+ rows/);
    expect((await running.ended).stderr).toContain("30,000 contacts to call");
  });

  it("says in the plan when a refused connection proves nothing", async () => {
    const list = file("people.csv", people);
    const plan = async (before: string) => {
      const NODE_OPTIONS = `--import=data:text/javascript,${before}`;
      const args = words(list, ...listening(), "--dry-run");
      return (await outdial("node", args, { ...env(), NODE_OPTIONS })).stderr;
    };
    const unclear = "a refused connection is unclear, not tried again";
    expect(await plan("")).not.toContain(unclear);
    const set = 'globalThis[Symbol.for("undici.globalDispatcher.1")]={dispatch(){}}';
    expect(await plan(encodeURIComponent(set))).toContain(unclear);
  });

  it("says on a terminal when the next window opens, and calls nobody before", async () => {
    const list = file("people.csv", people);
    // Not tomorrow, which is today once midnight has passed.
    const later = new Date(Date.now() + 2 * 86_400_000).toUTCString().slice(0, 3).toLowerCase();
    const args = words(list, ...listening(), "--timezone", "UTC").map((word) =>
      word === "always" ? `${later} 12:00-12:01` : word,
    );
    const running = begin(args, env(), { columns: 120 });
    await running.says(/0\/3 done {2}3 waiting, next call in \d+ [dh]/);
    running.kill("SIGTERM");
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("the same command resumes where it left off");
    expect(posts).toBe(0);
  });

  it("calls them after y on a terminal", async () => {
    const list = file("people.csv", people);
    const args = words(list, "--listen", "127.0.0.1:0").map((word) => `'${word}'`);
    const running = startOnTerminal(args, env());
    await running.says(/Call them\? \[y\/N\]/);
    running.child.stdin?.write("y\r");
    expect((await running.ended).code).toBe(0);
    expect(posts).toBe(3);
  });

  it.each([
    [["--listen", "127.0.0.1:1"], /pass --yes/],
    [["--yes"], /pass either --listen or --callback/],
    [["--callback", "https://x.test/s", "--attempts", "2", "--yes"], /need --listen/],
    [
      ["--callback", "https://x.test/s", "--yes", "--retry-on", "hunger"],
      /--retry-on takes machine, busy/,
    ],
    [["--callback", "https://x.test/s", "--yes", "--retry-after", "soon"], /--retry-after must be/],
    [["--callback", "https://x.test/s", "--yes", "--per-day", "0"], /--per-day must be/],
    [["--callback", "https://x.test/s", "--yes", "--until", "soon"], /--until must be a date/],
    [["--listen", "127.0.0.1:1", "--yes", "--concurrency=-1"], /--concurrency must be a whole/],
    [
      ["--listen", "127.0.0.1:1", "--yes", "--concurrency", "-1"],
      /--concurrency needs a value; one that begins with "-" is written --concurrency=…/,
    ],
    [["--callback", "https://x.test/s", "--yes", "--until", "2026-02-31T12:00Z"], /must be a date/],
    [["--listen", "127.0.0.1:1", "--yes", "--concurrency", "0x10"], /--concurrency must be/],
    [["--listen", "127.0.0.1:1", "--yes", "--per-day", "1e2"], /--per-day must be/],
    [["--callback", "https://x.test/s", "--yes", "--country", "Atlantis"], /--country must be/],
    [
      ["--callback", "https://x.test/s", "--yes", "--do-not-call", "/nowhere"],
      /do-not-call list cannot be/,
    ],
    [["--callback", "https://x.test/s", "--yes", "--window", "mon 9-5"], /--window/],
    [["--listen", "127.0.0.1:1", "--public-url", "https://x.test/a?b", "--yes"], /--public-url is/],
    [["--listen", "127.0.0.1:99999", "--dry-run"], /--listen must be a host and a port/],
    [["--callback", "https://x.test/s", "--yes", "--timezone", "Europe/Berln"], /--timezone must/],
    [
      [
        ...["--callback", "https://x.test/s", "--yes"],
        ...["--window", "mon 09:00-10:00", "--timezone", "Etc/GMT-2"],
      ],
      /--timezone must be an IANA time zone with its area/,
    ],
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
    ["SIGNING_SECRET", /SIGNING_SECRET is not set/],
    ["OUTDIAL_API_KEY", /OUTDIAL_API_KEY is not set/],
    ["OUTDIAL_BASE_URL", /which service/],
  ])("exits 2 without %s", async (name, line) => {
    const list = file("people.csv", people);
    const { [name as keyof ReturnType<typeof env>]: _, ...rest } = env();
    const { code, stderr } = await invoke(words(list, ...listening()), rest);
    expect(stderr).toMatch(line);
    expect(code).toBe(2);
  });

  it.each([
    [["always", "mon-fri 09:00-20:00"], /--window is "always", or hours, and not both/],
    [
      ["mon-fri 25:00-26:00"],
      /--window must be hours such as "mon-fri 09:00-20:00" \("24:00" ends a day\), or "always"$/,
    ],
  ])("exits 2 for the windows %j", async (windows, line) => {
    const list = file("people.csv", people);
    const args = words(list, ...listening(), "--timezone", "UTC");
    const given = windows.flatMap((each) => ["--window", each]);
    const { code, stderr } = await run([...args.toSpliced(args.indexOf("--window"), 2), ...given]);
    expect(stderr.trim().replace(/; see .*/, "")).toMatch(line);
    expect(code).toBe(2);
  });

  it.each(["results", "stop"])(
    "a ledger whose run was killed while it made it is named by %s, and dialled from",
    async (name) => {
      const list = file("people.csv", people);
      const ledger = makeLedger();
      const { code, stdout, stderr } = await run([name, ledger]);
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr).toMatch(
        /^outdial: the ledger is empty: .* has called nobody\. Run outdial dial/,
      );
      // It was killed between its tables and its list.
      const campaign = await openCampaign(new DatabaseSync(ledger), {
        ...{ from_number: "+12025550199", flow_url: "http://127.0.0.1:9/flow", secret },
        ...{ status_callback_url: "http://127.0.0.1:9/status", window: "always" },
        service: `http://127.0.0.1:${server.port}/`,
        create: async (_, __) => ({ id: "cs_1" }),
      });
      await campaign.close();
      const empty = await run(["results", ledger]);
      expect(empty.stderr).toBe("outdial: the ledger has no contacts yet\n");
      expect(empty.stdout.trim().split("\r\n")).toHaveLength(1);
      expect((await run(words(list, ...listening()))).code).toBe(0);
      expect(posts).toBe(3);
    },
  );

  it("refuses a file that is not a ledger, and does not change it", async () => {
    const list = file("people.csv", people);
    const ledger = file("people.outdial", "something else, of more than a page ".repeat(200));
    chmodSync(ledger, 0o600);
    for (const args of [words(list, ...listening()), ["results", list], ["block", ledger, "+1"]]) {
      const { code, stderr } = await run(args);
      expect(stderr).toMatch(/not a ledger/);
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

  it.each(["dial", "results", "block"])("%s refuses a ledger with a hard link", async (name) => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    const ledger = join(folder, "people.outdial");
    linkSync(ledger, join(folder, "other.outdial"));
    const args = { dial: words(list, ...listening()), results: [name, ledger] };
    const given =
      name === "dial" ? args.dial : [...args.results, ...(name === "block" ? ["+1"] : [])];
    const { code, stderr } = await run(given);
    expect(stderr).toMatch(/the ledger has a second name \(a hard link\)/);
    expect(code).toBe(2);
  });

  it.runIf(existsSync("/proc/self/fd"))("closes its ledger, also after a failure", async () => {
    await run(words(file("bad.csv", "name\n"), ...listening()));
    await run(words(file("people.csv", people), ...listening()));
    await run(["results", join(folder, "people.outdial")]);
    await run(["block", join(folder, "people.outdial"), "nobody"]);
    const open = readdirSync("/proc/self/fd").map((fd) => {
      const path = join("/proc/self/fd", fd);
      return existsSync(path) ? readlinkSync(path) : "";
    });
    expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
  });

  it("refuses a ledger that others may read", async () => {
    const list = file("people.csv", people);
    await run(words(list, ...listening()));
    chmodSync(join(folder, "people.outdial"), 0o644);
    const { code, stderr } = await run(words(list, ...listening()));
    expect(stderr).toMatch(/other users may read the ledger: chmod 600/);
    expect(code).toBe(2);
  });

  it("prints results, and exits 1 when they can't all be written; a reader may leave", async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => `+1303555${1000 + index}`).join("\n");
    const list = file("people.csv", `number\n${many}\n`);
    makeLedger();
    await run(words(list, ...listening(), "--until", "2026-01-01T12:00Z"));
    const args = ["results", join(folder, "people.outdial")];
    const full = await startInShell("node", args, env(), "> /dev/full").ended;
    expect(full.stderr).toMatch(/not everything could be written/);
    expect(full.code).toBe(1);
    const left = await startInShell("node", args, env(), "| head -1").ended;
    expect(left.stderr).toBe("");
    expect(left.stdout).toMatch(/^to_number/);
  });

  it.each([[], ["--dry-run"]])("exits 1 when its JSON can't be written: %j", async (...more) => {
    const list = file("people.csv", people);
    const args = words(list, ...listening(), "--json", ...more);
    const { code, stderr } = await startInShell("node", args, env(), "> /dev/full").ended;
    expect(stderr).toMatch(/the result could not be written: is the disk full\?/);
    expect(code).toBe(1);
  });

  it.each([
    ["people.outdial", /the ledger cannot be opened: it is a folder \(EISDIR\)/],
    ["absent/people.outdial", /the ledger cannot be opened: there is no such file or folder/],
    ["people.csv/people.outdial", /the ledger cannot be opened: its folder is a file/],
  ])("says why the ledger %s cannot be opened", async (name, why) => {
    const list = file("people.csv", people);
    mkdirSync(join(folder, "people.outdial"), { mode: 0o700 });
    const ledger = ["--ledger", join(folder, name)];
    const { code, stderr } = await run(words(list, ...listening(), ...ledger));
    expect(stderr).toMatch(why);
    expect(stderr).not.toContain(folder);
    expect(code).toBe(2);
  });

  it("exits 2 for a secret that is too short", async () => {
    const list = file("people.csv", people);
    const { code, stderr } = await invoke(words(list, ...listening()), {
      ...env(),
      SIGNING_SECRET: "short",
    });
    expect(stderr).toMatch(/SIGNING_SECRET must be 16 characters or more/);
    expect(code).toBe(2);
  });

  it.each([
    ['number\n"+1', /not CSV at line/],
    ["name\nAda\n", /has no column to_number/],
    ["Name,Phone 1 - Value\nAda,+12025550101\n", /--number-column "Phone 1 - Value"/],
    ["number,DoNotCall\n+12025550101,yes\n", /pass --opt-out-column DoNotCall to block its rows/],
    ["PK\u0003\u0004\n", /a workbook, such as of Excel: save it as CSV in UTF-8/],
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
