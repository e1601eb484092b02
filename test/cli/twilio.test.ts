import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import twilio from "twilio";
import { expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { invoke } from "./cli.ts";
import {
  answering,
  beginUntilEnd,
  emulate as emulateFor,
  from,
  newFolder,
  openDashboard,
  serveUntilEnd,
  untilNotified,
} from "./emulate.ts";

const account = "AC0123456789abcdef0123456789abcdef";
const keyId = "SK0123456789abcdef0123456789abcdef";
const byFlags = ["--service", "twilio", "--account", account];

const emulate = (folder: string, ...args: readonly string[]) =>
  emulateFor("twilio", account, folder, ...args);

const clientOf = ({ field }: Awaited<ReturnType<typeof emulate>>) => {
  const client = twilio(field("account SID"), field("auth token"));
  client.api.baseUrl = field("base URL");
  return client;
};

it.each<[string, string[], Record<string, string>]>([
  ["by a flag", ["--key-id", keyId], {}],
  ["by the environment", [], { OUTDIAL_KEY_ID: keyId }],
])("outdial call places a call with an API key, %s", async (_, flags, env) => {
  const users: string[] = [];
  const { url } = await serveUntilEnd((request, response) => {
    const basic = (request.headers.authorization ?? "").replace("Basic ", "");
    users.push(atob(basic));
    response.writeHead(201, { "content-type": "application/json" }).end('{"sid":"CA1"}');
  });
  const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
  const call = ["call", "--from", from, "--to", answering, ...urls, ...byFlags, "--base-url", url];
  const key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  const ended = await invoke([...call, ...flags], { OUTDIAL_API_KEY: key, ...env });
  expect(ended).toEqual({ code: 0, stdout: "CA1\n", stderr: "" });
  expect(users).toEqual([`${keyId}:${key}`]);
  const wrong = await invoke([...call, "--key-id", account], { OUTDIAL_API_KEY: key });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("--key-id or OUTDIAL_KEY_ID must be");
  expect(users).toHaveLength(1);
});

it("outdial emulator prints what to set in an application, and is what Twilio's own client calls with it", async () => {
  const emulator = await emulate(newFolder());
  expect(emulator.field("account SID")).toBe(account);
  expect(emulator.field("auth token")).toMatch(/^[\da-f]{32}$/);
  expect(emulator.text).toContain("client.api.baseUrl = ");
  expect(emulator.text).not.toContain("signs with");
  const twiml = "<Response><Say>Hello</Say></Response>";
  const client = clientOf(emulator);
  const { sid } = await client.calls.create({ from, to: answering, twiml });
  const text = await emulator.says(/completed +normal.*\n/);
  for (const line of [`${sid.slice(-6)}  Say`, `${sid.slice(-6)}  completed +normal, \\d+ s`]) {
    expect(text).toMatch(new RegExp(line));
  }
  expect((await client.calls(sid).fetch()).status).toBe("completed");
});

it("a token that the dashboard regenerates is that of the next start", async () => {
  const folder = newFolder();
  const { field } = await emulate(folder);
  const { key } = await (await openDashboard(field("dashboard"))).post("key");
  expect(key).not.toBe(field("auth token"));
  expect((await emulate(folder)).field("auth token")).toBe(key);
  const kept = JSON.parse(readFileSync(join(folder, "outdial", "emulator.json"), "utf8"));
  expect(kept.twilio.apiKey).toBe(key);
});

it("with --json prints service and account, and no other secret than the token", async () => {
  const env = { OUTDIAL_SERVICE: "twilio", OUTDIAL_ACCOUNT: account };
  const emulator = beginUntilEnd(["emulator", "--port", "0", "--json"], {
    ...{ XDG_STATE_HOME: newFolder(), ...env },
  });
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
])("outdial emulator %j: says what is wrong", async (args, words) => {
  const env = { XDG_STATE_HOME: newFolder() };
  const { code, stderr } = await invoke(["emulator", "--port", "0", ...args], env);
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
  const { server, url } = await serveUntilEnd(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    note(request, "https", Object.fromEntries(new URLSearchParams(body)));
    const stream = `<Connect><Stream url="wss://${publicUrl}/media"/></Connect>`;
    response.setHeader("Content-Type", "text/xml");
    response.end(`<Response>${request.url?.startsWith("/voice") ? stream : ""}</Response>`);
  });
  const sockets = new WebSocketServer({ server });
  onTestFinished(() => sockets.close());
  sockets.on("connection", (socket, request) => {
    note(request, "wss", {});
    socket.close();
  });
  const emulator = await emulate(newFolder(), "--forward-to", url);
  token = emulator.field("auth token");
  await clientOf(emulator).calls.create({
    ...{ from, to: answering, method: "GET" },
    url: `https://${publicUrl}/voice?a=1`,
    statusCallback: `https://${publicUrl}/status`,
  });
  await untilNotified(emulator);
  expect(seen.map(([path]) => path?.replace(/&.*/, ""))).toEqual([
    "/voice?a=1",
    "/media",
    "/status",
  ]);
  expect(seen.map(([, isSigned]) => isSigned)).toEqual([true, true, true]);
});
