import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { signUrl } from "../../src/callbacks/index.ts";
import { execute, path, tsc } from "../examples/execute.ts";
import { install, packed } from "./project.ts";

// `npm run first-minute` installs and starts each of them, too.

const bin = (name: string): string => path(`test/node_modules/.bin/${name}`);
const project = install();
const temporary = mkdtempSync(join(tmpdir(), "outdial-init-"));

/** `outdial init` of the installed package, under Node 24. */
const init = (...args: readonly string[]) =>
  execute(
    bin("node"),
    // Where npm has installed it, beside the tarball.
    [join(packed().project, "node_modules/outdial/dist/cli/main.js"), "init", ...args],
    {},
    { cwd: project },
  );

const read = (target: string, file: string): string =>
  readFileSync(join(project, target, file), "utf8");

const targets = ["worker", "deno", "bun", "node", "lambda"];
const { version } = JSON.parse(readFileSync(path("package.json"), "utf8"));

beforeAll(async () => {
  // What else the projects install.
  for (const name of [
    ...["node_modules/@hono/node-server", "node_modules/@types/node", "node_modules/undici-types"],
    ...["node_modules/ws", "node_modules/@types/ws"],
    "test/node_modules/@cloudflare/workers-types",
  ]) {
    const installed = join(project, name.replace("test/", ""));
    mkdirSync(dirname(installed), { recursive: true });
    symlinkSync(path(name), installed);
  }
  for (const target of targets) {
    const { code, stdout, stderr } = await init(target, "--on", target);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`cd ${target}\n`);
  }
});

const isTyped = (target: string): boolean => target === "node" || target === "worker";

describe.each(targets)("outdial init --on %s", (target) => {
  const manifest = target === "deno" ? "deno.json" : "package.json";
  const types = isTyped(target) ? ["tsconfig.json"] : [];
  const six = [
    ".env.example",
    ".gitignore",
    "README.md",
    "app.test.ts",
    "app.ts",
    manifest,
    ...types,
  ];

  test("writes six files, and on Node and Workers what its types are checked by", () => {
    expect(readdirSync(join(project, target)).sort()).toEqual(six);
  });

  test("writes no key and no secret, and git ignores the files that will have them", () => {
    const settings = read(target, ".env.example");
    for (const name of ["OUTDIAL_API_KEY", "SIGNING_SECRET", "CALL_TOKEN"]) {
      expect(settings).toMatch(new RegExp(`^${name}=$`, "m"));
    }
    expect(read(target, ".gitignore").split("\n")).toContain(".env*");
    for (const file of six) expect(read(target, file)).not.toMatch(/\bak_|whsec_|[0-9a-f]{32}/);
  });

  test("explains in README each file, each setting's file, and only scripts and pages that exist", () => {
    const readme = read(target, "README.md");
    expect(readme).not.toMatch(/\{\w+\}|undefined/);
    for (const file of six.filter((name) => name !== "README.md")) {
      expect(readme).toContain(`| \`${file}\` | `);
    }
    const { scripts, tasks } = JSON.parse(read(target, manifest));
    const run = /\b(?:npm|bun|deno)(?: run| task)? (emulator|start|test|build|deploy)\b/g;
    const named = new Set([...readme.matchAll(run)].map(([, name = ""]) => name));
    expect(Object.keys(scripts ?? tasks)).toEqual(expect.arrayContaining([...named]));
    expect([...named]).toContain("test");
    const pages = [...readme.matchAll(/node_modules\/outdial\/(docs\/[\w-]+\.md)/g)];
    expect(pages.length).toBeGreaterThan(2);
    for (const [, page = ""] of pages) expect(packed().files).toContain(page);
  });

  test("has a workflow in README that installs and tests as its first lines do", () => {
    const readme = read(target, "README.md");
    const [, workflow = ""] = /^```yaml\n(.+?)^```/ms.exec(readme) ?? [];
    const runs = [...workflow.matchAll(/- run: (.+)$/gm)].map(([, command]) => command);
    expect(runs.length).toBe(2);
    const typed = [...readme.matchAll(/^[12]\. `([^`]+)`/gm)].map(([, command]) => command);
    expect(typed.slice(0, 2)).toEqual(runs);
  });

  test("installs the same outdial as the command, from this tarball, and says that nobody else has it", () => {
    const spec = `file:${packed().tarball}`;
    if (target === "deno") {
      const install = `\`npm install --no-save --prefix . ${packed().tarball} @types/node\``;
      expect(read(target, "README.md")).toContain(install);
      expect(JSON.parse(read(target, manifest)).nodeModulesDir).toBe("manual");
    } else {
      const { name, dependencies } = JSON.parse(read(target, manifest));
      expect([name, dependencies.outdial]).toEqual([target, spec]);
    }
    expect(read(target, "README.md")).toContain(
      `outdial is installed from \`${packed().tarball}\`, which no other machine has.`,
    );
  });
});

test("the Worker imports the client without ky, and every other project the default one", () => {
  for (const target of targets) {
    const entry = target === "worker" ? "outdial/fetch" : "outdial";
    expect(read(target, "app.ts"), target).toContain(`} from "${entry}";`);
  }
});

test("what is there is not overwritten, and is named", async () => {
  const before = read("node", "app.ts");
  const { code, stdout, stderr } = await init("node", "--on", "worker");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "outdial: package.json, app.ts, app.test.ts, .env.example, tsconfig.json exist, and nothing was written: " +
      "name a new folder, or pass --force to overwrite\n",
  );
  expect(read("node", "app.ts")).toBe(before);
});

describe("the test of the new project passes", () => {
  test.each([
    ["node", bin("node"), ["--test", "--test-reporter=tap"], /^# pass 6$/m],
    ["bun", bin("bun"), ["test"], /^ 6 pass$/m],
  ])("on %s", async (target, command, args, passed) => {
    const cwd = join(project, target);
    const { code, stdout, stderr } = await execute(command, args, {}, { cwd });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(passed);
  });

  const deno = async (args: readonly string[], cwd: string) => {
    // Nothing is downloaded.
    const env = { NPM_CONFIG_REGISTRY: "http://127.0.0.1:9", DENO_DIR: join(temporary, "none") };
    const { code, stdout, stderr } = await execute(bin("deno"), args, env, { cwd });
    expect(code, stdout + stderr).toBe(0);
    return stdout;
  };

  const testOnDeno = (target: string, ...options: readonly string[]) => {
    const cwd = join(project, target);
    symlinkSync(join(project, "node_modules"), join(cwd, "node_modules"));
    return deno(["test", "--no-prompt", ...options], cwd);
  };

  test("on Deno, with what npm has installed", async () => {
    expect(await testOnDeno("deno")).toContain("6 passed");
  });

  const services = ["twilio", "telnyx", "vonage"];

  const makeFor = async (service: string, target: string, name: string): Promise<string> => {
    const { code, stderr } = await init(name, "--on", target, "--service", service);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    return name;
  };

  test("on Deno, the types hold with each --service", async () => {
    const folders = await Promise.all(
      services.map((service) => makeFor(service, "deno", `${service}-types`)),
    );
    await deno(["check", "--node-modules-dir=manual", ...folders], project);
  });

  describe.each(services)("with --service %s", (service) => {
    const make = (target: string) => makeFor(service, target, `${service}-${target}`);

    test("on Node, and its types hold", async () => {
      const cwd = join(project, await make("node"));
      const { code, stdout } = await execute(bin("node"), ["--test"], {}, { cwd });
      expect(code, stdout).toBe(0);
      expect(await tsc([], cwd)).toMatchObject({ code: 0, stdout: "" });
    });

    test("on Bun", async () => {
      const cwd = join(project, await make("bun"));
      const { code, stdout, stderr } = await execute(bin("bun"), ["test"], {}, { cwd });
      expect(code, stdout + stderr).toBe(0);
      expect(stdout + stderr).toMatch(/^ 7 pass$/m);
    });

    test("on Deno", async () => {
      expect(await testOnDeno(await make("deno"), "--no-check")).toContain("7 passed");
    });
  });
});

describe("outdial init --template agent", () => {
  const runs = {
    node: [bin("node"), "--test", "--test-reporter=tap"],
    bun: [bin("bun"), "test"],
    deno: [bin("deno"), "test", "--no-prompt", "--no-check"],
  } as const;
  const services = ["own", "twilio", "telnyx", "vonage"];

  const makeAgent = async (on: string, service: string, name: string): Promise<string> => {
    const given = service === "own" ? [] : ["--service", service];
    const made = await init(name, "--on", on, "--template", "agent", ...given);
    expect(made).toMatchObject({ code: 0, stderr: "" });
    const folder = join(project, name);
    if (on === "deno") symlinkSync(join(project, "node_modules"), join(folder, "node_modules"));
    return folder;
  };

  const testIn = (on: keyof typeof runs, cwd: string) => {
    const [command, ...args] = runs[on];
    const env = { NPM_CONFIG_REGISTRY: "http://127.0.0.1:9", DENO_DIR: join(temporary, "none") };
    return execute(command, args, env, { cwd });
  };

  test.each(services)(
    "with the service %s its test passes on Node, and its types hold",
    async (service) => {
      const folder = await makeAgent("node", service, `agent-node-${service}`);
      const { code, stdout } = await testIn("node", folder);
      expect(code, stdout).toBe(0);
      expect(stdout).toMatch(/^# pass 4$/m);
      expect(await tsc([], folder)).toMatchObject({ code: 0, stdout: "" });
    },
  );

  test.each(["bun", "deno"] as const)("its test passes on %s", async (on) => {
    const { code, stdout, stderr } = await testIn(on, await makeAgent(on, "own", `agent-${on}`));
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(/\b4 pass/);
  });

  test.each([
    [
      "it talks over the caller",
      "{ ...accepted, onEnd }",
      "{ ...accepted, onEnd, interruptAfter: 10_000 }",
    ],
    ["Monday at nine", 'textIn(args, "time")', 'textIn(args, "hour")'],
    ["connected to the desk", "transfers.set(call_id, action)", "transfers.has(call_id)"],
  ])("its test fails where the application is broken: %s", async (why, right, wrong) => {
    const folder = await makeAgent("node", "own", `agent-broken-${why.length}`);
    const app = readFileSync(join(folder, "app.ts"), "utf8");
    expect(app).toContain(right);
    writeFileSync(join(folder, "app.ts"), app.replace(right, wrong));
    const { code, stdout } = await testIn("node", folder);
    expect(code).toBe(1);
    expect(stdout).toContain(why);
    expect(stdout).toMatch(/^# fail 1$/m);
  });

  test.each(["node", "bun", "deno"] as const)(
    "its server on %s takes a media socket whose URL is signed, and no other one",
    async (on) => {
      const folder = await makeAgent(on, "own", `agent-server-${on}`);
      const secret = "a secret of a test of init";
      const settings = {
        ...{ PORT: "0", PUBLIC_URL: "http://127.0.0.1:9", SIGNING_SECRET: secret },
        ...{ OUTDIAL_BASE_URL: "http://127.0.0.1:9", OUTDIAL_API_KEY: "ak_1", CALL_TOKEN: "token" },
        ...{ FROM_NUMBER: "+12025550199", DESK_NUMBER: "+12025550100", OPENAI_API_KEY: "sk-1" },
        ...{ NO_COLOR: "1", DENO_DIR: join(temporary, "none") },
      };
      const args = on === "deno" ? ["run", "--no-check", "--allow-env", "--allow-net"] : [];
      const server = spawn(bin(on), [...args, "app.ts"], { cwd: folder, env: settings });
      onTestFinished(() => void server.kill());
      const url = await new Promise<string>((resolve) => {
        const printed = (text: unknown) => {
          const [, port] = /127\.0\.0\.1:(\d+)/.exec(String(text)) ?? [];
          if (port) resolve(`ws://127.0.0.1:${port}/media`);
        };
        for (const stream of [server.stdout, server.stderr]) stream.on("data", printed);
      });
      const answered = async (given: string) => {
        const socket = new WebSocket(given);
        const opened = once(socket, "open").then(() => "open");
        const answer = await opened.catch((error: Error) => error.message);
        socket.terminate();
        return answer;
      };
      expect(await answered(await signUrl(url, { secret }))).toBe("open");
      expect(await answered(url)).toContain("401");
    },
  );
});

test.each(["node", "worker"])(
  "on %s, the types of the new project hold, by its own tsconfig.json",
  async (target) => {
    const tsc = path("node_modules/typescript/bin/tsc");
    const cwd = join(project, target);
    const { code, stdout } = await execute(bin("node"), [tsc], {}, { cwd });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
  },
);

test("a project of a release takes that version from a registry, and Deno does without npm", async () => {
  const range = `^${version}`;
  for (const target of ["node", "deno"]) {
    const folder = join(temporary, target);
    const { code, stdout } = await init(folder, "--on", target, "--package", range);
    expect(code).toBe(0);
    expect(stdout.includes("npm install")).toBe(target === "node");
    expect(readFileSync(join(folder, "README.md"), "utf8")).not.toContain("no other machine");
  }
  const { dependencies } = JSON.parse(readFileSync(join(temporary, "node/package.json"), "utf8"));
  expect(dependencies.outdial).toBe(range);
  const deno = JSON.parse(readFileSync(join(temporary, "deno/deno.json"), "utf8"));
  expect(deno).toMatchObject({
    imports: { outdial: `npm:outdial@${range}` },
    nodeModulesDir: "auto",
    tasks: { emulator: expect.stringContaining(`'npm:outdial@${range}' emulator`) },
  });
});
