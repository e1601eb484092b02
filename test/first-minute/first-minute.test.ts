import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { announce } from "../output.ts";
import { packed } from "../package/project.ts";
import { type Registry, startRegistry } from "../package/registry.ts";

// What a newcomer does, on each runtime: create, install, test, start, and place a call. The package comes out of a
// registry on this machine, as if it were published.

const folder = mkdtempSync(join(tmpdir(), "outdial-first-minute-"));
const children = new Set<ChildProcess>();
let registry: Registry;

/** What this machine is, without what npm and vitest tell their own children. */
const surroundings: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) {
  if (value !== undefined && !/^(npm_|INIT_CWD|VITEST)/i.test(name)) surroundings[name] = value;
}

/** The environment of a newcomer who has Node 24, Deno and Bun. */
const environment = (): Record<string, string> => ({
  ...surroundings,
  NODE_ENV: "",
  PATH: [path("test/node_modules/node/bin"), path("test/node_modules/.bin"), process.env.PATH].join(
    delimiter,
  ),
  HOME: folder,
  npm_config_registry: registry.url,
  NPM_CONFIG_REGISTRY: registry.url,
  npm_config_cache: join(folder, "npm"),
  DENO_DIR: join(folder, "deno"),
  BUN_INSTALL_CACHE_DIR: join(folder, "bun"),
  YARN_CACHE_FOLDER: join(folder, "yarn"),
  XDG_CACHE_HOME: join(folder, "cache"),
  XDG_DATA_HOME: join(folder, "data"),
  XDG_STATE_HOME: join(folder, "state"),
  XDG_CONFIG_HOME: join(folder, "config"),
  WRANGLER_SEND_METRICS: "false",
  CI: "1",
});

/** Runs a command of the newcomer, which must succeed. */
const run = async (cwd: string, line: string): Promise<string> => {
  const { code, stdout, stderr } = await execute("sh", ["-c", line], environment(), { cwd });
  expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
  return stdout + stderr;
};

/** Starts a command in a group of its own, and collects what it prints. */
const start = (cwd: string, line: string): (() => string) => {
  const child = spawn("sh", ["-c", line], {
    cwd,
    env: environment(),
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  }
  return () => {
    if (child.exitCode !== null) throw new Error(`${line} ended: ${printed}`);
    return printed;
  };
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

const home = join(folder, "home");

beforeAll(async () => {
  registry = await startRegistry(folder);
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{ "private": true }');
  await run(home, "npm install --no-audit --no-fund outdial");
});

afterAll(() => registry.close());

afterEach(() => {
  for (const { pid } of children) if (pid) process.kill(-pid, "SIGTERM");
  children.clear();
});

/** How each project is installed, tested and started on a port. */
const commands: Readonly<Record<string, { install?: string; test: string; start: string }>> = {
  node: { install: "npm install", test: "npm test", start: "npm start" },
  bun: { install: "bun install", test: "bun test", start: "bun start" },
  deno: { test: "deno test --no-prompt", start: "deno task start" },
  worker: { install: "npm install", test: "npm test", start: "npm start" },
  lambda: {
    install: "npm install",
    test: "npm test",
    start: `npm run build && node --env-file=.env ${path("test/first-minute/function-url.js")}`,
  },
};

const passed = {
  node: /pass 6$/m,
  bun: / 6 pass$/m,
  deno: /6 passed/,
  worker: /pass 6$/m,
  lambda: /pass 6$/m,
};

describe.each(Object.entries(commands))(
  "outdial init --on %s",
  (target, { install, start: serve, test: testing }) => {
    const project = join(home, target);

    test("installs, and its test passes", async () => {
      await run(home, `npx --no -- outdial init ${target} --on ${target}`);
      if (install) await run(project, install);
      const printed = await run(project, testing);
      expect(printed).toMatch(passed[target as keyof typeof passed]);
    });

    test("starts, places a call on the emulator, and receives its notifications", async () => {
      const emulator = start(
        home,
        "node_modules/.bin/outdial emulator --port 0 --json --ring 0 --speed 20",
      );
      await expect.poll(emulator).toMatch(/"type":"started".*\n/);
      const { base_url, api_key } = JSON.parse(emulator().split("\n")[0] ?? "");
      const port = await freePort();
      const url = `http://127.0.0.1:${port}`;
      const settings = {
        OUTDIAL_BASE_URL: base_url,
        OUTDIAL_API_KEY: api_key,
        PUBLIC_URL: url,
        SIGNING_SECRET: crypto.randomUUID(),
        CALL_TOKEN: crypto.randomUUID(),
        PORT: `${port}`,
      };
      const example = readFileSync(join(project, ".env.example"), "utf8");
      const kept = example.split("\n").filter((line) => !(line.split("=")[0] ?? "" in settings));
      writeFileSync(join(project, ".env"), `${kept.join("\n")}\nFROM_NUMBER=+12025550199\n`);
      for (const [name, value] of Object.entries(settings)) {
        appendFileSync(join(project, ".env"), `${name}=${value}\n`);
      }
      const manifest = join(project, "package.json");
      if (target === "worker") {
        const text = readFileSync(manifest, "utf8");
        writeFileSync(manifest, text.replace("--port 3000", `--port ${port}`));
      }
      const application = start(project, serve);
      const isListening = () =>
        fetch(url).then(
          ({ status }) => status,
          () => application(),
        );
      await expect.poll(isListening).toBe(404);
      const response = await fetch(`${url}/call`, {
        method: "POST",
        headers: { authorization: `Bearer ${settings.CALL_TOKEN}` },
        body: JSON.stringify({ to_number: "+12025550100" }),
      });
      expect(response.status, application()).toBe(201);
      const { call_id } = await response.json();
      await expect.poll(application).toContain(`call.completed ${call_id}`);
      for (const type of ["initiated", "ringing", "answered"]) {
        expect(application()).toContain(`call.${type} ${call_id}`);
      }
    });
  },
);

test("a Worker is ready to be deployed, its settings as secrets", async () => {
  const project = join(home, "worker");
  copyFileSync(join(project, ".env.example"), join(project, ".env.production"));
  const printed = await run(project, "npm run deploy -- --dry-run");
  expect(printed).toMatch(/Total Upload/);
  // Neither in what is uploaded as code, nor as variables that anybody with an account can read.
  expect(printed).not.toMatch(/OUTDIAL_API_KEY: ""|Vars/);
});

test("a project that needs nothing else has three packages", () => {
  const names = readdirSync(join(home, "bun/node_modules")).filter((name) => !name.startsWith("."));
  expect(names.sort()).toEqual(["ky", "outdial", "valibot"]);
});

/** How a package manager puts a package into an empty project, runs its command, and tests a project. */
const managers: Readonly<Record<string, { add: string; run: string; test: string }>> = {
  npm: { add: "npm install", run: "npx --no --", test: "npm install && npm test" },
  pnpm: {
    add: "npx --yes pnpm@10 add",
    run: "npx --yes pnpm@10 exec",
    test: "npx --yes pnpm@10 install && npx --yes pnpm@10 test",
  },
  "yarn 1": {
    add: "npx --yes yarn@1 add",
    run: "npx --yes yarn@1 --silent",
    test: "npx --yes yarn@1 install && npx --yes yarn@1 test",
  },
  bun: { add: "bun add", run: "bunx --no-install", test: "bun install && bun run test" },
};

describe.each(Object.entries(managers))("with %s", (name, { add, run: start, test: testing }) => {
  test("a project of a tarball gets that tarball, and not a package of its name", async () => {
    const { tarball } = packed();
    const project = join(folder, `with ${name}`);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "private": true }');
    await run(project, `${add} ${tarball}`);
    const calls = join(folder, `calls ${name}`);
    await run(project, `${start} outdial init "${calls}" --on node`);
    const { dependencies } = JSON.parse(readFileSync(join(calls, "package.json"), "utf8"));
    expect(dependencies.outdial).toBe(`file:${tarball}`);
    expect(await run(calls, testing)).toMatch(passed.node);
  });
});

test("npm install --global of a tarball: it is unknown where that is, and the command says so", async () => {
  const prefix = join(folder, "global");
  await run(home, `npm install --global --prefix ${prefix} ${packed().tarball}`);
  const line = `${prefix}/bin/outdial init ${folder}/unknown --on node`;
  const { code, stderr } = await execute("sh", ["-c", line], environment());
  expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("--package") });
  await run(home, `${line} --package ${packed().tarball}`);
});

/** A test that needs a shell: without it, it is not run, which is printed; in CI every shell must be there. */
const testWith = (shell: string, name: string, work: () => Promise<void>): void => {
  const isMissing = spawnSync(shell, ["-c", ""]).error !== undefined;
  if (isMissing && !process.env.CI) announce(`not run: ${name}: install ${shell}`);
  test.skipIf(isMissing && !process.env.CI)(name, work);
};

describe("outdial completion", () => {
  beforeAll(async () => {
    for (const shell of ["zsh", "fish"]) {
      writeFileSync(
        join(folder, shell),
        await run(home, `npx --no -- outdial completion ${shell}`),
      );
    }
  });

  const fish = (line: string): Promise<string> =>
    run(home, `fish --no-config -c "source ${folder}/fish; complete -C '${line}'"`);

  testWith("fish", "fish completes commands, options, and their values", async () => {
    expect(await fish("outdial em")).toMatch(/^emulator\tRuns the whole/);
    expect(await fish("outdial call --fl")).toMatch(/^--flow\t/);
    expect(await fish("outdial init --on d")).toMatch(/^deno\t/);
    expect(await fish("outdial trigger bu")).toBe("busy\n");
    expect(await fish("outdial --v")).toMatch(/^--version\t/);
    // Only the first word is the command.
    expect(await fish("outdial help init --fo")).toBe("");
    expect(await fish("outdial call --to init --fl")).toMatch(/^--flow\t/);
  });

  testWith("zsh", "zsh takes the script, and completes with it", async () => {
    const script = `autoload -U compinit; compinit -D; source ${folder}/zsh; print $_comps[outdial]`;
    expect(await run(home, `zsh -fc '${script}'`)).toBe("_outdial\n");
  });
});
