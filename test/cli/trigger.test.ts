import { scenarios } from "outdial/emulator";
import { afterEach, describe, expect, it } from "vitest";
import { partOf } from "../part.ts";
import { begin, invoke, outdial, type Running, runtimes } from "./cli.ts";
import { json, serve } from "./service.ts";

const key = "chosen-for-the-tests";
const env = { OUTDIAL_EMULATOR_KEY: key };

const running: Running[] = [];
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill("SIGTERM");
    await ended;
  }
});

const emulate = async (...args: readonly string[]) => {
  const emulator = begin(["emulator", "--port", "0", "--speed", "50", ...args], env);
  running.push(emulator);
  const [, baseUrl = ""] = /base URL +(\S+)/.exec(await emulator.says(/^echo .*\n/m)) ?? [];
  return { ...emulator, baseUrl };
};

describe.each(partOf(runtimes))("outdial trigger, under %s", (runtime) => {
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
    const asked = service.seen.map(({ method, key: sent }) => ({ method, sent }));
    expect(asked).toEqual([{ method: "GET", sent: undefined }]);
  });
});

describe("outdial trigger", () => {
  it.each(["https://voice.test", "http://voice.test", "http://192.168.1.2:4010", "x"])(
    "refuses %s, which is not on this machine",
    async (url) => {
      const { code, stderr } = await invoke(["trigger", "busy", "--base-url", url], env);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /--base-url must be an emulator's on this machine \(no call was placed\)/,
      );
    },
  );

  it("reads no key but the emulator's", async () => {
    const { baseUrl } = await emulate();
    const args = ["trigger", "busy", "--base-url", baseUrl];
    const { code, stderr } = await invoke(args, { OUTDIAL_API_KEY: key });
    expect(code).toBe(2);
    expect(stderr).toMatch(/which key\? Set OUTDIAL_EMULATOR_KEY/);
  });

  it.each(scenarios)("$name ends as its help says", async ({ name, response, outage }) => {
    const { baseUrl, says } = await emulate();
    const isLate = response === "silent" || response === "stalled";
    const timeout = isLate ? ["--timeout", "1000"] : [];
    const { code } = await invoke(["trigger", name, "--base-url", baseUrl, ...timeout], env);
    const help = (await invoke(["help", "trigger"])).stdout;
    const [, exit = "0"] = new RegExp(`^ +${name} .*: exit (\\d)$`, "m").exec(help) ?? [];
    expect(code).toBe(Number(exit));
    expect(Number(code) > 0).toBe(outage !== undefined || response !== undefined);
    if (!outage && response !== "unplaced")
      await says(/notified +call\.(completed|failed), delivered/);
  });

  it("waits for an emulator that answers late, as on a busy machine", async () => {
    const service = await serve((response) => {
      const send = () =>
        response.writeHead(200, { server: "outdial-emulator" }).end('{"data":{"id":"cs_1"}}');
      setTimeout(send, 700);
    });
    const args = ["trigger", "busy", "--base-url", service.url];
    const { code, stdout } = await invoke(args, env);
    service.close();
    expect({ code, stdout }).toEqual({ code: 0, stdout: "cs_1\n" });
  });

  it("follows a flow of one's own, by its URL or by its path", async () => {
    const { baseUrl, says } = await emulate();
    const args = ["trigger", "answered", "--base-url", baseUrl];
    await invoke([...args, "--flow", `${baseUrl}/sample/flow?a=1`], env);
    await says(/flow +step 1, 200 [^\n]*\/sample\/flow\?a=1\n/);
    await invoke([...args, "--flow", "/sample/flow?a=2", "--callback", "/sample/status"], env);
    await says(/flow +step 1, 200 [^\n]*\/sample\/flow\?a=2\n/);
  });

  it.each([
    ["<scenario> is missing", []],
    ["there is no such scenario \\(did you mean no-answer\\?\\)", ["noanswer"]],
    ["there is no such scenario;", ["+12025550123"]],
    ["too many arguments", ["busy", "busy"]],
    ["--flow must be", ["busy", "--flow", "app"]],
  ])("exits 2: %s", async (line, args) => {
    const { baseUrl } = await emulate();
    const ended = await invoke(["trigger", ...args, "--base-url", baseUrl], env);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(new RegExp(`^outdial: ${line}[^\\n]*\\n$`));
  });
});
