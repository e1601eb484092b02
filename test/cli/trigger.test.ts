import { afterEach, describe, expect, it } from "vitest";
import { scenarios } from "../../src/cli/trigger/scenarios.ts";
import { outdial, type Running, runtimes, start } from "./cli.ts";
import { json, serve } from "./service.ts";

const key = "chosen-for-the-tests";
const env = { OUTDIAL_EMULATOR_KEY: key };

const running: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
});

const emulate = async (...args: readonly string[]) => {
  const emulator = start("node", ["emulator", "--port", "0", "--speed", "50", ...args], env);
  running.push(emulator);
  const [, baseUrl = ""] = /base URL +(\S+)/.exec(await emulator.says(/^echo .*\n/m)) ?? [];
  return { ...emulator, baseUrl };
};

describe.each(runtimes)("outdial trigger, under %s", (runtime) => {
  it("places a call of a scenario, and prints its id", async () => {
    const { baseUrl, says } = await emulate();
    const args = ["trigger", "busy", "--base-url", baseUrl];
    const { code, stdout, stderr } = await outdial(runtime, args, env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await says(new RegExp(`${stdout.trim().slice(-6)}  failed +busy\n`));
  });

  it("refuses a service that is no emulator, and sends it no key", async () => {
    const service = await serve(json(202, { id: "cs_1" }));
    const args = ["trigger", "answered", "--base-url", service.url];
    const { code, stderr } = await outdial(runtime, args, env);
    service.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/^outdial: no emulator answers there; [^\n]*no call was placed\)\n$/);
    // It may give up before a busy machine has heard the question.
    const asked = service.seen.map(({ method, key }) => ({ method, key }));
    expect(asked.slice(1)).toEqual([]);
    for (const question of asked) expect(question).toEqual({ method: "GET", key: undefined });
  });
});

describe("outdial trigger", () => {
  it.each(["https://voice.test", "http://voice.test", "http://192.168.1.2:4010", "x"])(
    "refuses %s, which is not on this machine",
    async (url) => {
      const { code, stderr } = await outdial("node", ["trigger", "busy", "--base-url", url], env);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /--base-url must be an emulator's on this machine \(no call was placed\)/,
      );
    },
  );

  it("reads no key but the emulator's", async () => {
    const { baseUrl } = await emulate();
    const args = ["trigger", "busy", "--base-url", baseUrl];
    const { code, stderr } = await outdial("node", args, { OUTDIAL_API_KEY: key });
    expect(code).toBe(2);
    expect(stderr).toMatch(/which key\? Set OUTDIAL_EMULATOR_KEY/);
  });

  it.each(Object.entries(scenarios))("%s ends as its help says", async (name, { what }) => {
    const { baseUrl, says } = await emulate();
    const args = [
      "trigger",
      name,
      "--base-url",
      baseUrl,
      ...(what.startsWith("placed, but") ? ["--timeout", "500"] : []),
    ];
    const { code } = await outdial("node", args, env);
    expect(code).toBe(Number(/exit (\d)/.exec(what)?.[1] ?? 0));
    if (!what.startsWith("the API")) await says(/told +call\.(completed|failed), delivered/);
  });

  it("follows a flow of one's own, by its URL or by its path", async () => {
    const { baseUrl, says } = await emulate();
    const args = ["trigger", "answered", "--base-url", baseUrl];
    await outdial("node", [...args, "--flow", `${baseUrl}/sample/flow?a=1`], env);
    await says(/flow +step 1, 200 [^\n]*\/sample\/flow\?a=1\n/);
    await outdial(
      "node",
      [...args, "--flow", "/sample/flow?a=2", "--callback", "/sample/status"],
      env,
    );
    await says(/flow +step 1, 200 [^\n]*\/sample\/flow\?a=2\n/);
  });

  it.each([
    ["<scenario> is missing", []],
    ["there is no such scenario \\(did you mean no-answer\\?\\)", ["noanswer"]],
    ["there is no such scenario;", ["+12025550123"]],
    ["there is an argument too many", ["busy", "busy"]],
    ["--flow must be", ["busy", "--flow", "app"]],
  ])("exits 2: %s", async (line, args) => {
    const { baseUrl } = await emulate();
    const ended = await outdial("node", ["trigger", ...args, "--base-url", baseUrl], env);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(new RegExp(`^outdial: ${line}[^\\n]*\\n$`));
  });
});
