import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Callee, Emulator } from "../../src/emulator/index.ts";
import { startEmulator } from "../carriers/stage.ts";
import { begin, invoke } from "./cli.ts";
import { beginUntilEnd, newFolder, serveUntilEnd } from "./emulate.ts";

/** Without a package that it would import, it may be in any folder. */
const script = `
export default {
  onAnswer: ({ contact }) => ({
    action: "gather",
    prompts: [contact.id + "? 1 for yes, 9 for no more calls."],
    ...{ digits: 1, as: "coming", on: { 1: "thanks", 9: "stop" }, timeout_ms: 10_000 },
  }),
  steps: {
    thanks: () => ({ action: "say", prompts: ["Thank you."] }),
    stop: async ({ contact, campaign }) => {
      await campaign.block(contact.to_number);
      return { action: "say", prompts: ["We will not call again."] };
    },
  },
};`;

const [first, second, third] = ["+13035550001", "+13035550002", "+13035550003"];
const people = `to_number,id\n${first},Ada\n${second},Bob\n`;

let folder: string;
let emulator: Emulator;
let env: Readonly<Record<string, string>>;

/** Everybody presses one key, once the question has been asked. */
const pressing =
  (digits: string): Callee =>
  () => [{ type: "until-prompt" }, { type: "press", digits }];

const file = (name: string, text: string): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const serve = async (callee: Callee, speed?: number) => {
  const started = await startEmulator({ callee, ...(speed && { clock: "real", speed }) });
  ({ emulator } = started);
  env = {
    OUTDIAL_API_KEY: emulator.apiKey,
    OUTDIAL_BASE_URL: started.baseUrl,
    SIGNING_SECRET: "a secret that was made at random",
  };
};

const words = (list: string, ...more: readonly string[]): readonly string[] => [
  ...["dial", list, "--script", file("survey.mjs", script), "--from", "+12025550199"],
  ...["--window", "always", "--rate", "50", "--listen", "127.0.0.1:0", "--yes", ...more],
];

const rows = async (ledger = "people.outdial") => {
  const { stdout } = await invoke(["results", join(folder, ledger)]);
  const lines = stdout.trim().split("\r\n").slice(1);
  const all = lines.map((line) => line.split(",")).map((cells) => [cells[0], cells[2], cells[13]]);
  return all.sort(([one = ""], [other = ""]) => one.localeCompare(other));
};

beforeEach(() => {
  folder = newFolder();
});

describe("outdial dial --script", () => {
  it("names the script in its plan, and its ledger stays the script's when the URL of the tunnel changes", async () => {
    await serve(pressing("1"));
    const list = file("people.csv", people);
    const { code, stderr } = await invoke(words(list), env);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain("flow --script survey.mjs");
    expect(await rows()).toEqual([
      [first, "completed", "1"],
      [second, "completed", "1"],
    ]);
    // Another port is another URL, and a public one is, too. (The name of the list keeps its ledger.)
    file("people.csv", `${people}${third},Cid\n`);
    const again = await invoke(words(list), env);
    expect(again.code, again.stderr).toBe(0);
    expect(await rows()).toHaveLength(3);
    const flow = ["--flow", "https://app.test/flow", "--listen", "127.0.0.1:0", "--yes"];
    const other = ["dial", list, ...flow, "--from", "+12025550199", "--window", "always"];
    expect((await invoke(other, env)).stderr).toContain("another campaign");
    rmSync(join(folder, "survey.mjs"));
    const renamed = words(list).map((word) => word.replace("survey.mjs", "other.mjs"));
    file("other.mjs", script);
    expect((await invoke(renamed, env)).stderr).toContain("another campaign");
  });

  it("has who opts out in the file before the last words are spoken; another list never calls them", async () => {
    await serve(pressing("9"));
    const optOuts = join(folder, "opt-outs.txt");
    const { code, stderr } = await invoke(
      words(file("people.csv", people), "--opt-outs", optOuts),
      env,
    );
    expect(code, stderr).toBe(0);
    expect(readFileSync(optOuts, "utf8").trim().split("\n").sort()).toEqual([first, second]);
    const dry = words(
      file("people.csv", people),
      "--opt-outs",
      join(folder, "dry.txt"),
      "--dry-run",
    );
    expect((await invoke(dry, env)).code).toBe(0);
    expect(existsSync(join(folder, "dry.txt"))).toBe(false);
    const list = file("others.csv", `${people}${third},Cid\n`);
    await invoke(words(list, "--do-not-call", optOuts), env);
    expect(await rows("others.outdial")).toEqual([
      [first, "blocked", ""],
      [second, "blocked", ""],
      [third, "completed", "9"],
    ]);
    expect(emulator.posts.get(first)).toBe(1);
  });

  it("calls nobody whose number is in --opt-outs already: another list's run, or a hand, has written it", async () => {
    await serve(pressing("1"));
    const optOuts = file("opt-outs.txt", `${first}\n`);
    const { code, stderr } = await invoke(
      words(file("people.csv", people), "--opt-outs", optOuts),
      env,
    );
    expect(code, stderr).toBe(0);
    expect(await rows()).toEqual([
      [first, "blocked", ""],
      [second, "completed", "1"],
    ]);
    expect(emulator.posts.get(first)).toBeUndefined();
  });

  it("serves the flow of the live calls after ctrl-C, until they have ended; the next run calls the others", async () => {
    // A real clock: the question waits until a key is pressed.
    await serve([], 1);
    const list = file("people.csv", people);
    const running = begin(words(list, "--concurrency", "1"), env);
    const asked = () =>
      emulator.calls.some(({ history }) => history.some(({ type }) => type === "action"));
    await expect.poll(asked).toBe(true);
    running.kill("SIGINT");
    for (const { id } of emulator.calls) emulator.press(id, "1");
    const { code } = await running.ended;
    expect(code).toBe(130);
    expect(await rows()).toEqual([
      [first, "completed", "1"],
      [second, "", ""],
    ]);
  });

  it.each([
    [["--flow", "https://app.test/flow"], "pass either --flow or --script"],
    [["--callback", "https://app.test/status"], "pass either --listen or --callback"],
    [["--opt-outs", "/nowhere/opt-outs.txt"], "--opt-outs cannot be written (ENOENT)"],
    [["--dry-run", "--opt-outs", "/nowhere/opt-outs.txt"], "cannot be written (ENOENT)"],
    [["--ledger", "/nowhere/a", "--opt-outs", "/nowhere/a-lock"], "another file than the ledger"],
    [["--public-url", "calls.example"], "--public-url must be a URL"],
    [["--public-url", "https://calls.example?a=1"], "drop its query or fragment"],
    [["--public-url", "http://calls.example"], "outdial: --public-url must be https"],
    [["--public-url", "https://u:p@calls.example"], "outdial: --public-url must be without user"],
    [["--public-url", "calls.example", "--dry-run"], "--public-url must be a URL"],
  ])("%j is refused before anybody is called", async (more, message) => {
    await serve(pressing("1"));
    const { code, stderr } = await invoke(words(file("people.csv", people), ...more), env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(emulator.posts.size).toBe(0);
  });

  it.each([
    ["export default {", "--script cannot be loaded: "],
    ["export default { onAnswer: 1 };", "--script: onAnswer must be a function"],
    ["export default { onAnswer() {}, steps: { a: 1 } };", "--script: steps must be an object of"],
    ["export default { onAnswer() {}, secret: 'x' };", "--script: secret is not one of"],
  ])("%s is refused by its rule", async (text, message) => {
    await serve(pressing("1"));
    const args = words(file("people.csv", people));
    file("survey.mjs", text);
    const { code, stderr } = await invoke(args, env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });

  it.each([404, 502, 200])(
    "calls nobody where its own probe is answered by another server: HTTP %i",
    async (status) => {
      await serve(pressing("1"));
      const other = await serveUntilEnd((_, response) => {
        response.writeHead(status, { "content-type": "text/html" }).end("<!doctype html>");
      });
      const args = words(file("people.csv", people), "--public-url", other.url);
      const { code, stderr } = await invoke(args, env);
      expect(stderr).toContain(
        `--public-url does not lead to --listen: HTTP ${status} came from another server`,
      );
      expect(stderr).toMatch(/Nobody was called; see/);
      expect(code).toBe(2);
      expect(emulator.posts.size).toBe(0);
    },
  );

  it("ends with exit 1 where the flow of its calls failed, and with 0 once none fails any more", async () => {
    await serve(pressing("1"));
    const list = file("people.csv", people);
    const args = words(list);
    file("survey.mjs", "export default { onAnswer: () => { throw new Error('no such table'); } };");
    const failed = await invoke(args, env);
    expect(failed.stderr).toContain("2 flow error");
    expect(failed.code).toBe(1);
    file("people.csv", `${people}${third},Cid\n`);
    const mended = await invoke(words(list), env);
    expect(mended.stderr).toContain("2 flow error");
    expect(mended.code, mended.stderr).toBe(0);
  });

  it("prints what a script throws with the id of its call, and refused requests once", async () => {
    await serve(pressing("1"));
    const args = words(file("people.csv", `to_number\n${first}\n`));
    file("survey.mjs", "export default { onAnswer: () => { throw new Error('no such table'); } };");
    const running = beginUntilEnd(args, env);
    const text = await running.says(/Notifications arrive at \S+\n/);
    const [, url = ""] = /arrive at (\S+)/.exec(text) ?? [];
    for (const path of ["/flow", "/status", "/flow?outdial=1.a.b"]) {
      const response = await fetch(url.replace("/status", path), { method: "POST" });
      expect([400, 401]).toContain(response.status);
    }
    expect((await fetch(url.replace("/status", "/"))).status).toBe(404);
    const { stderr } = await running.ended;
    expect(stderr).toMatch(/outdial: call cs_\w+: no such table\n/);
    expect(stderr.match(/a request was refused/g)).toHaveLength(1);
  });
});
