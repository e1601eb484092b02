import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pem, publicKey } from "../unit/vonage/keys.ts";
import { begin, invoke, type Running } from "./cli.ts";

const account = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
const secret = "a secret that was made at random";
const numbers = { from: "+12025550199", to: "+12025550100" };

let folder: string;
const running: Running[] = [];
const closing: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outdial-"));
});
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill("SIGTERM");
    await ended;
  }
  for (const close of closing.splice(0)) close();
  rmSync(folder, { recursive: true });
});

const byFlags = ["--service", "vonage", "--account", account];
const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
const call = ["call", "--from", numbers.from, "--to", numbers.to, ...urls];

/** What Vonage is: a server on loopback, which keeps what it received. */
const startVonage = async () => {
  const seen: { url: string | undefined; token: string; to: unknown }[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const token = (request.headers.authorization ?? "").replace("Bearer ", "");
    seen.push({ url: request.url, token, to: JSON.parse(text).to });
    response.writeHead(201, { "content-type": "application/json" }).end('{"uuid":"uuid-1"}');
  });
  // A server that closes an idle connection may lose the POST that is on its way.
  server.keepAliveTimeout = 0;
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

const spki = String(publicKey.export({ type: "spki", format: "pem" }));

describe("outdial call --service vonage", () => {
  it.each<[string, (file: string) => [flags: string[], env: Record<string, string>]]>([
    ["the environment", () => [[], { OUTDIAL_API_KEY: pem }]],
    ["a variable on one line", () => [[], { OUTDIAL_API_KEY: pem.replaceAll("\n", "\\n") }]],
    ["a file that a flag names", (file) => [["--key-file", file], {}]],
    ["a file that the environment names", (file) => [[], { OUTDIAL_KEY_FILE: file }]],
  ])("places a call with the private key of %s", async (_, given) => {
    const { seen, baseUrl } = await startVonage();
    const file = join(folder, "private.key");
    writeFileSync(file, pem);
    const [flags, env] = given(file);
    const ended = await invoke([...call, ...byFlags, "--base-url", baseUrl, ...flags], env);
    expect(ended).toEqual({ code: 0, stdout: "uuid-1\n", stderr: "" });
    expect(seen).toEqual([
      {
        url: "/v1/calls",
        token: expect.any(String),
        to: [{ type: "phone", number: "12025550100" }],
      },
    ]);
    expect(verifySignature(seen[0]?.token ?? "", spki)).toBe(true);
  });

  it.each([
    [
      ["--service", "vonage"],
      {},
      "which account of vonage? Set OUTDIAL_ACCOUNT, or pass --account",
    ],
    [["--service", "vonage", "--account", "AC1"], {}, "--account or OUTDIAL_ACCOUNT must be"],
    [byFlags, { OUTDIAL_API_KEY: "" }, "OUTDIAL_API_KEY is not set"],
    [byFlags, { OUTDIAL_API_KEY: "no-pem-at-all" }, "OUTDIAL_API_KEY must be the application's"],
    [[...byFlags, "--key-file", "/nowhere/a"], {}, "--key-file cannot be read (ENOENT)"],
    [[...byFlags, "--key-file", "test/cli/cli.ts"], {}, "--key-file must be the application's"],
    [[...byFlags, "--key", "x"], {}, "the key cannot be an argument"],
  ])("%j: exits 2, and sends nothing", async (flags, more, words) => {
    const { seen, baseUrl } = await startVonage();
    const env = { OUTDIAL_API_KEY: pem, ...more };
    const { code, stdout, stderr } = await invoke([...call, ...flags, "--base-url", baseUrl], env);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain(pem.slice(100, 140));
    expect(seen).toHaveLength(0);
  });
});

describe("outdial dial --service vonage", () => {
  it("calls the list, at three calls a second at most", async () => {
    const { seen, baseUrl } = await startVonage();
    const list = join(folder, "people.csv");
    writeFileSync(list, `to_number\n${numbers.to}\n`);
    const dial = (...flags: readonly string[]) =>
      invoke(
        [
          ...["dial", list, "--from", numbers.from, "--window", "always", ...urls],
          ...[...byFlags, "--base-url", baseUrl, ...flags],
        ],
        { OUTDIAL_API_KEY: pem, OUTDIAL_SECRET: secret },
      );
    const tooFast = await dial("--rate", "4", "--dry-run");
    expect(tooFast.stderr).toContain("--rate must be at most 3, the callsPerSecond of vonage");
    const plan = await dial("--rate", "3", "--dry-run");
    expect(plan.stderr).toContain(`by vonage, account ${account}`);
    expect((await dial("--yes")).code).toBe(0);
    expect(seen.map(({ to }) => to)).toEqual([[{ type: "phone", number: "12025550100" }]]);
  });
});

/** An emulator of Vonage in this process, and what it prints. */
const emulate = async () => {
  const args = ["emulator", "--port", "0", "--speed", "50", ...byFlags];
  const emulator = begin(args, { XDG_STATE_HOME: folder });
  running.push(emulator);
  const text = await emulator.says(/^OUTDIAL_API_KEY=.*\n/m);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    ...emulator,
    baseUrl: find(/base URL +(\S+)/),
    key: find(/private key +(.+)\n/),
    signs: find(/signs with +(\S+)/),
    link: find(/dashboard +(\S+)/),
    line: find(/^(OUTDIAL_API_KEY=.*)$/m),
  };
};

describe("outdial emulator --service vonage", () => {
  it("prints a line that places a call, by outdial call itself", async () => {
    const { line, says } = await emulate();
    const [, key = "", words = ""] = /^OUTDIAL_API_KEY='([^']+)' outdial (.*)$/.exec(line) ?? [];
    // As a shell reads the line.
    const { stdout } = await promisify(execFile)("sh", ["-c", `printf '%s\\n' ${words}`]);
    const args = stdout.trimEnd().split("\n");
    const ended = await invoke(args, { OUTDIAL_API_KEY: key });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
    const text = await says(/notified +completed, delivered.*\n/);
    expect(text).toMatch(/stream +for 3 s/);
  });

  it("is what Vonage's own client calls with these, and its webhooks have the printed signature", async () => {
    const { baseUrl, key, signs, says } = await emulate();
    let token = "";
    const server = createServer((request, response) => {
      token = (request.headers.authorization ?? "").replace("Bearer ", "");
      response.writeHead(204).end();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const privateKey = key.replace(/ (?!PRIVATE|KEY)/g, "\n");
    const client = new Voice(new Auth({ applicationId: account, privateKey }), {
      apiHost: baseUrl,
    });
    await client.createOutboundCall({
      to: [{ type: "phone", number: "12025550100" }],
      from: { type: "phone", number: "12025550199" },
      ncco: [{ action: "talk", text: "Hello" }],
      event_url: [`http://127.0.0.1:${port}/events`],
    } as never);
    await says(/notified +completed, delivered.*\n/);
    expect(verifySignature(token, signs)).toBe(true);
  });

  it("has the same secret at each start, beside the account of outdial's own interface", async () => {
    const own = begin(["emulator", "--port", "0"], { XDG_STATE_HOME: folder });
    running.push(own);
    const printed = await own.says(/^echo .*\n/m);
    const first = await emulate();
    const second = await emulate();
    expect([second.signs, second.key]).toEqual([first.signs, first.key]);
    const kept = JSON.parse(readFileSync(join(folder, "outdial", "emulator.json"), "utf8"));
    expect(printed).toContain(kept.apiKey);
    expect(first.signs).toBe(kept.webhookSecret);
  });

  it("has a dashboard that places calls as Vonage takes them", async () => {
    const { link, baseUrl, says } = await emulate();
    const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
    const headers = { cookie, origin: baseUrl };
    const page = await (await fetch(baseUrl, { headers })).text();
    expect(page).toContain("Private key");
    const body = JSON.stringify({
      from_number: numbers.from,
      to_number: numbers.to,
      flow_url: `${baseUrl}/sample/flow`,
      status_callback_url: `${baseUrl}/sample/status`,
    });
    const placed = await fetch(`${baseUrl}/dashboard/calls`, { method: "POST", headers, body });
    expect(await placed.json()).toMatchObject({ status: 201 });
    await says(/notified +completed, delivered.*\n/);
  });
});
