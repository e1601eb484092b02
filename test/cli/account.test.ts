import { chmodSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partOf } from "../part.ts";
import { begin, invoke, outdial, type Running, type Runtime, runtimes, start } from "./cli.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outdial-"));
  file = join(folder, "outdial", "emulator.json");
});

const running: Running[] = [];
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill("SIGTERM");
    await ended;
  }
});

const allow = ["--allow-env", "--allow-net", "--allow-read", "--allow-write"];

/** @param runtime - `"here"`: in this process */
const emulate = async (runtime: Runtime | "here", env: Readonly<Record<string, string>> = {}) => {
  const own = { XDG_STATE_HOME: folder, ...env };
  const args = ["emulator", "--port", "0"];
  const emulator = runtime === "here" ? begin(args, own) : start(runtime, args, own, { allow });
  running.push(emulator);
  const text = await emulator.says(/^echo .*\n/m);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    ...emulator,
    baseUrl: find(/base URL +(\S+)/),
    link: find(/dashboard +(\S+)/),
    account: { apiKey: find(/API key +(\S+)/), webhookSecret: find(/signs with +(\S+)/) },
  };
};

/** Asks for a new key, as the dashboard's page does. */
const regenerate = async (link: string, origin: string): Promise<string> => {
  const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
  const init = { method: "POST", headers: { cookie, origin } };
  const { key } = await (await fetch(`${origin}/dashboard/key`, init)).json();
  return key;
};

describe.each(partOf(runtimes))("the account of an emulator, under %s", (runtime) => {
  it("stays the same from start to start, in a file that only the user can read", async () => {
    const { account } = await emulate(runtime);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, "outdial")).mode & 0o777).toBe(0o700);
    expect((await emulate(runtime)).account).toEqual(account);
  });

  it("has the new key after a regeneration, and a new curl line is printed", async () => {
    const { account, link, baseUrl, says } = await emulate(runtime);
    const key = await regenerate(link, baseUrl);
    expect(key).not.toBe(account.apiKey);
    await says(
      new RegExp(`key +there is a new one[^\n]*\n\necho 'X-API-Key: ${key}' \\| curl [^\n]*\n`),
    );
    expect((await emulate(runtime)).account).toEqual({ ...account, apiKey: key });
  });

  it("is found by outdial trigger", async () => {
    const { baseUrl } = await emulate(runtime);
    const args = ["trigger", "answered", "--base-url", baseUrl];
    const ended = await outdial(runtime, args, { XDG_STATE_HOME: folder }, { allow });
    expect(ended).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("the account of an emulator", () => {
  it("has the key of OUTDIAL_EMULATOR_KEY, which is not kept, and never that of OUTDIAL_API_KEY", async () => {
    const { account } = await emulate("here", { OUTDIAL_API_KEY: "ak_the-real-key-of-somebody" });
    const chosen = await emulate("here", { OUTDIAL_EMULATOR_KEY: "chosen-by-the-user" });
    expect(chosen.account).toEqual({ ...account, apiKey: "chosen-by-the-user" });
    expect(readFileSync(file, "utf8")).not.toContain("chosen");
    const { printed } = await emulate("here", { OUTDIAL_API_KEY: "ak_the-real-key-of-somebody" });
    expect(printed()).not.toContain("somebody");
  });

  it("is new at each start where files can't be had", async () => {
    const XDG_STATE_HOME = join(folder, "is-a-file");
    writeFileSync(XDG_STATE_HOME, "");
    const { account } = await emulate("here", { XDG_STATE_HOME });
    expect((await emulate("here", { XDG_STATE_HOME })).account).not.toEqual(account);
  });

  it("is new where the file holds something else", async () => {
    mkdirSync(join(folder, "outdial"));
    writeFileSync(file, '{"apiKey":"$(reboot)","webhookSecret":7}', { mode: 0o600 });
    const { account } = await emulate("here");
    expect(account.apiKey).toMatch(/^ak_[\w-]{43}$/);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual(account);
  });

  it("is not read from a file that others can read", async () => {
    await emulate("here");
    chmodSync(file, 0o644);
    const ended = await invoke(["emulator", "--port", "0"], { XDG_STATE_HOME: folder });
    const stderr = `outdial: other users may read ${file}: chmod 600 it\n`;
    expect(ended).toEqual({ code: 1, stdout: "", stderr });
  });

  it.each(["short", 'with"quotes-and-$(more)'])(
    "exits 2 for OUTDIAL_EMULATOR_KEY=%s",
    async (key) => {
      const ended = await invoke(["emulator"], { OUTDIAL_EMULATOR_KEY: key });
      expect(ended).toMatchObject({ code: 2, stdout: "" });
      expect(ended.stderr).toMatch(/^outdial: OUTDIAL_EMULATOR_KEY must be [^\n]*\n$/);
      expect(ended.stderr).not.toContain(key);
    },
  );
});
