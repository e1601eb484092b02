import { mkdtempSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { startEmulator } from "../carriers/stage.ts";
import { begin, invoke, outdial, startWithInput } from "./cli.ts";
import { json, serve } from "./service.ts";

const from = "+12025550199";
const callback = "https://app.test/status";
const accountSid = `AC${"0".repeat(32)}`;
const folder = mkdtempSync(join(tmpdir(), "outdial-flow-"));

/** A file with a module. */
const module = (text: string): string => {
  const file = join(folder, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, text);
  return file;
};

/** An emulator that answers each notification, and a call of its command. */
const start = async (to = "+12025550100") => {
  const { emulator, baseUrl } = await startEmulator({
    fetch: async () => new Response(null, { status: 204 }),
  });
  const env = { OUTDIAL_API_KEY: emulator.apiKey, OUTDIAL_BASE_URL: baseUrl };
  const flags = ["call", "--from", from, "--to", to, "--callback", callback];
  const call = (...more: readonly string[]) => invoke([...flags, ...more], env);
  /** What was said. */
  const said = () =>
    JSON.stringify(
      emulator.calls.flatMap(({ history }) => history.filter(({ type }) => type === "flow")),
    );
  return { emulator, env, flags, call, said };
};

describe("outdial call with its flow in the request", () => {
  it("says a text, with the hint that others see arguments", async () => {
    const { call, said } = await start();
    const { code, stdout, stderr } = await call("--say", "Your table is ready.");
    expect([code, stdout.slice(0, 3)]).toEqual([0, "cs_"]);
    expect(stderr).toMatch(/other users of this machine can read arguments; --say - takes/);
    expect(said()).toContain("Your table is ready.");
  });

  it("says what is on stdin, without a hint", async () => {
    const { env, flags, said } = await start();
    const { code, stderr } = await startWithInput(
      [...flags, "--say", "-", "--wait"],
      env,
      "Hello.\n",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(said()).toContain("Hello.");
  });

  it("refuses a text on stdin that is too long with its spaces, as it may go on", async () => {
    const { env, flags, said } = await start();
    const input = `${" ".repeat(65_530)}Your table is ready.`;
    const { code, stderr } = await startWithInput([...flags, "--say", "-"], env, input);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^outdial: --say: the text must be a text of 1 to 1500 characters/),
    ]);
    expect(said()).toBe("[]");
  });

  it("performs the action of a module", async () => {
    const { call, said } = await start();
    const flow = module('export default { action: "say", prompts: ["From a file."] };');
    expect((await call("--flow-file", flow)).code).toBe(0);
    expect(said()).toContain("From a file.");
  });

  const missing = module("export const flow = 1;");
  const gather = module(
    'export default { action: "gather", prompts: ["Your code?"], digits: 4, as: "code" };',
  );
  const next = module('export default { action: "say", prompts: ["Hello."], next: "bye" };');
  it.each([
    [[], /^outdial: --flow is missing, as are --say and --flow-file;/],
    [["--say", "x", "--flow", "https://app.test/"], /^outdial: give one of --flow, --say and --f/],
    [["--say", " "], /^outdial: --say: the text must be a text of 1 to 1500 characters \(no call/],
    [["--say", "x".repeat(1_501)], /--say: the text must be a text of 1 to 1500 characters/],
    [["--flow-file", "/nowhere.mjs"], /--flow-file cannot be loaded: .*nowhere/],
    [["--flow-file", missing], /^outdial: --flow-file: the action must be /],
    [["--flow-file", gather], /--flow-file must not be a gather in the request.*: give --flow, /],
    [["--flow-file", next], /--flow-file must be without next, which needs a server/],
  ])("exits 2 and places nothing: %j", async (args, line) => {
    const { emulator, call } = await start();
    const { code, stdout, stderr } = await call(...args);
    expect(stderr).toMatch(line);
    expect(stderr).toMatch(/^[^\n]*\n$/);
    expect([code, stdout, emulator.calls]).toEqual([2, "", []]);
  });

  it("names process.exit in a module, which would end the command without a call", async () => {
    const { env, flags, emulator } = await start();
    const args = [...flags, "--flow-file", module("process.exit(0);")];
    const { code, stderr } = await outdial("node", args, env);
    expect(stderr).toMatch(/--flow-file cannot be loaded: .*process\.exit would end the command/);
    expect([code, emulator.calls]).toEqual([2, []]);
  });

  it("needs --callback without --service, and not with a carrier", async () => {
    const { env, emulator } = await start();
    const args = ["call", "--from", from, "--to", "+12025550100", "--say", "Hello."];
    const own = await invoke(args, env);
    expect([own.code, own.stderr]).toEqual([2, expect.stringMatching(/--callback is missing/)]);
    expect(emulator.calls).toEqual([]);
    const carrier = twilio({ accountSid });
    const { emulator: other, baseUrl } = await startEmulator({ service: carrier });
    const account = ["--service", "twilio", "--account", accountSid, "--base-url", baseUrl];
    const { code, stdout } = await invoke([...args, ...account, "--wait"], {
      OUTDIAL_API_KEY: other.apiKey,
    });
    expect(stdout).toMatch(/^CA\w+\ncompleted, 1 s\n$/);
    expect(code).toBe(0);
  });
});

describe("outdial call --wait", () => {
  it.each([
    // 16 characters are spoken for 1,040 ms.
    ["+12025550100", 0, /^cs_\w+\ncompleted, normal, 1 s\n$/],
    ["+12025550101", 4, /^cs_\w+\nfailed, busy\n$/],
    ["+12025550103", 4, /^cs_\w+\nfailed, rejected\n$/],
  ])("%s: exits %d and prints the end", async (to, exit, line) => {
    const { call } = await start(to);
    const { code, stdout } = await call("--say", "Hello and goodby", "--wait");
    expect(stdout).toMatch(line);
    expect(code).toBe(exit);
  });

  it("prints the call as JSON with --json", async () => {
    const { call } = await start();
    const { stdout, code } = await call("--say", "Hello.", "--wait", "--json");
    const [placed = "", end = ""] = stdout.split("\n");
    expect(JSON.parse(placed)).toHaveProperty("id");
    expect(JSON.parse(end)).toMatchObject({ state: "completed", reason: "normal" });
    expect(code).toBe(0);
  });

  /** A call that nobody answers while the test runs. */
  const startRinging = async () => {
    const { emulator, baseUrl } = await startEmulator({
      clock: "real",
      fetch: async () => new Response(null, { status: 204 }),
    });
    const args = ["call", "--from", from, "--to", "+12025550102", "--callback", callback];
    const env = { OUTDIAL_API_KEY: emulator.apiKey, OUTDIAL_BASE_URL: baseUrl };
    return { env, args: [...args, "--say", "Hello.", "--wait"] };
  };

  it("exits 5 when the end does not come in time", async () => {
    const { args, env } = await startRinging();
    const late = await invoke([...args, "--end-timeout", "50"], env);
    expect(late.stderr).toMatch(
      /No end within 50 ms.*\(the call was placed; its end is not known\)/,
    );
    expect([late.code, late.stdout]).toEqual([5, expect.stringMatching(/^cs_\w+\n$/)]);
    const json = await invoke([...args, "--end-timeout", "50", "--json"], env);
    expect(JSON.parse(json.stderr)).toMatchObject({
      error: {
        name: "TimeoutException",
        exit: 5,
        placed: "yes",
        id: expect.stringMatching(/^cs_/),
      },
    });
  });

  it("exits 5 when it is interrupted while it waits", async () => {
    const { args, env } = await startRinging();
    const running = begin(args, env);
    await running.says(/cs_\w+\n/);
    running.kill("SIGINT");
    const { code, stderr } = await running.ended;
    expect(stderr).toMatch(/interrupted \(the call was placed; its end is not known\)\n$/);
    expect(code).toBe(5);
  });

  /** A service that answers in this way, and `call --wait` of it. */
  const startAt = async (answer: (response: ServerResponse) => void) => {
    const { url, seen, close } = await serve(answer);
    onTestFinished(close);
    const args = ["call", "--from", from, "--to", "+12025550100", "--callback", callback];
    const env = { OUTDIAL_API_KEY: "key", OUTDIAL_BASE_URL: url };
    const running = begin([...args, "--say", "Hello.", "--wait"], env);
    /** The requests, none of which reads a call. */
    const requests = () => seen.map(({ method, url: path }) => `${method} ${path}`);
    return { ...running, requests };
  };
  const one = ["POST /api/v1/calls/initiate"];

  it.each([
    [
      "nobody was called",
      1,
      json(403, { detail: "Invalid API Key." }),
      /\(no call was placed\)\n$/,
    ],
    [
      "a call may have been placed",
      3,
      (response: ServerResponse) => void response.socket?.destroy(),
      /\(a call may have been placed/,
    ],
  ])("when %s: exits %d and waits for nothing", async (_, exit, answer, line) => {
    const { ended, requests } = await startAt(answer);
    const { code, stdout, stderr } = await ended;
    expect(stderr).toMatch(line);
    expect([code, stdout, requests()]).toEqual([exit, "", one]);
  });

  it("exits 3 when it is interrupted before the service has answered", async () => {
    const arrived = Promise.withResolvers<void>();
    const { ended, kill, requests } = await startAt(() => arrived.resolve());
    await arrived.promise;
    kill("SIGINT");
    const { code, stdout, stderr } = await ended;
    expect(stderr).toMatch(/interrupted \(a call may have been placed/);
    expect([code, stdout, requests()]).toEqual([3, "", one]);
  });

  it.each([
    [["--end-timeout", "50"], /--end-timeout needs --wait/],
    [["--wait", "--end-timeout", "soon"], /--end-timeout must be above 0 ms/],
    [
      ["--wait", "--service", "telnyx", "--account", "1"],
      /--wait reads the call, for which Telnyx needs OUTDIAL_ACCOUNT_SID/,
    ],
  ])("exits 2 and places nothing: %j", async (args, line) => {
    const { emulator, call } = await start();
    const { code, stderr } = await call("--say", "Hello.", ...args);
    expect(stderr).toMatch(line);
    expect([code, emulator.calls]).toEqual([2, []]);
  });
});
