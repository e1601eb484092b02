import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { install, packed } from "./project.ts";
import { type Registry, startRegistry } from "./registry.ts";

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

const main: Readonly<Record<string, readonly string[]>> = {
  worker: ["package.json", "wrangler.toml"],
  deno: ["deno.json", "main.ts"],
  bun: ["main.ts", "package.json"],
  node: ["main.ts", "package.json"],
  lambda: ["handler.ts", "package.json"],
};
const targets = Object.keys(main);

let registry: Registry;

beforeAll(async () => {
  registry = await startRegistry(temporary);
  for (const target of targets) {
    const source = target === "deno" ? ["--package", "^0.1.0"] : [];
    const { code, stdout, stderr } = await init(target, "--on", target, ...source);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`cd ${target}\n`);
  }
});

afterAll(() => registry.close());

describe.each(targets)("outdial init --on %s", (target) => {
  test("writes six files", () => {
    const common = [".env.example", ".gitignore", "app.test.ts", "app.ts"];
    expect(readdirSync(join(project, target)).sort()).toEqual(
      [...common, ...(main[target] ?? [])].sort(),
    );
  });

  test("writes no key and no secret, and git ignores the file that will have them", () => {
    const settings = read(target, ".env.example");
    for (const name of ["OUTDIAL_API_KEY", "SIGNING_SECRET", "CALL_TOKEN"]) {
      expect(settings).toMatch(new RegExp(`^${name}=$`, "m"));
    }
    expect(read(target, ".gitignore").split("\n")).toContain(".env");
    for (const file of readdirSync(join(project, target))) {
      expect(read(target, file)).not.toMatch(/\bak_|whsec_|[0-9a-f]{32}/);
    }
  });
});

test("the Worker imports the client without ky, and every other project the default one", () => {
  for (const target of targets) {
    const entry = target === "worker" ? "outdial/fetch" : "outdial";
    expect(read(target, "app.ts"), target).toContain(`} from "${entry}";`);
  }
});

test.each(targets.filter((target) => target !== "deno"))(
  "a project for %s installs the same outdial as the command: from this tarball",
  (target) => {
    const { name, dependencies } = JSON.parse(read(target, "package.json"));
    expect(name).toBe(target);
    const from = dependencies.outdial.replace("file:", "");
    expect(existsSync(from) && readFileSync(from).equals(readFileSync(packed().tarball))).toBe(
      true,
    );
  },
);

test("Deno takes no tarball, and is told so before anything is written", async () => {
  expect(await init("other", "--on", "deno")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("pass --package"),
  });
  expect(existsSync(join(project, "other"))).toBe(false);
});

test("what is there is not overwritten, and is named", async () => {
  const before = read("node", "app.ts");
  const { code, stdout, stderr } = await init("node", "--on", "worker");
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toBe(
    "outdial: package.json, app.ts, app.test.ts, .env.example, .gitignore exist, and nothing was written; " +
      "--force overwrites\n",
  );
  expect(read("node", "app.ts")).toBe(before);
  expect(existsSync(join(project, "node/wrangler.toml"))).toBe(false);
});

describe("the test of the new project passes", () => {
  test.each([
    ["node", bin("node"), ["--test", "--test-reporter=tap"], /^# pass 4$/m],
    ["bun", bin("bun"), ["test"], /^ 4 pass$/m],
  ])("on %s", async (target, command, args, passed) => {
    const cwd = join(project, target);
    const { code, stdout, stderr } = await execute(command, args, {}, { cwd });
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(passed);
  });

  test("on Deno, with the package out of a registry", async () => {
    const cwd = mkdtempSync(join(tmpdir(), "outdial-deno-"));
    // Without a folder above it in which npm has installed something.
    const created = await init(cwd, "--on", "deno", "--package", "^0.1.0");
    expect(created.code).toBe(0);
    const { code, stdout, stderr } = await execute(
      bin("deno"),
      ["test", "--no-prompt"],
      { NPM_CONFIG_REGISTRY: registry.url, DENO_DIR: join(temporary, "deno") },
      { cwd },
    );
    expect(code, stdout + stderr).toBe(0);
    expect(stdout).toContain("4 passed");
  });
});
