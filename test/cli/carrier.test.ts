import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Ended, invoke } from "./cli.ts";

const account = "AC0123456789abcdef0123456789abcdef";
const keyId = "SK0123456789abcdef0123456789abcdef";
const key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const secret = "a secret that was made at random";

/** What Twilio is: a server on loopback, which keeps what it received. */
const seen: { url: string | undefined; credentials: string; form: URLSearchParams }[] = [];
let status = 201;
const server = createServer(async (request, response) => {
  let text = "";
  for await (const chunk of request) text += chunk;
  const credentials = atob((request.headers.authorization ?? "").replace("Basic ", ""));
  seen.push({ url: request.url, credentials, form: new URLSearchParams(text) });
  const body = status === 201 ? { sid: "CA1" } : { code: 20003, message: `No ${key}` };
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
});
// A server that closes an idle connection may lose the POST that is on its way.
server.keepAliveTimeout = 0;
let baseUrl = "";
let folder = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = mkdtempSync(join(tmpdir(), "carrier-"));
  writeFileSync(join(folder, "people.csv"), "to_number\n+12025550100\n");
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});
afterEach(() => {
  seen.length = 0;
  status = 201;
});

const url = "https://app.test/flow";
const call = ["call", "--from", "+12025550199", "--to", "+12025550123", "--flow", url].concat(
  "--callback",
  "https://app.test/status",
);
const byFlags = ["--service", "twilio", "--account", account];
const env = { OUTDIAL_API_KEY: key, OUTDIAL_SECRET: secret };

/** No output has the key, or a number. */
const isQuiet = ({ stdout, stderr }: Ended): void => {
  for (const text of [stdout, stderr]) expect(text).not.toMatch(/0f1e2d|MGYxZTJk|2025550123/);
};

describe("outdial call --service twilio", () => {
  it.each([
    ["flags", [...byFlags, "--base-url"], {}, account],
    [
      "the environment",
      ["--base-url"],
      { OUTDIAL_SERVICE: "twilio", OUTDIAL_ACCOUNT: account },
      account,
    ],
    ["flags, with an API key", [...byFlags, "--key-id", keyId, "--base-url"], {}, keyId],
    ["both, with an API key", [...byFlags, "--base-url"], { OUTDIAL_KEY_ID: keyId }, keyId],
  ])("places a call by %s", async (_, flags, more, user) => {
    const ended = await invoke([...call, ...flags, baseUrl], { ...env, ...more });
    expect(ended).toEqual({ code: 0, stdout: "CA1\n", stderr: "" });
    expect(seen).toHaveLength(1);
    expect(seen[0]?.url).toBe(`/2010-04-01/Accounts/${account}/Calls.json`);
    expect(seen[0]?.credentials).toBe(`${user}:${key}`);
    expect(seen[0]?.form.get("To")).toBe("+12025550123");
    expect(seen[0]?.form.has("Record")).toBe(false);
  });

  it("exits 1 when Twilio refuses, 3 where nothing is known", async () => {
    for (const [answer, code, words] of [
      [401, 1, /HTTP 401 No \*\*\* \(no call was placed\)/],
      [503, 3, /HTTP 503 No \*\*\* \(a call may have been placed\)/],
    ] as const) {
      status = answer;
      const ended = await invoke([...call, ...byFlags, "--base-url", baseUrl], env);
      expect(ended.code).toBe(code);
      expect(ended.stderr).toMatch(words);
      isQuiet(ended);
    }
    expect(seen).toHaveLength(2);
  });

  it.each([
    [["--service", "twilo", "--account", account], "no such --service (did you mean twilio?)"],
    [["--service", "toString", "--account", account], "no such --service"],
    [["--service", "twilio"], "which account of twilio? Set OUTDIAL_ACCOUNT, or pass --account"],
    [["--service", "twilio", "--account", keyId], "--account or OUTDIAL_ACCOUNT must be"],
    [[...byFlags, "--key-id", account], "--key-id or OUTDIAL_KEY_ID must be"],
  ])("%j: exits 2, and sends nothing", async (flags, words) => {
    const ended = await invoke([...call, ...flags, "--base-url", baseUrl], env);
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(words);
    isQuiet(ended);
    expect(seen).toHaveLength(0);
  });

  it("needs the key from the environment", async () => {
    const ended = await invoke([...call, ...byFlags], {});
    expect([ended.code, ended.stderr]).toEqual([
      2,
      "outdial: OUTDIAL_API_KEY is not set; see `outdial help call`\n",
    ]);
  });
});

describe("outdial dial --service twilio", () => {
  const dial = (flags: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    invoke(
      ["dial", join(folder, "people.csv"), "--from", "+12025550199", "--flow", url].concat(
        ["--window", "always", "--callback", "https://app.test/status", "--base-url", baseUrl],
        flags,
      ),
      { ...env, ...more },
    );

  it("the plan names the service, the account and that nothing is recorded", async () => {
    const { code, stderr } = await dial([...byFlags, "--dry-run"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`by twilio, account ${account}`);
    expect(stderr).toContain("not recorded, unless twilio does so by itself");
    expect(seen).toHaveLength(0);
  });

  it("a rate above the account's is refused, unless the account has more", async () => {
    const tooFast = await dial([...byFlags, "--rate", "2", "--dry-run"]);
    expect(tooFast.code).toBe(2);
    expect(tooFast.stderr).toContain("--rate must be at most 1, the callsPerSecond of twilio");
    const more = await dial([...byFlags, "--rate", "2", "--calls-per-second", "2", "--dry-run"]);
    expect(more.code).toBe(0);
    const junk = await dial([...byFlags, "--calls-per-second", "many", "--dry-run"]);
    expect(junk.stderr).toContain("--calls-per-second must be a number above 0");
  });

  it("calls the list, and refuses its ledger to another account", async () => {
    const ended = await dial([...byFlags, "--yes"]);
    expect(ended.code).toBe(0);
    expect(seen.map(({ form }) => form.get("To"))).toEqual(["+12025550100"]);
    const other = "AC00000000000000000000000000000000";
    const refused = await dial(["--yes"], { OUTDIAL_SERVICE: "twilio", OUTDIAL_ACCOUNT: other });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("another campaign");
    expect(seen).toHaveLength(1);
  });
});
