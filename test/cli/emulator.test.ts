import { execFile } from "node:child_process";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { outdial, type Running, type Runtime, runtimes, start, startOnTerminal } from "./cli.ts";

const exec = promisify(execFile);

const running: Running[] = [];
afterEach(async () => {
  for (const { child, ended } of running.splice(0)) {
    child.kill("SIGTERM");
    await ended;
  }
});

/** An emulator on a free port, and what it says of itself. */
const emulate = async (runtime: Runtime, ...args: readonly string[]) => {
  const port = args.includes("--port") ? [] : ["--port", "0"];
  const before = performance.now();
  const started = start(runtime, ["emulator", ...port, ...args]);
  running.push(started);
  const text = await started.says(/^echo .*\n/m);
  const startedIn = performance.now() - before;
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  return {
    ...started,
    startedIn,
    baseUrl: find(/base URL +(\S+)/),
    key: find(/API key +(\S+)/),
    link: find(/dashboard +(\S+)/),
    curl: find(/^(echo .*)$/m),
  };
};

type Emulating = Awaited<ReturnType<typeof emulate>>;

const place = (
  { baseUrl, key }: Pick<Emulating, "baseUrl" | "key">,
  to_number: string,
  timeout: number,
  params: Readonly<Record<string, string>> = {},
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
    signal: AbortSignal.timeout(timeout),
  });

const nameOf = (error: unknown): string => Object(error).name;

/** Ends it, and tells how many times a second that took, or its start where the machine is slow. */
const interrupt = async ({
  child,
  ended,
  startedIn = 0,
}: Running & { readonly startedIn?: number }) => {
  const before = performance.now();
  child.kill("SIGINT");
  const seconds = Math.max(1_000, 3 * startedIn);
  return { ...(await ended), took: (performance.now() - before) / seconds };
};

describe.each(runtimes)("outdial emulator, under %s", (runtime) => {
  it("prints a curl line that places a call, tells its life, and sums up at ctrl-C", async () => {
    const emulator = await emulate(runtime, "--speed", "50");
    expect(emulator.key).toMatch(/^ak_[\w-]{43}$/);
    expect(emulator.link).toBe(`${emulator.baseUrl}/?token=${/[\w-]{43}$/.exec(emulator.link)}`);
    // The key reaches curl by its standard input: arguments are public.
    expect(emulator.curl.slice(emulator.curl.indexOf("|"))).not.toContain("ak_");
    const { stdout } = await exec("sh", ["-c", `${emulator.curl} -s`]);
    const { data } = JSON.parse(stdout);
    const text = await emulator.says(/told +call.completed, delivered.*\n/);
    const id = data.id.slice(-6);
    const line = (rest: string) =>
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3}  ${id}  ${rest}`, "m");
    for (const rest of [
      "initiated +\\+12025550199 → \\+12025550100$",
      "ringing$",
      "answered$",
      "told +call.answered, delivered, try 1, 204 in \\d+ ms$",
      "flow +step 1, 200 in \\d+ ms, http://127.0.0.1:\\d+/sample/flow$",
      "play +for 3 s$",
      "recording +\\d+\\.\\d s, http://127.0.0.1:\\d+/recordings/cs_\\w+.wav\\?expires=\\d+&signature=[\\w-]{43}$",
      "completed +normal, \\d+ s$",
    ]) {
      expect(text).toMatch(line(rest));
    }
    expect(text).not.toContain("\u001b");
    const { code, stdout: all, stderr, took } = await interrupt(emulator);
    expect(all.trimEnd()).toMatch(/\n1 call: 1 completed; 4 notifications delivered$/);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(took).toBeLessThan(1);
  });

  it("hangs up at ctrl-C what goes on, and tells it first", async () => {
    const emulator = await emulate(runtime);
    await place(emulator, "+12025550102", 5_000);
    await emulator.says(/ringing\n/);
    const { code, stdout, took } = await interrupt(emulator);
    expect(stdout).toMatch(/failed +canceled\n(.*\n)*.*told +call.failed, delivered/);
    expect(stdout).toMatch(/1 call: 1 failed \(1 canceled\); 3 notifications delivered\n$/);
    expect(code).toBe(0);
    expect(took).toBeLessThan(1.5);
  });

  it("never answers +12025550112, which is placed", async () => {
    const emulator = await emulate(runtime);
    const error = await place(emulator, "+12025550112", 300).catch((thrown) => thrown);
    expect(nameOf(error)).toBe("TimeoutError");
    await emulator.says(/initiated.*\+12025550112\n/);
    expect((await interrupt(emulator)).took).toBeLessThan(1.5);
  });

  it("stalls in the body for +12025550113, which is placed", async () => {
    const emulator = await emulate(runtime);
    const response = await place(emulator, "+12025550113", 500);
    expect(response.status).toBe(202);
    const reader = response.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^\{"message":"Call accepted\."/);
    const error = await reader?.read().catch((thrown) => thrown);
    expect(nameOf(error)).toBe("TimeoutError");
    await emulator.says(/initiated.*\+12025550113\n/);
    expect((await interrupt(emulator)).took).toBeLessThan(1.5);
  });

  it("drops the connection for +12025550114, which is placed", async () => {
    const emulator = await emulate(runtime);
    const error = await place(emulator, "+12025550114", 5_000)
      .then((response) => response.text())
      .catch((thrown) => thrown);
    expect(nameOf(error)).toBe("TypeError");
    await emulator.says(/initiated.*\+12025550114\n/);
    const { stderr } = await interrupt(emulator);
    expect(stderr).toBe("");
  });

  it("exits 1 with one line when the port is in use, and names one that is free", async () => {
    const { baseUrl } = await emulate(runtime);
    const { port } = new URL(baseUrl);
    const { code, stdout, stderr } = await outdial(runtime, ["emulator", "--port", port]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const [, other] =
      /^outdial: port \d+ of 127\.0\.0\.1 is in use by an emulator; try --port (\d+)\n$/.exec(
        stderr,
      ) ?? [];
    const { baseUrl: free } = await emulate(runtime, "--port", String(other));
    expect(new URL(free).port).toBe(other);
  });

  it("ends when nobody reads what it prints any more", async () => {
    const emulator = await emulate(runtime);
    emulator.child.stdout?.destroy();
    await place(emulator, "+12025550101", 5_000);
    expect(await emulator.ended).toMatchObject({ code: 0, stderr: "" });
  });

  it("serves the dashboard, and what happens as it happens", async () => {
    const emulator = await emulate(runtime);
    const welcome = await fetch(emulator.link);
    const [cookie = ""] = welcome.headers.get("set-cookie")?.split(";") ?? [];
    const headers = { cookie };
    const page = await fetch(emulator.baseUrl, { headers });
    expect(await page.text()).toContain("API key");
    const { body } = await fetch(`${emulator.baseUrl}/dashboard/events`, { headers });
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader?.read())?.value).toMatch(/^data: .*"whole":true.*\n\n$/);
    await place(emulator, "+12025550102", 5_000);
    expect((await reader?.read())?.value).toContain(`"to_number":"+12025550102"`);
    const { code, stderr, took } = await interrupt(emulator);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(took).toBeLessThan(1.5);
    await reader?.cancel().catch(() => {});
  });

  it("refuses a body of 1 MiB, and goes on", async () => {
    const { baseUrl, key } = await emulate(runtime);
    const post = async (body: string) => {
      const headers = { "X-API-Key": key, "Content-Type": "application/json" };
      const init = { method: "POST", headers, body };
      return (await fetch(`${baseUrl}/api/v1/calls/initiate`, init)).status;
    };
    expect(await post("x".repeat(2 ** 20))).toBe(413);
    expect(await post("x")).toBe(400);
  });

  it("refuses a request for another host", async () => {
    const { baseUrl } = await emulate(runtime);
    const head = ["-s", "-o", "/dev/null", "-w", "%{http_code}"];
    const status = async (...args: readonly string[]) =>
      (await exec("curl", [...head, ...args])).stdout;
    const { port } = new URL(baseUrl);
    expect(await status(baseUrl)).toBe("200");
    expect(await status(baseUrl, "-H", `Host: localhost:${port}`)).toBe("200");
    expect(await status(baseUrl, "-H", `Host: evil.test:${port}`)).toBe("403");
    expect(await status(baseUrl, "-H", "Host: 127.0.0.1:1")).toBe("403");
    expect(await status(`${baseUrl}/api/v1/calls/initiate`, "-H", "Host: evil.test")).toBe("403");
  });
});

describe("outdial emulator", () => {
  it("takes calls from --number only, once for each", async () => {
    const emulator = await emulate("node", "--number", "+12025550150", "--number", "+12025550151");
    expect(emulator.curl).toContain('"from_number":"+12025550150"');
    expect((await place(emulator, "+12025550100", 5_000)).status).toBe(403);
    await emulator.says(/refused +POST \/api\/v1\/calls\/initiate, HTTP 403\n/);
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
    ["the key is no argument", ["--api-key", "ak_1"]],
  ])("exits 2: %s", async (line, args) => {
    const ended = await outdial("node", ["emulator", ...args]);
    expect(ended).toMatchObject({ code: 2, stdout: "" });
    expect(ended.stderr).toMatch(new RegExp(`^outdial: ${line}[^\\n]*\\n$`));
  });

  it("prints lines of JSON with --json, and lets telephones ring for --ring seconds", async () => {
    const started = start("node", [
      "emulator",
      "--port",
      "0",
      "--json",
      "--speed",
      "40",
      "--ring",
      "40",
    ]);
    running.push(started);
    const facts = JSON.parse(await started.says(/^\{.*\}\n/));
    expect(facts).toEqual({
      type: "started",
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      api_key: expect.stringMatching(/^ak_/),
      webhook_secret: expect.stringMatching(/^whsec_/),
      dashboard: expect.stringContaining(`${facts.base_url}/?token=`),
    });
    await place({ baseUrl: facts.base_url, key: facts.api_key }, "+12025550100", 5_000);
    await started.says(/"event":"call.completed"/);
    const { stdout } = await interrupt(started);
    const lines = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const at = (state: string) => Date.parse(lines.find((line) => line.state === state)?.at);
    const rang = (at("answered") - at("ringing")) / 1000;
    expect(rang).toBeGreaterThanOrEqual(39.9);
    expect(rang).toBeLessThan(80); // And not the two seconds of old, nor for ever.
    expect(lines.at(-1)).toEqual({
      type: "ended",
      summary: "1 call: 1 completed; 4 notifications delivered",
    });
  });

  it("counts a call that can't follow its flow once, and forgets nothing aloud", async () => {
    const emulator = await emulate("node", "--speed", "50");
    await place(emulator, "+12025550100", 5_000, { flow_url: `${emulator.baseUrl}/sample/status` });
    await emulator.says(/told +call.completed, delivered/);
    await place(emulator, "+12025550102", 5_000, { status_callback_url: "http://127.0.0.1:9/" });
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
      const { baseUrl, key } = await emulate("node", "--host", host);
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
    const { baseUrl } = await emulate("node");
    const { port } = new URL(baseUrl);
    for (const path of ["/", "/sample/hello.wav", "/recordings/cs_1.wav"]) {
      const args = ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", `Host: evil.test:${port}`];
      expect((await exec("curl", [...args, baseUrl + path])).stdout).toBe("403");
    }
  });

  it("does not wait at ctrl-C for a receiver that is down", async () => {
    const emulator = await emulate("node");
    const status_callback_url = "http://127.0.0.1:9/status";
    await place(emulator, "+12025550101", 5_000, { status_callback_url });
    await emulator.says(/told +call.initiated, retrying, try 1/);
    const { code, stderr, took } = await interrupt(emulator);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(took).toBeLessThan(3.5);
  });

  it.each([
    ["127.0.0.1", false],
    ["0.0.0.0", true],
  ])("on %s warns of the network: %s", async (host, warns) => {
    const { printed, baseUrl, curl } = await emulate("node", "--host", host);
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(/Whoever can reach this machine/.test(printed())).toBe(warns);
    expect(curl.includes("https://app.example/flow")).toBe(warns);
  });

  it.each([
    ["in colour on a terminal", {}, true],
    ["without colour where NO_COLOR is set", { NO_COLOR: "1" }, false],
    ["without colour on a dumb terminal", { TERM: "dumb" }, false],
  ])("prints %s", async (_, env, coloured) => {
    const terminal = startOnTerminal(["emulator", "--port", "0"], { TERM: "xterm", ...env });
    running.push(terminal);
    await terminal.says(/curl /);
    expect(terminal.printed().includes("\u001b[")).toBe(coloured);
  });

  it("exits 1 with one line when the machine has no such address", async () => {
    const ended = await outdial("node", ["emulator", "--host", "192.0.2.1", "--port", "0"]);
    expect(ended).toMatchObject({ code: 1, stdout: "" });
    expect(ended.stderr).toMatch(/^outdial: port 0 of 192\.0\.2\.1 can't be had[^\n]*\n$/);
  });

  it("says to `outdial call` without a base URL how to reach it, on the default port", async () => {
    const call = ["call", "--from", "+12025550199", "--to", "+12025550100"];
    const flags = [...call, "--flow", "https://app.test/f", "--callback", "https://app.test/s"];
    const say = () => outdial("node", flags, { OUTDIAL_API_KEY: "key" });
    const started = start("node", ["emulator"]);
    running.push(started);
    await started.says(/^echo /m);
    const { code, stdout, stderr } = await say();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^outdial: .*An emulator runs here: give --base-url http:\S+:4010.*\n$/);
    await interrupt(started);
    expect((await say()).stderr).toMatch(/Set OUTDIAL_BASE_URL, or give --base-url/);

    // Nor does another server there, which never answers, keep it waiting.
    const mute = createServer(() => {}).listen(4010, "127.0.0.1");
    try {
      expect((await say()).stderr).toMatch(/Set OUTDIAL_BASE_URL, or give --base-url/);
    } finally {
      mute.close();
    }
  });
});
