import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { version } from "../../package.json";
import { nobodysUrl } from "../nobody.ts";
import { partOf } from "../part.ts";
import { type Ended, invoke, outdial, runtimes, start } from "./cli.ts";
import { json, type Service, serve } from "./service.ts";

const key = "ak_marked-key-5f1c";
const from = "+12025550199";
const to = "+12025550123";
const flow = "https://app.test/flow";
const callback = "https://app.test/status";
const flags = ["--from", from, "--to", to, "--flow", flow, "--callback", callback];
const call = ["call", ...flags];
const accepted = json(202, { message: "Call accepted.", data: { id: "cs_1", record: true } });

const services: Service[] = [];
const service = async (answer: (response: ServerResponse) => void) => {
  const started = await serve(answer);
  services.push(started);
  return started;
};
afterEach(() => {
  for (const { close } of services.splice(0)) close();
});

/** One line on stderr, nothing on stdout, and no secret in either. */
const expectLine = ({ code, stdout, stderr }: Ended, exit: number, line: RegExp) => {
  expect(stderr).toMatch(/^outdial: [^\n]+\n$/);
  expect(stderr).toMatch(line);
  expect(stderr).not.toMatch(/\b([A-Z]+): \1\b/);
  expect(stderr).not.toContain(key);
  for (const number of [from, to]) expect(stderr).not.toContain(number.slice(1));
  expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
};

describe.each(partOf(runtimes))("outdial call, under %s", (runtime) => {
  it("exits 0 with the id on stdout", async () => {
    const { url, seen } = await service(accepted);
    const env = { OUTDIAL_API_KEY: key, OUTDIAL_BASE_URL: url };
    expect(await outdial(runtime, call, env)).toEqual({ code: 0, stdout: "cs_1\n", stderr: "" });
    const body = {
      from_number: from,
      to_number: to,
      flow_url: flow,
      status_callback_url: callback,
    };
    expect(seen).toEqual([{ method: "POST", url: "/api/v1/calls/initiate", key, body }]);
  });

  it("exits 1 when the service refuses", async () => {
    const { url } = await service(json(403, { detail: `Invalid API Key. ${key} ${to}` }));
    const ended = await outdial(runtime, [...call, "--base-url", url], { OUTDIAL_API_KEY: key });
    expectLine(ended, 1, /HTTP 403 Invalid API Key.*no call was placed/);
  });

  it.each(["SIGINT", "SIGTERM"] as const)("exits 3 at %s while in flight", async (signal) => {
    const arrived = Promise.withResolvers<void>();
    const { url } = await service(() => arrived.resolve());
    const running = start(runtime, [...call, "--base-url", url], { OUTDIAL_API_KEY: key });
    await arrived.promise;
    running.kill(signal);
    expectLine(await running.ended, 3, /interrupted \(a call may have been placed/);
  });

  it("prints its version", async () => {
    const expected = { code: 0, stdout: `${version}\n`, stderr: "" };
    expect(await outdial(runtime, ["--version"])).toEqual(expected);
  });
});

describe("outdial call", () => {
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    invoke(args, { OUTDIAL_API_KEY: key, ...env });

  it("exits 1 when no connection was made", async () => {
    const url = await nobodysUrl();
    const ended = await outdial("node", [...call, "--base-url", url], { OUTDIAL_API_KEY: key });
    expectLine(ended, 1, /connection failed.*no call was placed/i);
  });

  it("exits 2 when a parameter breaks its rule, named by its flag", async () => {
    const bad = call.map((word) => (word === to ? "0170-123" : word));
    const env = { OUTDIAL_API_KEY: key, OUTDIAL_BASE_URL: "https://voice.test" };
    const ended = await invoke(bad, env);
    expectLine(ended, 2, /--to must be an E\.164 number/);
    expect(ended.stderr).not.toContain("0170");
  });

  it("exits 3 when the service fails after it had the request", async () => {
    const { url } = await service((response) => response.socket?.destroy());
    const ended = await invoke([...call, "--base-url", url], { OUTDIAL_API_KEY: key });
    expectLine(ended, 3, /a call may have been placed/);
  });

  it("refuses a key as an argument, with the reason and without the key", async () => {
    const ended = await invoke([...call, `--api-key=${key}`], { OUTDIAL_API_KEY: key });
    expectLine(ended, 2, /the key cannot be an argument, because .*OUTDIAL_API_KEY/);
  });

  it("prints the whole call as one line of JSON with --json", async () => {
    const { url } = await service(accepted);
    const { stdout } = await run([...call, "--json", "--base-url", url]);
    expect(stdout.split("\n")).toHaveLength(2);
    expect(JSON.parse(stdout)).toEqual({ id: "cs_1", message: "Call accepted.", record: true });
  });

  it("asks for no recording with --no-record", async () => {
    const { url, seen } = await service(accepted);
    await run([...call, "--no-record"], { OUTDIAL_BASE_URL: url });
    expect(seen[0]?.body).toMatchObject({ record: false });
  });

  it("refuses --machine-detection without a carrier", async () => {
    const { url, seen } = await service(accepted);
    const ended = await run([...call, "--machine-detection", "detect", "--base-url", url]);
    expectLine(ended, 2, /--machine-detection needs --service: only carriers detect machines/);
    expect(seen).toEqual([]);
  });

  it("takes --base-url before OUTDIAL_BASE_URL", async () => {
    const { url, seen } = await service(accepted);
    await run([...call, "--base-url", url], { OUTDIAL_BASE_URL: "https://voice.test" });
    expect(seen).toHaveLength(1);
  });

  it("gives up after --timeout", async () => {
    const { url } = await service(() => {});
    const ended = await run([...call, "--timeout", "50", "--base-url", url]);
    expectLine(ended, 3, /No answer within 50 ms \(a call may have been placed\)/);
  });

  it("waits without a deadline with --timeout false", async () => {
    const { url } = await service((response) => setTimeout(accepted, 100, response));
    const ended = await run([...call, "--timeout", "false", "--base-url", url]);
    expect(ended).toEqual({ code: 0, stdout: "cs_1\n", stderr: "" });
  });

  it("prints text of the service on one line, without control characters", async () => {
    const detail = "line one\nline two\u001b[2J\u202e done";
    const { url } = await service(json(422, { detail }));
    const ended = await run([...call, "--base-url", url]);
    expectLine(
      ended,
      1,
      /^outdial: HTTP 422 line one line two \[2J done \(no call was placed\)\n$/,
    );
  });

  it("asks again with --idempotency-key or --idempotent, and only then", async () => {
    for (const [flag, posts] of [
      [["--idempotency-key", "message-1"], 2],
      [["--idempotent"], 2],
      [[], 1],
    ] as const) {
      const keys: unknown[] = [];
      const { url } = await service((response) => {
        keys.push(response.req.headers["idempotency-key"]);
        if (keys.length === 1) response.destroy();
        else accepted(response);
      });
      const ended = await run([...call, ...flag, "--base-url", url], { OUTDIAL_API_KEY: key });
      expect(ended).toMatchObject(posts === 2 ? { code: 0, stdout: "cs_1\n" } : { code: 3 });
      expect(keys).toHaveLength(posts);
      expect(new Set(keys).size).toBe(1);
      if (flag[1]) expect(keys[0]).toBe(flag[1]);
    }
    expectLine(
      await run([...call, "--idempotency-key", "a b", "--base-url", "https://voice.test"]),
      2,
      /--idempotency-key must be 1 to 64/,
    );
  });

  it("names every broken rule, on one line", async () => {
    const bad = ["call", "--from", "1", "--to", "2", "--flow", "ftp://x", "--callback", "http://x"];
    const ended = await run(bad, { OUTDIAL_BASE_URL: "https://voice.test" });
    expectLine(ended, 2, /--from must .*; --to must .*; --flow must .*; --callback must /);
  });

  it.each([
    ["--base-url must", ["--base-url", "http://voice.test"], {}],
    ["OUTDIAL_BASE_URL must", [], { OUTDIAL_BASE_URL: "http://voice.test" }],
    ["--timeout must", ["--timeout", "soon", "--base-url", "https://voice.test"], {}],
    ["OUTDIAL_API_KEY must", ["--base-url", "https://voice.test"], { OUTDIAL_API_KEY: "k\u00e9y" }],
    ["OUTDIAL_API_KEY is not set", ["--base-url", "https://voice.test"], { OUTDIAL_API_KEY: "" }],
    ["--to is given twice", ["--to", to], {}],
    ["--json takes no value", ["--json=yes"], {}],
    ["--timeout needs a value", ["--timeout"], {}],
    ["--timeout needs a value", ["--timeout", "--no-record"], {}],
    ["every argument must be an option", ["--", "--no-record"], {}],
    ["--frm is unknown \\(did you mean --from\\?\\); see `outdial help call`", ["--frm", from], {}],
    ["--colour is unknown;", ["--colour"], {}],
    ["an option is unknown", [`--${key}`], {}],
    ["every argument must be an option", [key], {}],
    ["the key cannot be an argument", ["--key", key], {}],
    ["the key cannot be an argument", ["-k", key], {}],
    ["the key cannot be an argument", ["--apiKey", key], {}],
  ])("exits 2: %s", async (line, args, env) => {
    expectLine(await run([...call, ...args], env), 2, new RegExp(line));
  });

  it("exits 2 and names the flags that are missing", async () => {
    const ended = await run(["call", "--from", from], { OUTDIAL_BASE_URL: "https://voice.test" });
    expectLine(ended, 2, /--to is missing/);
    expectLine(
      await run(call.slice(0, -2), { OUTDIAL_BASE_URL: "https://voice.test" }),
      2,
      /--callback is missing/,
    );
  });
});
