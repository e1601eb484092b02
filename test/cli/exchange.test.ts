import { execFileSync, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readSecrets, readSettings } from "../../src/exchange/settings.ts";
import { invoke, outdial, startOnTerminal } from "./cli.ts";

const newFolder = (): string => mkdtempSync(join(tmpdir(), "outdial-exchange-"));

const password = "s3cret;with [odd] characters";
const env = { OUTDIAL_TRUNK_PASSWORD: password };

/** `outdial exchange init` of a trunk, into a folder. */
const init = (folder: string, ...more: readonly string[]) =>
  invoke(
    [
      ...["exchange", "init", "--folder", folder, "--trunk", "sip.example.net:5080"],
      ...["--trunk-user", "me", "--number", "+12025550199", "--allow", "+1202"],
      ...["--asterisk", process.execPath, ...more],
    ],
    env,
  );

const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");

/** All files of a folder, by their paths in it. */
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));

describe("outdial exchange init", () => {
  it("writes settings, secrets, Asterisk's files and how to start both, unattended", async () => {
    const folder = newFolder();
    const { code, stdout, stderr } = await init(folder);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readSettings(folder)).toMatchObject({
      trunk: { host: "sip.example.net", port: 5080, user: "me", registers: true },
      numbers: ["+12025550199"],
      allow: ["+1202"],
      asterisk: { url: "http://127.0.0.1:8088" },
    });
    const { ariPassword } = readSecrets(folder);
    expect(read(folder, "asterisk/etc/ari.conf")).toContain(`password = ${ariPassword}\n`);
    expect(read(folder, "asterisk/etc/http.conf")).toContain("bindaddr = 127.0.0.1\n");
    const pjsip = read(folder, "asterisk/etc/pjsip.conf");
    expect(pjsip).toContain("password = s3cret\\;with [odd] characters\n");
    expect(pjsip).toContain("server_uri = sip:sip.example.net:5080\n");
    expect(read(folder, "asterisk/etc/extensions.conf")).toBe("[closed]\n");
    expect(stdout).toContain("outdial exchange check");
  });

  it("allows nobody by itself", async () => {
    const folder = newFolder();
    await invoke(
      ["exchange", "init", "--folder", folder, "--trunk", "t.example", "--number", "+12025550199"],
      {},
    );
    expect(readSettings(folder)).toMatchObject({ allow: [], trunk: { registers: false } });
  });

  it("writes each password into one file, which others can't read", async () => {
    const folder = newFolder();
    const { stdout } = await init(folder);
    const { ariPassword, webhookSecret } = readSecrets(folder);
    expect(stdout).not.toContain(ariPassword);
    const having = (text: string) =>
      filesIn(folder).filter((file) => read(folder, file).includes(text));
    expect(having("s3cret")).toEqual(["asterisk/etc/pjsip.conf"]);
    expect(having(webhookSecret)).toEqual(["outdial-exchange.secrets.json"]);
    expect(having(ariPassword).sort()).toEqual([
      "asterisk/etc/ari.conf",
      "outdial-exchange.secrets.json",
    ]);
    for (const file of filesIn(folder)) {
      expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
    }
  });

  it("takes the trunk's password from a file that only this user may read", async () => {
    const folder = newFolder();
    const file = join(newFolder(), "password");
    const args = ["--trunk", "t.example", "--trunk-user", "me", "--number", "+12025550199"];
    const initOf = () =>
      invoke(["exchange", "init", "--folder", folder, ...args, "--trunk-password-file", file]);
    writeFileSync(file, "from a file\n", { mode: 0o644 });
    expect((await initOf()).stderr).toContain("may be read by other users: chmod 600 it");
    execFileSync("chmod", ["600", file]);
    expect((await initOf()).code).toBe(0);
    expect(read(folder, "asterisk/etc/pjsip.conf")).toContain("password = from a file\n");
  });

  it("needs the password of a trunk's user, and takes none from the command line", async () => {
    const args = ["exchange", "init", "--folder", newFolder(), "--number", "+12025550199"];
    const user = ["--trunk", "t.example", "--trunk-user", "me"];
    expect(await invoke([...args, ...user])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("OUTDIAL_TRUNK_PASSWORD, or pass --trunk-password-file"),
    });
    const given = await invoke([...args, ...user, "--trunk-password", "hunter2hunter2"]);
    expect(given.code).toBe(2);
    expect(given.stderr).not.toContain("hunter2");
  });

  it("overwrites nothing without --force, and leaves the secrets with it", async () => {
    const folder = newFolder();
    await init(folder);
    const secrets = readSecrets(folder);
    expect(await init(folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("outdial-exchange.json exists, and nothing was written"),
    });
    expect((await init(folder, "--force", "--allow", "+49")).code).toBe(0);
    expect(readSecrets(folder)).toEqual(secrets);
    expect(readSettings(folder).allow).toEqual(["+1202", "+49"]);
    const other = newFolder();
    writeFileSync(join(other, "compose.yaml"), "services: {}\n");
    expect(await init(other)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("compose.yaml exists, and nothing was written"),
    });
    expect(filesIn(other)).toEqual(["compose.yaml"]);
  });

  it.each([
    [["--allow", "+4"], "allow must be a list of prefixes"],
    [["--number", "911"], "numbers must be a list of E.164 numbers"],
    [["--port", "70000"], "--port must be a number"],
    [["--base-url", "calls.example.com"], "baseUrl must be an origin"],
    [["--private-origin", "http://127.0.0.1:8088"], "the port of Asterisk's REST interface"],
    [["--external-address", "1.2.3.4\n[x]"], "external_media_address must be without control"],
    [["--also", "twilio"], "--also is an option of `outdial exchange`"],
    [["--call", "+12025550150"], "--call is an option of `outdial exchange check`"],
  ])("refuses %j, and writes nothing", async (args, message) => {
    const folder = newFolder();
    expect(await init(folder, ...args)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(message),
    });
    expect(filesIn(folder)).toEqual([]);
  });

  it("writes units that systemd accepts", async ({ skip }) => {
    const folder = newFolder();
    await init(folder);
    const units = ["asterisk", "exchange"].map((name) => `${folder}/outdial-${name}.service`);
    const verified = spawnSync("systemd-analyze", ["verify", "--man=no", ...units], {
      encoding: "utf8",
    });
    if (verified.error) skip("systemd is not on this machine");
    expect({ status: verified.status, stderr: verified.stderr }).toEqual({ status: 0, stderr: "" });
    expect(read(folder, "outdial-exchange.service")).toContain("TimeoutStopSec=630\n");
  });

  it("writes a compose.yaml of the same two processes", async () => {
    const folder = newFolder();
    await init(folder);
    const { services } = parse(read(folder, "compose.yaml"));
    expect(services.asterisk).toMatchObject({
      network_mode: "host",
      command: ["asterisk", "-C", `${folder}/asterisk/etc/asterisk.conf`, "-f"],
      volumes: [{ type: "bind", source: `${folder}/asterisk`, target: `${folder}/asterisk` }],
    });
    expect(services.asterisk.build.dockerfile_inline).toMatch(/^FROM debian:sid-slim\nRUN apt-get/);
    expect(services.exchange).toMatchObject({
      network_mode: "host",
      command: ["npx", "--yes", expect.any(String), "exchange", "--folder", folder],
      depends_on: ["asterisk"],
      stop_grace_period: "630s",
    });
  });

  it("asks on a terminal for what it isn't given, and shows no password", async () => {
    const folder = newFolder();
    const { child, says, ended } = startOnTerminal(["exchange", "init", "--folder", folder], {});
    const answer = async (question: RegExp, text: string) => {
      await says(question);
      child.stdin?.write(`${text}\r`);
    };
    await answer(/Which machine/, "sip.example.net");
    await answer(/Your name there/, "me");
    await answer(/The password there/, "hunter2hunter2");
    await answer(/want a registration/, "y");
    await answer(/Your numbers/, "+12025550199, +12025550198");
    await answer(/Which prefixes/, "+1202 +4930");
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(stdout).not.toContain("hunter2");
    expect(readSettings(folder)).toMatchObject({
      trunk: { host: "sip.example.net", user: "me", registers: true },
      numbers: ["+12025550199", "+12025550198"],
      allow: ["+1202", "+4930"],
    });
    expect(read(folder, "asterisk/etc/pjsip.conf")).toContain("password = hunter2hunter2\n");
  });

  it("refuses a folder whose path a unit can't have", async () => {
    const folder = join(newFolder(), "my exchange");
    mkdirSync(folder);
    expect(await init(folder)).toMatchObject({ code: 2 });
    expect(filesIn(folder)).toEqual([]);
  });
});

describe("outdial exchange", () => {
  it.each(["deno", "bun"] as const)("needs Node, and says so under %s", async (runtime) => {
    expect(await outdial(runtime, ["exchange"])).toMatchObject({
      code: 2,
      stderr: "outdial: exchange needs Node; see `outdial help exchange`\n",
    });
  });

  it.each([[[]], [["check"]]])("names the missing settings: %j", async (action) => {
    expect(await invoke(["exchange", ...action, "--folder", newFolder()])).toEqual({
      code: 2,
      stdout: "",
      stderr:
        "outdial: outdial-exchange.json is missing or can't be read: run outdial exchange init, or pass --folder; see `outdial help exchange`\n",
    });
  });

  it("goes to no proxy of the environment, whose connections it couldn't check", async () => {
    const folder = newFolder();
    await init(folder);
    const proxy = { NODE_USE_ENV_PROXY: "1", HTTPS_PROXY: "http://127.0.0.1:9" };
    const { code, stderr } = await outdial("node", ["exchange", "--folder", folder], proxy);
    expect(code).toBe(1);
    expect(stderr).toContain("no proxy: unset NODE_USE_ENV_PROXY\n");
  });

  it("refuses another action", async () => {
    expect((await invoke(["exchange", "chek"])).stderr).toContain(
      "there is no such action: init, check, erase (did you mean check?)",
    );
  });
});

describe("outdial exchange check", () => {
  it("says what is wrong where no Asterisk runs, and what to do next", async () => {
    const folder = newFolder();
    await init(folder);
    const settings = JSON.parse(read(folder, "outdial-exchange.json"));
    // A port that nothing listens on.
    settings.asterisk.url = "http://127.0.0.1:9";
    settings.allow = [];
    writeFileSync(join(folder, "outdial-exchange.json"), JSON.stringify(settings));
    const { code, stdout } = await invoke(["exchange", "check", "--folder", folder]);
    expect(code).toBe(1);
    expect(stdout).toContain("Asterisk: gives no answer\n         → start it: systemctl start");
    expect(stdout).toContain("limits: no prefix may be called\n         → name prefixes in");
  });
});
