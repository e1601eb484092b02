import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { nobodysUrl } from "../nobody.ts";
import { type Ended, execute, path } from "./execute.ts";
import { onlyCall, type Service, startService, to } from "./service.ts";

type Env = Readonly<Record<string, string>>;

const deno = (config: string, number: string, env: Env): Promise<Ended> =>
  execute(
    path("test/node_modules/.bin/deno"),
    [
      ...["run", "--no-prompt", "--allow-net=127.0.0.1"],
      "--allow-env=OUTDIAL_API_KEY,OUTDIAL_BASE_URL,FROM_NUMBER,APP_URL",
      `--config=${path(config)}`,
      path("examples/deno/call.ts"),
      number,
    ],
    env,
  );

/** How each script is started, as its own header says. */
const scripts: Readonly<Record<string, (number: string, env: Env) => Promise<Ended>>> = {
  deno: (number, env) => deno("test/examples/deno.json", number, env),
  "deno, from a clone": (number, env) => deno("examples/deno.json", number, env),
  bun: (number, env) =>
    execute(path("test/node_modules/.bin/bun"), [path("examples/bun/call.ts"), number], env),
  curl: (number, env) => execute("sh", [path("examples/direct-http/call.sh"), number], env),
  python: (number, env) => execute("python3", [path("examples/direct-http/call.py"), number], env),
};

let service: Service;

beforeEach(async () => {
  service = await startService();
});

afterEach(() => service.close());

describe.each(Object.entries(scripts))("%s", (_, script) => {
  test("places one call, prints its id, and ends with 0", async () => {
    const { code, stdout, stderr } = await script(to.placed, service.env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/\bcs_[0-9A-Z]{26}\b/);
    expect(service.calls()).toEqual(onlyCall(to.placed));
    expect(service.urls).toEqual([`${service.baseUrl}/api/v1/calls/initiate`]);
  });

  test("ends with 1 when the key is refused, and never shows it", async () => {
    const key = "ak_MARKEDkey0123456789";
    const { code, stdout, stderr } = await script(to.placed, {
      ...service.env,
      OUTDIAL_API_KEY: key,
    });
    expect(code).toBe(1);
    expect(stderr).toContain("Invalid API Key.");
    expect(stdout + stderr + service.urls).not.toContain(key);
    expect(service.calls()).toEqual([]);
  });

  test("ends with 1 when nobody listens", async () => {
    const { code } = await script(to.placed, {
      ...service.env,
      OUTDIAL_BASE_URL: await nobodysUrl(),
    });
    expect(code).toBe(1);
  });

  test("ends with 3 when the call may have been placed", async () => {
    const { code, stderr } = await script(to.outage, service.env);
    expect(code).toBe(3);
    expect(stderr).toContain("may have been placed");
    expect(service.urls).toHaveLength(1);
  });
});

test.each([
  [[], "--allow-env=OUTDIAL_BASE_URL"],
  [["--allow-net"], "--allow-env=OUTDIAL_BASE_URL"],
  [["--allow-env"], "--allow-net=127.0.0.1:"],
])("deno with %j ends by itself and names the missing permission", async (flags, missing) => {
  const args = ["run", ...flags, `--config=${path("examples/deno.json")}`];
  const ended = await execute(
    path("test/node_modules/.bin/deno"),
    [...args, path("examples/deno/call.ts"), to.placed],
    service.env,
  );
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(`Missing permission: ${missing}`);
  expect(service.calls()).toEqual([]);
});

describe.each([
  ["curl", "sh", "examples/direct-http/call.sh"],
  ["python", "python3", "examples/direct-http/call.py"],
])("%s", (_, command, script) => {
  const refused = (env: Env, ...args: string[]) => execute(command, [path(script), ...args], env);

  test.each([
    ["http://127.0.0.1:4010@voice.test"],
    ["http://localhost:4010:x@voice.test"],
    ["http://me:secret@127.0.0.1:4010"],
    ["https://me:secret@voice.test"],
  ])("ends with 2 for the base URL %s, and sends nothing", async (url) => {
    const { code, stderr } = await refused({ ...service.env, OUTDIAL_BASE_URL: url }, to.placed);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "OUTDIAL_BASE_URL must be without user and password\n",
    });
  });

  test("no proxy of the environment sees a call to this machine", async () => {
    const seen: (string | undefined)[] = [];
    const proxy = createServer(({ url }, response) => {
      seen.push(url);
      response.end();
    });
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
    const http_proxy = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const ended = await refused({ ...service.env, http_proxy, all_proxy: http_proxy }, to.placed);
    proxy.close();
    expect({ code: ended.code, seen }).toEqual({ code: 0, seen: [] });
  });

  test.each([
    [302, 3],
    [307, 1],
    [404, 1],
    [408, 3],
    [409, 3],
    [425, 3],
    [499, 3],
    [500, 3],
  ])("ends as HTTP %i says, with %i", async (status, exit) => {
    const server = createServer((_, response) => response.writeHead(status).end("{}"));
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code } = await refused({ ...service.env, OUTDIAL_BASE_URL: url }, to.placed);
    server.close();
    expect(code).toBe(exit);
  });

  test("ends with 2 without a number, with a key that is no header, and over plain http", async () => {
    const key = "ak_MARKED\nX-Other: 1";
    for (const ended of [
      await refused(service.env),
      await refused({ ...service.env, OUTDIAL_API_KEY: key }, to.placed),
      await refused({ ...service.env, OUTDIAL_BASE_URL: "http://voice.test" }, to.placed),
    ]) {
      expect(ended.code).toBe(2);
      expect(ended.stdout + ended.stderr).not.toContain("MARKED");
    }
    expect(service.urls).toEqual([]);
  });
});

test("no argument of curl contains the key, so ps doesn't show it", async () => {
  const folder = path("test/artefacts/curl");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const curl = join(folder, "curl");
  const log = join(folder, "arguments");
  writeFileSync(curl, `#!/bin/sh\necho "$@" >>"${log}"\nPATH=\${PATH#*:} exec curl "$@"\n`);
  chmodSync(curl, 0o755);
  const ended = await scripts.curl?.(to.placed, { ...service.env, PATH: folder });
  expect(ended?.code).toBe(0);
  expect(service.calls()).toEqual(onlyCall(to.placed));
  const seen = readFileSync(log, "utf8");
  expect(seen).toContain(service.baseUrl);
  expect(seen).not.toContain(service.env.OUTDIAL_API_KEY);
});
