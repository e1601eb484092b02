import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, it } from "vitest";
import { begin, type Running } from "./cli.ts";

// Clients that nobody here wrote, against the emulator on a port.

const exec = promisify(execFile);

let emulator: Running;
let baseUrl = "";
let key = "";
let secret = "";
let receiver = "";
const reported: { readonly headers: Record<string, string>; readonly body: string }[] = [];

const server = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  reported.push({ headers: request.headers as Record<string, string>, body });
  response.writeHead(204).end();
});

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}/status`;
  emulator = begin(["emulator", "--port", "0", "--speed", "20"]);
  const text = await emulator.says(/^echo .*\n/m);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  baseUrl = find(/base URL +(\S+)/);
  key = find(/API key +(\S+)/);
  secret = find(/signs with +(\S+)/);
});

afterAll(async () => {
  emulator.kill("SIGINT");
  await emulator.ended;
  server.close();
  server.closeAllConnections();
});

const call = (to_number: string) =>
  JSON.stringify({
    from_number: "+12025550199",
    to_number,
    flow_url: `${baseUrl}/sample/flow`,
    status_callback_url: receiver,
  });

const curl = async (apiKey: string, body: string, ...args: readonly string[]) => {
  const { stdout } = await exec("curl", [
    "-s",
    ...["-w", "\n%{http_code} %header{retry-after}"],
    ...["-H", "Content-Type: application/json", "-H", `X-API-Key: ${apiKey}`, "-d", body],
    ...args,
    `${baseUrl}/api/v1/calls/initiate`,
  ]);
  const [json = "", status = ""] = stdout.split("\n");
  return { status: status.trim(), body: JSON.parse(json) };
};

const ended = (id: string) =>
  emulator.says(new RegExp(`${id.slice(-6)}  notified +call\\.(completed|failed), delivered`));

it("curl places a call, and sees each refusal", async () => {
  const placed = await curl(key, call("+12025550100"));
  expect(placed).toMatchObject({ status: "202", body: { data: { id: expect.any(String) } } });
  const denied = await curl("ak_wrong", call("+12025550100"));
  expect(denied).toEqual({
    status: "403",
    body: { detail: "Invalid API Key.", message: "Invalid API Key." },
  });
  expect((await curl(key, "{")).status).toBe("400");
  expect((await curl(key, call("12345"))).status).toBe("422");
  expect((await curl(key, call("+12025550111"))).status).toBe("429 1");
  expect((await curl(key, call("+12025550100"), "-H", "Expect: 100-continue")).status).toBe("202");
});

it("Python's urllib places a call, and sees a missing key", async () => {
  const program = `
import json, sys, urllib.error, urllib.request
url, key, body = sys.argv[1:]
def post(headers):
    request = urllib.request.Request(url, body.encode(), {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
print(json.dumps([post({"X-API-Key": key}), post({})]))
`;
  const url = `${baseUrl}/api/v1/calls/initiate`;
  const { stdout } = await exec("python3", ["-c", program, url, key, call("+12025550100")]);
  const [[status, body], [refused, detail]] = JSON.parse(stdout);
  expect([status, body.data.to_number]).toEqual([202, "+12025550100"]);
  const loc = ["header", "x-api-key"];
  expect([refused, detail]).toMatchObject([422, { detail: [{ loc, msg: "Field required" }] }]);
});

it("the package standardwebhooks verifies every notification", async () => {
  const { body } = await curl(key, call("+12025550100"));
  await ended(body.data.id);
  const webhook = new Webhook(secret);
  const events = reported
    .filter(({ body: text }) => text.includes(body.data.id))
    .map((each) => webhook.verify(each.body, each.headers) as { readonly type: string });
  expect(events.map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
  const [first] = reported;
  expect(() => webhook.verify(`${first?.body} `, first?.headers ?? {})).toThrow(/signature/i);
});

/** What tells of a WAV on this machine: channels, samples a second, bits a sample, seconds. */
const readers: Readonly<Record<string, (file: string) => readonly string[]>> = {
  soxi: (file) => ["sh", "-c", `for what in c r b D; do soxi -$what '${file}'; done`],
  ffprobe: (file) => [
    ...["ffprobe", "-v", "error", "-of", "default=nw=1:nk=1", "-show_entries"],
    "stream=channels,sample_rate,bits_per_sample,duration",
    file,
  ],
  python3: (file) => [
    ...["python3", "-c"],
    `import wave
with wave.open('${file}') as w:
    print(w.getnchannels(), w.getframerate(), 8 * w.getsampwidth(), w.getnframes() / w.getframerate())`,
  ],
};

const exists = (command: string) =>
  exec("which", [command]).then(
    () => true,
    () => false,
  );

it("soxi, ffprobe and Python, as far as they are here, read a recording", async () => {
  const { body } = await curl(key, call("+12025550100"));
  const text = await ended(body.data.id);
  const id = body.data.id.slice(-6);
  const [, seconds, url = ""] = new RegExp(`${id}  recording +(\\S+) s, (\\S+)`).exec(text) ?? [];
  const response = await fetch(url);
  const file = `${await mkdtemp(`${tmpdir()}/outdial-`)}/call.wav`;
  await writeFile(file, new Uint8Array(await response.arrayBuffer()));
  let read = 0;
  for (const [name, commandOf] of Object.entries(readers)) {
    if (!(await exists(name))) continue;
    const [command = "", ...args] = commandOf(file);
    const numbers = (await exec(command, args)).stdout.trim().split(/\s+/).map(Number);
    const [duration = 0] = numbers.filter((each) => each < 100 && each !== 1 && each !== 16);
    expect(numbers, name).toEqual(expect.arrayContaining([1, 8000, 16]));
    expect(Math.abs(duration - Number(seconds)), name).toBeLessThan(0.06);
    read++;
  }
  expect(read).toBeGreaterThan(0);
});
