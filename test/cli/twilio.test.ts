import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import twilio from "twilio";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { begin, invoke, type Running } from "./cli.ts";

const exec = promisify(execFile);
const account = "AC0123456789abcdef0123456789abcdef";

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

/** An emulator of Twilio in this process, and what it prints. */
const emulate = async (...args: readonly string[]) => {
  const service = ["--service", "twilio", "--account", account];
  const emulator = begin(["emulator", "--port", "0", "--speed", "50", ...service, ...args], {
    XDG_STATE_HOME: folder,
  });
  running.push(emulator);
  const text = await emulator.says(/^echo .*\n/m);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    ...emulator,
    text,
    baseUrl: find(/base URL +(\S+)/),
    sid: find(/account SID +(\S+)/),
    token: find(/auth token +(\S+)/),
    link: find(/dashboard +(\S+)/),
    curl: find(/^(echo .*)$/m),
  };
};

const clientOf = ({ baseUrl, sid, token }: Awaited<ReturnType<typeof emulate>>) => {
  const client = twilio(sid, token);
  client.api.baseUrl = baseUrl;
  return client;
};

const numbers = { from: "+12025550199", to: "+12025550100" };

describe("outdial emulator --service twilio", () => {
  it("prints what to set in an application, and a curl line that places a call", async () => {
    const emulator = await emulate();
    expect(emulator.sid).toBe(account);
    expect(emulator.token).toMatch(/^[\da-f]{32}$/);
    expect(emulator.text).toContain(`client.api.baseUrl = `);
    expect(emulator.text).not.toContain("signs with");
    // The token reaches curl by its standard input: arguments are public.
    expect(emulator.curl.slice(emulator.curl.indexOf("|"))).not.toContain(emulator.token);
    const { stdout } = await exec("sh", ["-c", `${emulator.curl} -s`]);
    const { sid, status } = JSON.parse(stdout);
    expect(status).toBe("queued");
    const text = await emulator.says(/notified +completed, delivered.*\n/);
    for (const line of [
      `${sid.slice(-6)}  Play +for 3 s, ${emulator.baseUrl}/sample/hello\\.wav`,
      `${sid.slice(-6)}  completed +normal, \\d+ s`,
    ]) {
      expect(text).toMatch(new RegExp(line));
    }
    emulator.kill("SIGINT");
    const { code, stdout: all } = await emulator.ended;
    expect(code).toBe(0);
    expect(all.trimEnd()).toMatch(/\n1 call: 1 completed; 1 notification delivered$/);
  });

  it("is what Twilio's own client calls with these", async () => {
    const emulator = await emulate();
    const twiml = "<Response><Say>Hello</Say></Response>";
    const { sid } = await clientOf(emulator).calls.create({ ...numbers, twiml });
    await emulator.says(/completed +normal/);
    expect((await clientOf(emulator).calls(sid).fetch()).status).toBe("completed");
  });

  it("is what outdial call calls with the same flags", async () => {
    const { baseUrl, token, sid, says } = await emulate();
    const args = ["--service", "twilio", "--account", sid, "--base-url", baseUrl];
    const urls = ["--flow", `${baseUrl}/sample/flow`, "--callback", `${baseUrl}/sample/status`];
    const call = ["call", "--from", numbers.from, "--to", numbers.to, ...urls, ...args];
    const { code, stdout, stderr } = await invoke(call, { OUTDIAL_API_KEY: token });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^CA[\da-f]{32}\n$/);
    const text = await says(/notified +completed, delivered.*\n/);
    expect(text).toContain("notified    initiated, delivered");
    expect(text).toMatch(/Play +for 3 s/);
  });

  it("has the same token at each start, beside the key of outdial's own interface", async () => {
    const own = begin(["emulator", "--port", "0"], { XDG_STATE_HOME: folder });
    running.push(own);
    const key = /API key +(\S+)/.exec(await own.says(/^echo .*\n/m))?.[1];
    const { token, link, baseUrl } = await emulate();
    expect((await emulate()).token).toBe(token);
    const kept = () => JSON.parse(readFileSync(join(folder, "outdial", "emulator.json"), "utf8"));
    expect(kept()).toMatchObject({ apiKey: key, authToken: token });
    const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
    const headers = { cookie, origin: baseUrl };
    const regenerated = await fetch(`${baseUrl}/dashboard/key`, { method: "POST", headers });
    const { key: next } = await regenerated.json();
    expect((await emulate()).token).toBe(next);
    expect(kept()).toMatchObject({ apiKey: key, authToken: next });
  });

  it("has the service's name in the dashboard, which places calls as Twilio takes them", async () => {
    const { link, baseUrl, token, says } = await emulate();
    const [cookie = ""] = (await fetch(link)).headers.get("set-cookie")?.split(";") ?? [];
    const headers = { cookie, origin: baseUrl };
    const page = await (await fetch(baseUrl, { headers })).text();
    expect(page).toContain("<title>outdial emulator · twilio</title>");
    expect(page).toContain("Auth token");
    expect(page).not.toContain(token);
    const body = JSON.stringify({
      from_number: numbers.from,
      to_number: numbers.to,
      flow_url: `${baseUrl}/sample/flow`,
      status_callback_url: `${baseUrl}/sample/status`,
    });
    const placed = await fetch(`${baseUrl}/dashboard/calls`, { method: "POST", headers, body });
    expect(await placed.json()).toEqual({ status: 201, message: "queued" });
    await says(/notified +completed, delivered.*\n/);
    const wrong = body.replace(numbers.to, "nobody");
    const refused = await fetch(`${baseUrl}/dashboard/calls`, {
      method: "POST",
      headers,
      body: wrong,
    });
    expect(await refused.json()).toEqual({
      status: 400,
      message: "The 'To' number nobody is not a valid phone number.",
    });
  });

  it("with --json prints service and account, and no other secret than the token", async () => {
    const env = { XDG_STATE_HOME: folder, OUTDIAL_SERVICE: "twilio", OUTDIAL_ACCOUNT: account };
    const emulator = begin(["emulator", "--port", "0", "--json"], env);
    running.push(emulator);
    const [line = ""] = (await emulator.says(/\n/)).split("\n");
    expect(JSON.parse(line)).toEqual({
      type: "started",
      base_url: expect.stringMatching(/^http:/),
      service: "twilio",
      account,
      api_key: expect.stringMatching(/^[\da-f]{32}$/),
      dashboard: expect.stringContaining("/?token="),
    });
  });

  it.each([
    [
      ["--service", "twilio"],
      "--account (AC…) is missing, which --service needs (or OUTDIAL_ACCOUNT)",
    ],
    [
      ["--service", "twilio", "--account", "me"],
      "--account must be an account SID: AC and 32 hexadecimal digits",
    ],
    [
      ["--service", "twilo", "--account", account],
      "there is no such --service (did you mean twilio?)",
    ],
  ])("%j: says what is wrong", async (args, words) => {
    const { code, stderr } = await invoke(["emulator", "--port", "0", ...args], {
      XDG_STATE_HOME: folder,
    });
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `outdial: ${words}; see \`outdial help emulator\`\n`,
    });
  });

  it("forwards to an application what its public URLs are asked for, signed for those", async () => {
    const seen: [path: string | undefined, isSigned: boolean][] = [];
    let token = "";
    const publicUrl = "app.example";
    const note = (request: IncomingMessage, scheme: string, fields: Record<string, string>) => {
      const signature = String(request.headers["x-twilio-signature"]);
      const url = `${scheme}://${publicUrl}${request.url}`;
      seen.push([request.url, twilio.validateRequest(token, signature, url, fields)]);
    };
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        note(request, "https", Object.fromEntries(new URLSearchParams(body)));
        const stream = `<Connect><Stream url="wss://${publicUrl}/media"/></Connect>`;
        response.setHeader("Content-Type", "text/xml");
        response.end(`<Response>${request.url?.startsWith("/voice") ? stream : ""}</Response>`);
      });
    });
    const sockets = new WebSocketServer({ server });
    sockets.on("connection", (socket, request) => {
      note(request, "wss", {});
      socket.close();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    closing.push(() => {
      sockets.close();
      server.close();
      server.closeAllConnections();
    });
    const { port } = server.address() as AddressInfo;
    const emulator = await emulate("--forward-to", `http://127.0.0.1:${port}`);
    ({ token } = emulator);
    await clientOf(emulator).calls.create({
      ...numbers,
      method: "GET",
      url: `https://${publicUrl}/voice?a=1`,
      statusCallback: `https://${publicUrl}/status`,
    });
    await emulator.says(/notified +completed, delivered.*\n/);
    expect(seen.map(([path]) => path?.replace(/&.*/, ""))).toEqual([
      "/voice?a=1",
      "/media",
      "/status",
    ]);
    expect(seen.map(([, isSigned]) => isSigned)).toEqual([true, true, true]);
  });
});
