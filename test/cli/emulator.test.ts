import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { partOf } from "../part.ts";
import {
  begin,
  invoke,
  outdial,
  type Running,
  type Runtime,
  runtimes,
  start,
  startInShell,
  startOnTerminal,
} from "./cli.ts";

const exec = promisify(execFile);

const running: Running[] = [];
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill("SIGTERM");
    await ended;
  }
});

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer().on("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });

/** The URLs and the key that an emulator prints. */
const printedBy = async <T extends Running>(started: T) => {
  running.push(started);
  const text = await started.says(/^echo .*\n/m);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    ...started,
    baseUrl: find(/base URL +(\S+)/),
    key: find(/API key +(\S+)/),
    link: find(/dashboard +(\S+)/),
    curl: find(/^(echo .*)$/m),
  };
};

/** An emulator in a process, on a free port. */
const emulate = (runtime: Runtime, ...args: readonly string[]) =>
  printedBy(start(runtime, ["emulator", "--port", "0", ...args]));

/** An emulator in this process, on a free port. */
const emulateHere = (...args: readonly string[]) =>
  printedBy(begin(["emulator", "--port", "0", ...args]));

type Emulating = Awaited<ReturnType<typeof emulateHere>>;

const place = (
  { baseUrl, key }: Pick<Emulating, "baseUrl" | "key">,
  to_number: string,
  params: Readonly<Record<string, string>> = {},
  signal: AbortSignal | null = null,
) =>
  fetch(`${baseUrl}/api/v1/calls/initiate`, {
    method: "POST",
    headers: { "X-API-Key": key, "Content-Type": "application/json" },
    body: JSON.stringify({
      from_number: "+12025550199",
      to_number,
      flow_url: `${baseUrl}/sample/flow`,
      status_callback_url: `${baseUrl}/sample/status`,
      ...params,
    }),
    signal,
  });

const interrupt = ({ kill, ended }: Running) => {
  kill("SIGINT");
  return ended;
};

describe.each(partOf(runtimes))("outdial emulator, under %s", (runtime) => {
  it("prints nothing of requests that are none, such as TRACE or one for a host that is none", async () => {
    const { baseUrl, kill, ended } = await emulate(runtime);
    const port = Number(new URL(baseUrl).port);
    for (const head of ["POST / HTTP/1.1\r\nHost: a b", "TRACE / HTTP/1.1\r\nHost: 127.0.0.1"]) {
      const socket = connect(port, "127.0.0.1")
        .on("error", () => {})
        .resume();
      socket.write(`${head}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      await new Promise((closed) => socket.once("close", closed));
    }
    kill("SIGINT");
    expect(await ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("prints a curl line that places a call, its events, and a summary at ctrl-C", async () => {
    const emulator = await emulate(runtime, "--speed", "50");
    expect(emulator.key).toMatch(/^ak_[\w-]{43}$/);
    expect(emulator.link).toBe(`${emulator.baseUrl}/?token=${/[\w-]{43}$/.exec(emulator.link)}`);
    // The key reaches curl by its standard input: arguments are public.
    expect(emulator.curl.slice(emulator.curl.indexOf("|"))).not.toContain("ak_");
    const { stdout } = await exec("sh", ["-c", `${emulator.curl} -s`]);
    const { data } = JSON.parse(stdout);
    const text = await emulator.says(/notified +call.completed, delivered.*\n/);
    const id = data.id.slice(-6);
    const line = (rest: string) =>
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  ${id}  ${rest}`, "m");
    for (const rest of [
      "initiated +\\+12025550199 → \\+12025550100$",
      "ringing$",
      "answered$",
      "notified +call.answered, delivered, try 1, 204 in \\d+ ms$",
      "flow +step 1, 200 in \\d+ ms, http://127.0.0.1:\\d+/sample/flow$",
      "play +for 3 s$",
      "recording +\\d+\\.\\d s, http://127.0.0.1:\\d+/recordings/cs_\\w+.wav\\?expires=\\d+&signature=[\\w-]{43}$",
      "completed +normal, \\d+ s$",
    ]) {
      expect(text).toMatch(line(rest));
    }
    expect(text).not.toContain("\u001b");
    const { code, stdout: all, stderr } = await interrupt(emulator);
    expect(all.trimEnd()).toMatch(/\n1 call: 1 completed; 4 notifications delivered$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it("places a call although its answer is silent, stalled or dropped, and still ends at ctrl-C", async () => {
    const emulator = await emulate(runtime);
    const silent = new AbortController();
    const never = place(emulator, "+12025550112", {}, silent.signal).catch(() => "aborted");
    await emulator.says(/initiated.*\+12025550112\n/);

    const stalled = await place(emulator, "+12025550113");
    expect(stalled.status).toBe(202);
    const reader = stalled.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^\{"message":"Call accepted\."/);
    await emulator.says(/initiated.*\+12025550113\n/);

    const dropped = place(emulator, "+12025550114").then((response) => response.text());
    await expect(dropped).rejects.toThrow(TypeError);
    await emulator.says(/initiated.*\+12025550114\n/);

    await reader?.cancel();
    const { code, stderr } = await interrupt(emulator);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    silent.abort();
    await never;
  });

  it("hangs up live calls at ctrl-C, sends their notifications, and closes open pages", async () => {
    const emulator = await emulate(runtime);
    const welcome = await fetch(emulator.link);
    const [cookie = ""] = welcome.headers.get("set-cookie")?.split(";") ?? [];
    const headers = { cookie };
    const page = await fetch(emulator.baseUrl, { headers });
    expect(await page.text()).toContain("API key");
    const { body } = await fetch(`${emulator.baseUrl}/dashboard/events`, { headers });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^data: .*"whole":true.*\n\n$/);
    await place(emulator, "+12025550102");
    expect((await reader?.read())?.value).toContain(`"to_number":"+12025550102"`);
    await emulator.says(/ringing\n/);
    const { code, stdout, stderr } = await interrupt(emulator);
    expect(stdout).toMatch(/failed +canceled\n(.*\n)*.*notified +call.failed, delivered/);
    expect(stdout).toMatch(/1 call: 1 failed \(1 canceled\); 3 notifications delivered\n$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    await reader?.cancel().catch(() => {});
  });

  it("refuses a body of 1 MiB and another host, and goes on; its port is in use meanwhile", async () => {
    const { baseUrl, key } = await emulate(runtime);
    const post = async (body: string) => {
      const headers = { "X-API-Key": key, "Content-Type": "application/json" };
      const init = { method: "POST", headers, body };
      return (await fetch(`${baseUrl}/api/v1/calls/initiate`, init)).status;
    };
    expect(await post("x".repeat(2 ** 20))).toBe(413);
    expect(await post("x")).toBe(400);

    const head = ["-s", "-o", "/dev/null", "-w", "%{http_code}"];
    const status = async (...args: readonly string[]) =>
      (await exec("curl", [...head, ...args])).stdout;
    const { port } = new URL(baseUrl);
    expect(await status(baseUrl)).toBe("200");
    expect(await status(baseUrl, "-H", `Host: localhost:${port}`)).toBe("200");
    expect(await status(baseUrl, "-H", `Host: evil.test:${port}`)).toBe("403");
    expect(await status(baseUrl, "-H", "Host: 127.0.0.1:1")).toBe("403");
    expect(await status(`${baseUrl}/api/v1/calls/initiate`, "-H", "Host: evil.test")).toBe("403");

    const { code, stdout, stderr } = await outdial(runtime, ["emulator", "--port", port]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^outdial: port \d+ of 127\.0\.0\.1 is in use by an emulator; try --port \d+\n$/,
    );
  });

  it("ends when its reader leaves", async () => {
    const emulator = await emulate(runtime);
    emulator.child.stdout?.destroy();
    await place(emulator, "+12025550101");
    expect(await emulator.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("exits 1 when stdout is a full disk, and says so", async () => {
    const args = ["emulator", "--port", "0"];
    const { code, stderr } = await startInShell(runtime, args, {}, ">/dev/full").ended;
    expect(stderr).toBe("outdial: stdout cannot be written: is the disk full?\n");
    expect(code).toBe(1);
  });
});

describe("outdial emulator", () => {
  it("takes calls from --number only, once for each", async () => {
    const emulator = await emulateHere("--number", "+12025550150", "--number", "+12025550151");
    expect(emulator.curl).toContain('"from_number":"+12025550150"');
    expect((await place(emulator, "+12025550100")).status).toBe(403);
    await emulator.says(
      /refused +POST \/api\/v1\/calls\/initiate, HTTP 403: from_number does not belong to this account\.\n/,
    );
  });

  it.each([
    ["--port must be", ["--port", "http"]],
    ["--port must be", ["--port", "65536"]],
    ["--speed must be", ["--speed", "0"]],
    ["--speed must be", ["--speed", "fast"]],
    ["--number must be", ["--number", "0170"]],
    ["--ring must be", ["--ring=soon"]],
    ["--ring must be", ["--ring", "601"]],
    ["--forward-to must be", ["--forward-to", "http://app.test"]],
    ["--forward-to must be", ["--forward-to", "http://localhost:3000/app"]],
    ["--forward-to must be", ["--forward-to", "localhost:3000"]],
    ["the key cannot be an argument", ["--api-key", "ak_1"]],
  ])("exits 2: %s", async (line, args) => {
    const ended = await invoke(["emulator", ...args]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(new RegExp(`^outdial: ${line}[^\\n]*\\n$`));
  });

  it("prints lines of JSON with --json, and lets telephones ring for --ring seconds", async () => {
    const started = begin(["emulator", "--port", "0", "--json", "--speed", "40", "--ring", "40"]);
    running.push(started);
    const facts = JSON.parse(await started.says(/^\{.*\}\n/));
    expect(facts).toEqual({
      type: "started",
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: expect.stringMatching(/^ak_/),
      webhook_secret: expect.stringMatching(/^whsec_/),
      dashboard: expect.stringContaining(`${facts.base_url}/?token=`),
    });
    await place({ baseUrl: facts.base_url, key: facts.api_key }, "+12025550100");
    await started.says(/"event":"call.completed"/);
    const { stdout } = await interrupt(started);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const at = (state: string) => Date.parse(lines.find((line) => line.state === state)?.at);
    const rang = (at("answered") - at("ringing")) / 1000;
    expect(rang).toBeGreaterThanOrEqual(39.9);
    expect(lines.at(-1)).toEqual({
      type: "ended",
      summary: "1 call: 1 completed; 4 notifications delivered",
    });
  });

  it("counts a call that can't follow its flow once, and forgets nothing aloud", async () => {
    const emulator = await emulateHere("--speed", "50");
    await place(emulator, "+12025550100", { flow_url: `${emulator.baseUrl}/sample/status` });
    await emulator.says(/notified +call.completed, delivered/);
    await place(emulator, "+12025550102", { status_callback_url: "http://127.0.0.1:9/" });
    const { stdout } = await interrupt(emulator);
    expect(stdout).toMatch(/\n2 calls: 1 completed \(1 flow error\), 1 failed \(1 canceled\);/);
    expect(stdout).not.toContain("reset");
  });

  it.each([
    ["127.0.0.1", 202],
    ["0.0.0.0", 422],
  ])(
    "on %s answers a call to plain http on loopback with %i, whatever Host says",
    async (host, status) => {
      const { baseUrl, key } = await emulateHere("--host", host);
      const url = "http://127.0.0.1:9/";
      const body = JSON.stringify({
        from_number: "+12025550199",
        to_number: "+12025550101",
        flow_url: url,
        status_callback_url: url,
      });
      const { port } = new URL(baseUrl);
      const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", `Host: localhost:${port}`];
      const headers = ["-H", "@-", "-H", "Content-Type: application/json", "-d", body];
      const asked = exec("curl", [...args, ...headers, `${baseUrl}/api/v1/calls/initiate`]);
      asked.child.stdin?.end(`X-API-Key: ${key}`);
      expect(Number((await asked).stdout)).toBe(status);
    },
  );

  it("answers nothing to a page whose own name leads here, the sample neither", async () => {
    const { baseUrl } = await emulateHere();
    const { port } = new URL(baseUrl);
    for (const path of ["/", "/sample/hello.wav", "/recordings/cs_1.wav"]) {
      const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", `Host: evil.test:${port}`];
      expect((await exec("curl", [...args, baseUrl + path])).stdout).toBe("403");
    }
  });

  it("does not wait at ctrl-C for a receiver that is down", async () => {
    const emulator = await emulateHere();
    const status_callback_url = "http://127.0.0.1:9/status";
    await place(emulator, "+12025550101", { status_callback_url });
    await emulator.says(/notified +call.initiated, retrying, try 1/);
    const { code, stderr } = await interrupt(emulator);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  it.each([
    ["127.0.0.1", false],
    ["0.0.0.0", true],
  ])("on %s warns of the network: %s", async (host, warns) => {
    const { printed, baseUrl, curl } = await emulateHere("--host", host);
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(/Everybody who can reach this machine/.test(printed())).toBe(warns);
    expect(curl.includes("https://app.example/flow")).toBe(warns);
  });

  it("prints in colour on a terminal", async () => {
    const terminal = startOnTerminal(["emulator", "--port", "0"], { TERM: "xterm" });
    running.push(terminal);
    await terminal.says(/curl /);
    expect(terminal.printed()).toContain("\u001b[");
  });

  it.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("prints without colour with %j", async (env) => {
    const { printed } = await printedBy(begin(["emulator", "--port", "0"], env, { columns: 80 }));
    expect(printed()).not.toContain("\u001b[");
  });

  it("exits 1 with one line when the machine has no such address", async () => {
    const ended = await invoke(["emulator", "--host", "192.0.2.1", "--port", "0"]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^outdial: port 0 of 192\.0\.2\.1 cannot be opened[^\n]*\n$/);
  });

  it("is found by `outdial call` without a base URL, on the default port", async (context) => {
    if (!(await isFree(4010))) return context.skip("port 4010 is in use by something else");
    const call = ["call", "--from", "+12025550199", "--to", "+12025550100"];
    const flags = [...call, "--flow", "https://app.test/f", "--callback", "https://app.test/s"];
    const hint = () => invoke(flags, { OUTDIAL_API_KEY: "key" });
    const started = begin(["emulator"]);
    running.push(started);
    await started.says(/^echo /m);
    const { code, stdout, stderr } = await hint();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^outdial: .*An emulator runs here: pass --base-url http:\S+:4010.*\n$/);
    await interrupt(started);
    expect((await hint()).stderr).toMatch(/Set OUTDIAL_BASE_URL, or pass --base-url/);

    // Nor does another server there, which never answers, keep it waiting.
    const mute = createServer(() => {}).listen(4010, "127.0.0.1");
    try {
      expect((await hint()).stderr).toMatch(/Set OUTDIAL_BASE_URL, or pass --base-url/);
    } finally {
      mute.close();
    }
  });
});

describe("--script", () => {
  const script = (confirmed: string) => `
import { gather, hangup, say } from "outdial/flows";
export default {
  onAnswer: () => gather("Press 1 to confirm.", { digits: 1, as: "reply", on: { 1: "confirm" }, tries: 2, otherwise: "bye" }),
  onMachine: () => hangup(),
  steps: { confirm: () => say("${confirmed}"), bye: () => say("Goodbye.") },
};
`;
  /** A script in a folder from which `outdial` can be imported. */
  const scriptFile = (text: string, name = "reminder.ts"): string => {
    const folder = mkdtempSync(join(import.meta.dirname, "script-"));
    folders.push(folder);
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  it.each(partOf(runtimes))(
    "decides what a call does, in TypeScript, under %s",
    async (runtime) => {
      const args = [
        "emulator",
        "--port",
        "0",
        "--speed",
        "50",
        "--script",
        scriptFile(script("Thanks.")),
      ];
      const emulator = await printedBy(start(runtime, args, {}, { allow: ["-A"] }));
      await place(emulator, "+12025550100");
      // Nobody presses a key: it asks twice.
      const text = await emulator.says(/completed +normal/);
      expect(text.match(/gather/g)).toHaveLength(2);
      expect(text).toMatch(/flow +step 3.*\/sample\/flow/);
      const { code, stderr } = await interrupt(emulator);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    },
  );

  it("is loaded again when it changes; what can't be loaded is reported, and the last one stays", async () => {
    const hangup = `import { hangup } from "outdial/flows"; export default { onAnswer: () => hangup() };`;
    const file = scriptFile(hangup);
    const emulator = await emulateHere("--speed", "50", "--script", file);
    await place(emulator, "+12025550100");
    await emulator.says(/hangup[\s\S]*completed/);
    const change = (text: string, at: number) => {
      writeFileSync(file, text);
      utimesSync(file, at, at);
    };
    change("export default {", 1);
    await place(emulator, "+12025550100");
    await emulator.says(/hangup[\s\S]*completed[\s\S]*hangup[\s\S]*completed/);
    change(script("Thanks."), 2);
    await place(emulator, "+12025550100");
    await emulator.says(/gather/);
    const { stderr } = await interrupt(emulator);
    expect(stderr).toMatch(/^outdial: --script: /);
  });

  it.each([
    ["export default 1;", "--script must have a default export"],
    ["export default { onAnswer() {}, secret: 'x' };", "--script: secret is not one of"],
    ["export default { steps: {} };", "--script: onAnswer is missing"],
    ["export default {", "--script cannot be loaded: "],
  ])("%s is refused by its rule", async (text, message) => {
    const { code, stderr } = await invoke([
      "emulator",
      "--port",
      "0",
      "--script",
      scriptFile(text),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });

  it("is refused beside --forward-to, and where there is no such file", async () => {
    const forward = ["--script", "a.ts", "--forward-to", "http://localhost:3000"];
    expect((await invoke(["emulator", ...forward])).stderr).toContain("drop --forward-to");
    const { stderr } = await invoke(["emulator", "--port", "0", "--script", "/nowhere/a.ts"]);
    expect(stderr).toContain("--script cannot be read");
  });

  it("is answered and pressed by --callees, in their shares, the same with each --seed", async () => {
    const callees = ["--callees", "busy=50%,press=1:50%", "--seed", "7"];
    // The longest time for an answer, so that a slow machine is no silence.
    const patient = script("Thanks.").replace("digits: 1,", "digits: 1, timeout_ms: 10_000,");
    const flow = ["--speed", "50", "--script", scriptFile(patient)];
    const numbers = Array.from({ length: 12 }, (_, at) => `+1202556${1_000 + at}`);
    const placeAll = async () => {
      const emulator = await emulateHere(...flow, ...callees);
      const placed = await Promise.all(numbers.map((number) => place(emulator, number)));
      for (const response of placed) {
        const { data } = await response.json();
        const end = `${data.id.slice(-6)}  notified +call\\.(completed|failed), delivered`;
        await emulator.says(new RegExp(end));
      }
      const { stdout } = await interrupt(emulator);
      const count = (what: RegExp) => stdout.match(what)?.length ?? 0;
      // Whoever answers presses 1, and is thanked by the step that it leads to.
      const pressed = count(/key +1 pressed$/gm);
      const busy = count(/failed +busy/g);
      const performed = [count(/gather/g), count(/ {2}say /g)];
      expect([pressed + busy, ...performed]).toEqual([12, pressed, pressed]);
      expect(stdout).toContain(`\n12 calls: ${pressed} completed, ${busy} failed (${busy} busy);`);
      expect(Math.min(pressed, busy)).toBeGreaterThan(0);
      return pressed;
    };
    expect(await placeAll()).toBe(await placeAll());
  });

  it("answers in the form of the carrier that is emulated", async () => {
    const emulator = begin([
      ...["emulator", "--port", "0", "--speed", "50", "--service", "twilio"],
      ...["--account", `AC${"0".repeat(32)}`, "--script", scriptFile(script("Thanks."))],
    ]);
    running.push(emulator);
    const text = await emulator.says(/^echo .*\n/m);
    await exec("sh", ["-c", `${/^(echo .*)$/m.exec(text)?.[1]} -s`]);
    await emulator.says(/Gather[\s\S]*Gather[\s\S]*completed/);
  });
});
