import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { begin, invoke } from "./cli.ts";

const account = "1494404757140276705";
const key = "KEY0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/** What Telnyx is: a server on loopback, which keeps what it received. */
const seen: { url: string | undefined; key: string | undefined; body: { To?: string } }[] = [];
let status = 200;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  seen.push({ url: request.url, key: request.headers.authorization, body: JSON.parse(text) });
  const body = status === 200 ? { call_sid: "v3:1" } : { errors: [{ detail: `No ${key}` }] };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
// A server that closes an idle connection may lose the POST that is on its way.
server.keepAliveTimeout = 0;
let baseUrl = "";
let folder = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "telnyx-"));
  writeFileSync(join(folder, "people.csv"), "to_number\n+12025550100\n");
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  seen.length = 0;
  status = 200;
});

const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
const service = ["--service", "telnyx", "--account", account];
const env = { OUTDIAL_API_KEY: key, OUTDIAL_SECRET: "a secret that was made at random" };

const call = (flags: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  invoke(
    ["call", "--from", "+12025550199", "--to", "+12025550123", "--base-url", baseUrl].concat(
      urls,
      flags,
    ),
    { ...env, ...more },
  );

it("outdial call places a call at Telnyx, by flags and by the environment", async () => {
  const byEnvironment = { OUTDIAL_SERVICE: "telnyx", OUTDIAL_ACCOUNT: account };
  for (const ended of [await call(service), await call([], byEnvironment)]) {
    expect(ended).toEqual({ code: 0, stdout: "v3:1\n", stderr: "" });
  }
  for (const one of seen) {
    expect(one).toMatchObject({
      url: `/v2/texml/calls/${account}`,
      key: `Bearer ${key}`,
      body: { To: "+12025550123" },
    });
  }
  expect(seen).toHaveLength(2);
});

it("exits 1 when Telnyx refuses, 3 where nothing is known, and shows no key", async () => {
  for (const [answer, code] of [
    [401, 1],
    [503, 3],
  ] as const) {
    status = answer;
    const ended = await call(service);
    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(`HTTP ${answer} No ***`);
    expect(ended.stderr).not.toContain("0f1e2d");
  }
});

it("names the flag of an account that is none, and sends nothing", async () => {
  const { code, stderr } = await call(["--service", "telnyx", "--account", "AC1"]);
  expect([code, seen]).toEqual([2, []]);
  expect(stderr).toContain("--account or OUTDIAL_ACCOUNT must be the id of a TeXML application");
});

it("outdial dial calls the list, and its ledger belongs to the application", async () => {
  const dial = (flags: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    invoke(
      ["dial", join(folder, "people.csv"), "--from", "+12025550199", "--window", "always"].concat(
        urls,
        ["--base-url", baseUrl],
        flags,
      ),
      { ...env, ...more },
    );
  const tooFast = await dial([...service, "--rate", "2", "--dry-run"]);
  expect(tooFast.stderr).toContain("--rate must be at most 1, the callsPerSecond of telnyx");
  const ended = await dial([...service, "--yes"]);
  expect(ended.code).toBe(0);
  expect(ended.stderr).toContain(`by telnyx, account ${account}`);
  expect(seen.map(({ body }) => body.To)).toEqual(["+12025550100"]);
  const other = await dial(["--yes"], { OUTDIAL_SERVICE: "telnyx", OUTDIAL_ACCOUNT: "1" });
  expect([other.code, seen.length]).toEqual([2, 1]);
  expect(other.stderr).toContain("another campaign");
});

it("outdial emulator prints a line that places a call, and its dashboard places one as Telnyx takes it", async () => {
  const emulator = begin(["emulator", "--port", "0", "--speed", "50", ...service], {
    XDG_STATE_HOME: folder,
  });
  const text = await emulator.says(/^echo .*\n/m);
  const [line = ""] = /^echo .*$/m.exec(text) ?? [];
  const { stdout } = await promisify(execFile)("sh", ["-c", `${line} --silent`]);
  expect(JSON.parse(stdout)).toMatchObject({ to: "+12025550100", status: "queued" });
  expect(await emulator.says(/notified +completed, delivered.*\n/)).toMatch(/Play +for 3 s/);

  const [, own = ""] = /base URL +(\S+)/.exec(text) ?? [];
  const [, link = ""] = /dashboard +(\S+)/.exec(text) ?? [];
  const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
  const body = JSON.stringify({
    from_number: "+12025550199",
    to_number: "+12025550123",
    flow_url: `${own}/sample/flow`,
    status_callback_url: `${own}/sample/status`,
  });
  const headers = { cookie, origin: own };
  const placed = await fetch(`${own}/dashboard/calls`, { method: "POST", headers, body });
  expect(await placed.json()).toMatchObject({ status: 200 });
  await emulator.says(/notified +completed, delivered[\s\S]*notified +completed, delivered.*\n/);
  emulator.kill("SIGINT");
  await emulator.ended;
});
