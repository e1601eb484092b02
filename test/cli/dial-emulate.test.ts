import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { invoke, outdial, runtimes } from "./cli.ts";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "emulate-"));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.restoreAllMocks();
});

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const people = (count: number): string =>
  file(
    "people.csv",
    `phone,name\n${Array.from({ length: count }, (_, at) => `+4930100${1000 + at},N${at}\n`).join("")}`,
  );

const survey = (more = ""): string =>
  file(
    "survey.mjs",
    `export default {
       onAnswer: ({ contact }) => ({
         action: "gather", digits: 1, as: "visit", on: { 1: "thanks", 9: "stop" },
         prompts: ["Hello " + contact.variables.name + ", how was your visit?"],
       }),
       steps: {
         thanks: () => ({ action: "say", prompts: ["Thank you."] }),
         stop: () => ({ action: "say", prompts: ["We will not call again."] }),
         ${more}
       },
     };`,
  );

const words = (list: string, ...more: readonly string[]): readonly string[] => [
  ...["dial", list, "--emulate", "--from", "+12025550199", "--window", "always"],
  ...["--variables", "name", ...more],
];

const callees = ["--callees", "busy=20%,press=1:50%,press=9:10%"];

describe("outdial dial --emulate", () => {
  it("needs nothing of the environment, and leaves no file behind", async () => {
    const fetch = vi.spyOn(globalThis, "fetch");
    const list = people(10);
    const script = survey("never: () => ({ action: 'hangup' }),");
    const { code, stdout, stderr } = await invoke(words(list, "--script", script, ...callees));
    expect(stderr).toMatch(/^10 contacts to call, of 10 contacts\n/);
    expect(stderr).toContain("by the emulator");
    expect(code).toBe(0);
    expect(fetch).not.toHaveBeenCalled();
    expect(readdirSync(folder)).toEqual(["people.csv", "survey.mjs"]);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect(stdout.replaceAll(/\w{3} \d{4}-\d\d-\d\d \d\d:\d\d/g, "…").split("\n\n")).toEqual([
      "Nobody was called: this is what would happen on the emulator.",
      expect.stringMatching(/^Calls {7}10 calls to 10 contacts, at most \d at once, \d s each/),
      expect.stringMatching(/^Time {8}1\d s, if it began now:\n {12}… to …, \w+/),
      "Contacts    8   80.0 %  completed\n            2   20.0 %  busy",
      "Answers     visit  1: 5, 9: 1, none: 4",
      expect.stringMatching(
        /^In a call {3}5 contacts such as \+4930100\d{4}: completed\n {14}hears {4}Hello N\d, how was your visit\?\n {14}presses {2}1\n {14}hears {4}Thank you\.\n/,
      ),
      "Not reached never\n",
    ]);
  });

  it("has every contact in --json, and the same answers as the summary", async () => {
    const { stdout } = await invoke(
      words(people(10), "--script", survey(), ...callees, "--json", "--seed", "7"),
    );
    const { results, ...summary } = JSON.parse(stdout);
    expect(summary).toMatchObject({
      ...{ emulated: true, state: "done", completed: 8, busy: 2, calls: 10, not_reached: [] },
      answers: { visit: { 1: 5, 9: 1 } },
    });
    const answered = results.filter((result: { answers: object }) => "visit" in result.answers);
    expect(answered).toHaveLength(6);
    expect(answered[0].calls[0].conversation).toEqual([
      { hears: expect.stringMatching(/^Hello N\d, how was your visit\?$/) },
      { presses: answered[0].answers.visit },
      { hears: expect.any(String) },
    ]);
  });

  it("writes results, report and what each contact would hear into the folder of --output", async () => {
    const output = join(folder, "tried");
    const args = words(people(3), "--script", survey(), "--callees", "press=1:100%");
    for (const _ of ["a run", "another"]) {
      const { code, stdout } = await invoke([...args, "--output", output]);
      expect(code).toBe(0);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain("emulated-calls.txt are in");
    }
    const [calls, report, results] = readdirSync(output)
      .sort()
      .map((name) => readFileSync(join(output, name), "utf8"));
    expect(calls).toMatch(
      /^\+49301001000: completed\n {2}\w{3} \d{4}-\d\d-\d\d \d\d:\d\d\n {4}hears {4}Hello N0, how was your visit\?\n {4}presses {2}1\n {4}hears {4}Thank you\.\n\n\+49301001001: /,
    );
    expect(report).toContain("<h1>people.csv, emulated: nobody was called</h1>");
    expect(results).toMatch(
      /^to_number,id,disposition,[^\r]*,visit,name\r\n\+49301001000,,completed,[^\r]*,1,N0\r\n/,
    );
    const refused = await invoke([
      ...args.filter((word) => word !== "--emulate"),
      "--output",
      output,
    ]);
    expect(refused.stderr).toContain("need --emulate");
    const noFolder = await invoke([...args, "--output", join(folder, "people.csv")]);
    expect(noFolder.stderr).toContain("--output cannot be written (EEXIST)");
  });

  it("lets a script reach no host, and says so", async () => {
    const script = file(
      "asks.mjs",
      `export default { onAnswer: async () => {
         await fetch("http://127.0.0.1:9/visits");
         return { action: "hangup" };
       } };`,
    );
    const { code, stdout } = await invoke(words(people(2), "--script", script));
    expect(stdout).toContain("2 times: --emulate reaches no host, so nothing is requested");
    expect(code).toBe(1);
  });

  it("pauses the list once the script has failed in 20 calls in a row", async () => {
    const script = file("throws.mjs", "export default { onAnswer: () => { throw Error('Oh'); } };");
    const { code, stdout } = await invoke(words(people(30), "--script", script, "--json"));
    const { flow_error, waiting, state, reason } = JSON.parse(stdout);
    expect(flow_error + waiting).toBe(30);
    expect(flow_error).toBeGreaterThanOrEqual(20);
    expect(waiting).toBeGreaterThan(0);
    expect([code, state]).toEqual([1, "paused"]);
    expect(reason).toBe("the flow of 20 calls in a row failed: --script failed: Error");
  });

  it("ends by the name of the script for a promise that the script leaves to itself", async () => {
    const script = file(
      "leaves.mjs",
      "export default { onAnswer: () => { Promise.reject(Error('Oh')); return { action: 'hangup' }; } };",
    );
    const { code, stderr } = await outdial("node", words(people(1), "--script", script));
    expect(stderr).toMatch(
      /\noutdial: --script failed outside of its steps, so await .*: Oh \(no call was placed\)\n$/,
    );
    expect(code).toBe(1);
  });

  describe.each(runtimes)("under %s", (runtime) => {
    const how = { allow: ["--allow-env", "--allow-read", "--allow-write"] };
    const emulate = (script: string) =>
      outdial(runtime, words(people(2), "--script", script), {}, how);

    it("has file, line and column of a mistake in a script", async () => {
      const source = "export default {\n  onAnswer: () => say('a' 'b'),\n};\n";
      for (const name of ["mistake.mjs", "mistake.ts"]) {
        const { code, stderr } = await emulate(file(name, source));
        expect(stderr).toMatch(
          new RegExp(`^outdial: --script cannot be loaded: \\S*${name}:2:2[37]: \\w[^\n]*\n$`),
        );
        expect(code).toBe(2);
      }
      const { stderr } = await emulate(
        file("missing.mjs", "\nexport default {\n  onAnswer: foo };"),
      );
      expect(stderr).toMatch(/missing\.mjs:3:13: foo is not defined|missing\.mjs:3:13: Can't find/);
    });

    it("names process.exit in a step, and calls the others", async () => {
      const script = file(
        "exits.mjs",
        "export default { onAnswer: () => { process.exit(0); return { action: 'hangup' }; } };",
      );
      const { code, stdout } = await emulate(script);
      expect(stdout).toContain("2 calls to 2 contacts");
      expect(stdout).toMatch(
        /2 times: process\.exit would leave the live calls of the list: return/,
      );
      expect(code).toBe(1);
      const early = await emulate(file("early.mjs", "process.exit(0);"));
      expect(early.stderr).toContain("process.exit would leave the live calls");
      expect(early.code).toBe(2);
    });
  });

  it("assumes a length where there is no script", async () => {
    const { code, stdout } = await invoke(
      words(people(2), "--flow", "https://app.test/flow", "--concurrency", "1"),
    );
    expect(stdout).toContain("2 calls to 2 contacts, at most 1 at once, 32 s each on average");
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(
      "--flow is not requested: each answered call is assumed to take 30 s.",
    );
    expect(code).toBe(0);
  });

  it("reads the do-not-call list, and calls nobody on it", async () => {
    const blocked = file("do-not-call.txt", "+49301001000\n");
    const { stdout } = await invoke(words(people(2), "--do-not-call", blocked, "--json"));
    expect(JSON.parse(stdout)).toMatchObject({ blocked: 1, completed: 1, calls: 1 });
  });

  it.each([
    [["--callees", "bussy=10%"], "bussy is none of .*: did you mean busy?"],
    [["--seed", "1"], "--seed needs --callees"],
    [["--dry-run"], "drop --dry-run"],
    [["--script", "a.mjs", "--flow", "https://app.test/flow"], "either --flow or --script"],
    [["--script", "none.mjs"], "--script cannot be read"],
    [["--service", "twillio"], "no such --service \\(did you mean twilio\\?\\)"],
    [
      ["--service", "twilio", "--rate", "5"],
      "--rate must be at most 1, the --calls-per-second of twilio",
    ],
    [["--rate", "0"], "--rate must be above 0"],
  ])("%j is refused by name", async (more, message) => {
    const { code, stderr, stdout } = await invoke(words(people(1), ...more));
    expect(stderr).toMatch(new RegExp(message));
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("--callees without --emulate is refused before anybody is called", async () => {
    const list = people(1);
    const flags = words(list, ...callees).filter((word) => word !== "--emulate");
    const { code, stderr } = await invoke([...flags, "--listen", "127.0.0.1:0"]);
    expect(stderr).toContain("--callees and --seed need --emulate");
    expect(code).toBe(2);
  });

  it.each([
    ["node", ["vonage"]],
    ["bun", ["telnyx"]],
    // Without the permission for a network.
    ["deno", ["", "twilio", "vonage", "telnyx"]],
  ] as const)("runs on %s, as %j", async (runtime, services) => {
    const all = words(people(4), "--script", survey(), "--json", "--callees", "press=1:100%");
    const how = { allow: ["--allow-env", "--allow-read", "--allow-write"] };
    for (const service of services) {
      const env = { OUTDIAL_SERVICE: service };
      const { code, stdout, stderr } = await outdial(runtime, all, env, how);
      expect(stderr).toMatch(/^4 contacts to call/);
      expect(stderr).toContain(service ? `by ${service}, account` : "by the emulator");
      expect(JSON.parse(stdout).answers).toEqual({ visit: { 1: 4 } });
      expect(code).toBe(0);
    }
  });
});
