import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { version } from "../../package.json";
import { planOf, write } from "../../src/cli/init/files.ts";
import { nameOf, quoted } from "../../src/cli/init/project.ts";
import { installedFrom, sourceOf, specOf } from "../../src/cli/init/source.ts";
import { invoke, startInShell, startOnTerminal } from "./cli.ts";

// What a project has, and that it works: test/package/init.test.ts and test/first-minute.

const newFolder = (): string => mkdtempSync(join(tmpdir(), "outdial-init-"));
const keys = { enter: "\r", down: "\u001b[B", interrupt: "\u0003", end: "\u0004" };
const files = [
  ...["README.md", "package.json", "app.ts", "app.test.ts", ".env.example", ".gitignore"],
  "tsconfig.json",
];
const read = (dir: string, file: string): string => readFileSync(join(dir, file), "utf8");

describe("outdial init", () => {
  it("makes the folder, and prints the result as one line of JSON with --json", async () => {
    const dir = join(newFolder(), "deep/My Calls!");
    const args = ["init", dir, "--on", "node", "--package", "1.2.3", "--json"];
    const { code, stdout } = await invoke(args);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dir,
      on: "node",
      outdial: "1.2.3",
      files,
      overwritten: [],
      extended: [],
      kept: [],
    });
    expect(readdirSync(dir).sort()).toEqual(files.toSorted());
    const { name, dependencies } = JSON.parse(read(dir, "package.json"));
    expect([name, dependencies.outdial]).toEqual(["my-calls", "1.2.3"]);
  });

  it("writes the same files for --template agent, whose settings and packages are those of an agent", async () => {
    const dir = newFolder();
    const args = ["init", dir, "--on", "node", "--template", "agent", "--package", "1.2.3"];
    const { code, stdout } = await invoke([...args, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ on: "node", template: "agent", files });
    expect(read(dir, ".env.example")).toMatch(/^OPENAI_API_KEY=$/m);
    const { dependencies, devDependencies } = JSON.parse(read(dir, "package.json"));
    expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(
      expect.arrayContaining(["ws", "@types/ws", "outdial"]),
    );
  });

  it.each([
    ["twilio", "OUTDIAL_API_KEY"],
    ["telnyx", "OUTDIAL_SIGNATURE_SECRET"],
    ["vonage", "OUTDIAL_SIGNATURE_SECRET"],
  ])(
    "writes as many files for --service %s, whose settings and emulator are the carrier's",
    async (service, verifier) => {
      const dir = newFolder();
      const args = ["init", dir, "--on", "node", "--service", service, "--package", "1.2.3"];
      const { code, stdout } = await invoke([...args, "--json"]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ service, files });
      const settings = read(dir, ".env.example");
      const account = /^OUTDIAL_ACCOUNT=(.+)$/m.exec(settings)?.[1];
      expect(settings).toMatch(new RegExp(`^${verifier}=$`, "m"));
      expect(read(dir, "package.json")).toContain(
        `"outdial emulator --service ${service} --account ${account}"`,
      );
      expect(read(dir, "app.ts")).toContain(`import { ${service} } from "outdial/${service}";`);
      expect(read(dir, "README.md")).toContain(`docs/${service}.md`);
    },
  );

  it.each([
    [
      ["--on", "worker", "--template", "agent"],
      "--template agent needs --on deno, bun, node: one process that keeps the media sockets of its calls",
    ],
    [
      ["--on", "node", "--template", "agents"],
      "--template must be one of reminder, agent (did you mean agent?)",
    ],
    [["--template", "agent"], "--on is missing: deno, bun, node"],
    [["--on", "nod"], "--on must be one of worker, deno, bun, node, lambda (did you mean node?)"],
    [
      ["--on", "node", "--service", "twillio"],
      "--service must be one of twilio, telnyx, vonage (did you mean twilio?)",
    ],
    [[], "--on is missing: worker, deno, bun, node, lambda"],
    [["more"], "too many arguments"],
    [
      ["--on", "node", "--package", "./nothing.tgz"],
      "--package must be a version, the URL of a tarball, or a path that exists",
    ],
  ])("exits 2 for %j, and writes nothing", async (args, reason) => {
    const dir = join(newFolder(), "new");
    const { code, stderr } = await invoke(["init", dir, ...args]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `outdial: ${reason}; see \`outdial help init\`\n`,
    });
    expect(existsSync(dir)).toBe(false);
  });

  it.each([
    ["", "<dir> is empty: leave it out for the current folder"],
    ["a\nb", "<dir> has a control character"],
  ])("refuses the folder %j", async (dir, reason) => {
    expect(await invoke(["init", dir, "--on", "node"])).toMatchObject({
      code: 2,
      stderr: `outdial: ${reason}; see \`outdial help init\`\n`,
    });
  });

  it.each([
    ["calls", "calls"],
    ["it's here", "'it'\\''s here'"],
    ["-on", "./-on"],
    ["-o n", "'./-o n'"],
  ])("says how to go into %j: cd %s", (folder, argument) => {
    expect(quoted(folder)).toBe(argument);
  });
});

describe("outdial init, where files are", () => {
  it("overwrites with --force, says which, and leaves other files alone", async () => {
    const dir = newFolder();
    for (const name of ["app.ts", "README.md", "notes.md"]) writeFileSync(join(dir, name), "mine");
    const { code, stdout } = await invoke(["init", dir, "--on", "bun", "--force"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^created {2}package\.json$/m);
    expect(stdout).toMatch(/^overwritten {2}README\.md$/m);
    expect(stdout).toMatch(/^overwritten {2}app\.ts$/m);
    expect(read(dir, "app.ts")).toContain("createApp");
    expect(read(dir, "notes.md")).toBe("mine");
  });

  it("adds to a new repository: its README stays, and its .gitignore gets what it lacks", async () => {
    const dir = newFolder();
    writeFileSync(join(dir, "README.md"), "mine");
    writeFileSync(join(dir, ".gitignore"), "node_modules\r\n*.log");
    const { code, stdout } = await invoke(["init", dir, "--on", "node", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      overwritten: [],
      extended: [".gitignore"],
      kept: ["README.md"],
    });
    expect(read(dir, "README.md")).toBe("mine");
    expect(read(dir, ".gitignore")).toMatch(/^node_modules\r\n\*\.log\r\ndist\r\n(.+\r\n)+$/);
    expect(read(dir, ".gitignore").split("\r\n")).toContain(".env*");
  });

  it("run twice, refuses what it has written itself", async () => {
    const dir = newFolder();
    await invoke(["init", dir, "--on", "node"]);
    expect(await invoke(["init", dir, "--on", "node"])).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "outdial: package.json, app.ts, app.test.ts, .env.example, tsconfig.json exist, and nothing was written: " +
        "name a new folder, or pass --force to overwrite\n",
    });
  });

  it("refuses a link to nothing, and with --force replaces a link instead of following it", async () => {
    const dir = newFolder();
    const elsewhere = join(newFolder(), "elsewhere");
    symlinkSync(elsewhere, join(dir, "app.ts"));
    expect(await invoke(["init", dir, "--on", "bun"])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^outdial: app\.ts exists, and nothing was written/),
    });
    expect(readdirSync(dir)).toEqual(["app.ts"]);
    expect(await invoke(["init", dir, "--on", "bun", "--force"])).toMatchObject({ code: 0 });
    expect(lstatSync(join(dir, "app.ts")).isFile()).toBe(true);
    expect(existsSync(elsewhere)).toBe(false);
  });

  it("writes nothing where a folder has the name of a file, also with --force", async () => {
    const dir = newFolder();
    mkdirSync(join(dir, "app.test.ts"));
    expect(await invoke(["init", dir, "--on", "bun", "--force"])).toMatchObject({
      code: 1,
      stderr: "outdial: app.test.ts is a folder, and nothing was written\n",
    });
    expect(readdirSync(dir)).toEqual(["app.test.ts"]);
  });

  it("does not overwrite a file that somebody else has written meanwhile", async () => {
    const dir = newFolder();
    const plan = await planOf(dir, { "a.ts": "ours", "b.ts": "ours" }, false);
    writeFileSync(join(dir, "b.ts"), "theirs");
    await expect(write(dir, plan)).rejects.toThrow("b.ts exists by now, and nothing was written");
    expect(readdirSync(dir)).toEqual(["b.ts"]);
    expect(read(dir, "b.ts")).toBe("theirs");
  });
});

describe("outdial init, where nothing can be written", () => {
  it.each([
    ["file/sub", "a part of its path is a file (ENOTDIR)"],
    ["file", "a file has its name (EEXIST)"],
    [`${"long".repeat(100)}/sub`, "its name is too long (ENAMETOOLONG)"],
  ])("says why: %s", async (name, reason) => {
    const parent = newFolder();
    writeFileSync(join(parent, "file"), "");
    expect(await invoke(["init", join(parent, name), "--on", "bun"])).toEqual({
      code: 1,
      stdout: "",
      stderr: `outdial: the folder cannot be written: ${reason}; nothing was written\n`,
    });
    expect(readdirSync(parent)).toEqual(["file"]);
  });

  it("leaves nothing where a disk is full: a limit of 512 bytes a file stands for it", async () => {
    const parent = newFolder();
    const args = ["init", join(parent, "new/project"), "--on", "bun", "--package", "1.2.3"];
    // A shell that has the limit becomes the command.
    const { code, stdout, stderr } = await startInShell("node", args, {}, "", "ulimit -f 1").ended;
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: "",
      stderr:
        "outdial: README.md cannot be written: the limit of a file's size is reached (EFBIG); nothing was written\n",
    });
    expect(readdirSync(parent)).toEqual([]);
  });
});

describe("outdial init, on a terminal", () => {
  it("asks for what is missing, and before it overwrites", async () => {
    const dir = newFolder();
    writeFileSync(join(dir, "app.ts"), "mine");
    const { child, says, ended } = startOnTerminal(["init", dir], {});
    await says(/Where will it run\?/);
    child.stdin?.write(keys.down);
    await says(/● .*Deno/);
    child.stdin?.write(keys.down);
    await says(/● .*Bun/);
    child.stdin?.write(keys.enter);
    await says(/app\.ts exists\. Overwrite\?/);
    child.stdin?.write(keys.enter); // No, by default.
    expect(await ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("nothing was written"),
    });
    expect(readdirSync(dir)).toEqual(["app.ts"]);
    expect(read(dir, "app.ts")).toBe("mine");
  });

  it.each([keys.interrupt, keys.end])("takes ~ as a shell does, and ends after %j", async (key) => {
    const home = newFolder();
    const { child, says, ended } = startOnTerminal(["init", "--package", "1.2.3"], { HOME: home });
    await says(/In which folder\?/);
    child.stdin?.write(" ~/calls \r");
    await says(/Where will it run\?/);
    child.stdin?.write(keys.enter);
    expect(await ended).toMatchObject({ code: 0 });
    expect(readdirSync(home)).toEqual(["calls"]);
    const again = startOnTerminal(["init", join(home, "calls")], {});
    await again.says(/Where will it run\?/);
    again.child.stdin?.write(key);
    expect(await again.ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("canceled: nothing was written"),
    });
  });
});

describe("the name of a new project", () => {
  it.each([
    ["My Calls!", "my-calls"],
    ["Grüße.2", "gru-e-2"],
    ["звонки", "calls"],
    ["node_modules", "node-modules"],
    ["--", "calls"],
    // npm installs no package into itself.
    ["outdial", "outdial-calls"],
    ["x".repeat(200), "x".repeat(50)],
  ])("of %j is %s", (folder, name) => {
    expect(nameOf(join("/some", folder))).toBe(name);
    expect(nameOf(`/some/${folder}/.`)).toBe(name);
  });
});

describe("what a new project installs as outdial", () => {
  /** A project in which a package manager has installed outdial, and where it has put it. */
  const installed = (
    manifest: object,
    where = "node_modules/outdial",
    own: object = {},
  ): { project: string; folder: string } => {
    const project = newFolder();
    const folder = join(project, where);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
    writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "outdial", ...own }));
    writeFileSync(join(project, "outdial.tgz"), "");
    return { project, folder };
  };
  const pnpm = "node_modules/.pnpm/outdial@file+outdial.tgz/node_modules/outdial";
  const range = { kind: "registry", range: `^${version}` };

  it.each([
    ["npm", "file:outdial.tgz", "node_modules/outdial"],
    ["pnpm", "file:./outdial.tgz", pnpm],
    ["yarn", "./outdial.tgz", "node_modules/outdial"],
    ["yarn, with a file: URL", "file:./outdial.tgz", ".yarn/cache/o.zip/node_modules/outdial"],
    ["bun", "outdial.tgz", "node_modules/outdial"],
  ])("is the tarball that %s has installed", (_, spec, where) => {
    for (const list of ["dependencies", "devDependencies"]) {
      const { project, folder } = installed({ [list]: { outdial: spec } }, where);
      const source = installedFrom(folder);
      expect(source).toEqual({ kind: "file", path: join(project, "outdial.tgz") });
      expect(source && specOf(source)).toBe(`file:${project}/outdial.tgz`);
    }
  });

  it("is the tarball that npm has installed without naming it", () => {
    const { project, folder } = installed({});
    const resolved = { "node_modules/outdial": { resolved: "file:outdial.tgz" } };
    const lock = join(project, "node_modules/.package-lock.json");
    writeFileSync(lock, JSON.stringify({ packages: resolved }));
    expect(installedFrom(folder)).toEqual({ kind: "file", path: join(project, "outdial.tgz") });
  });

  it("is the version of a registry, where the package manager has got it from one", () => {
    for (const spec of ["^0.0.1", "latest", ">=0.0.1 <9 || *", "~0.0.1", "npm:outdial@^0.0.1"]) {
      expect(installedFrom(installed({ dependencies: { outdial: spec } }).folder)).toEqual(range);
    }
  });

  it("is the version of a registry for a release, which names its repository, wherever it is", () => {
    const release = { repository: { type: "git", url: "git+https://github.test/a/b.git" } };
    expect(installedFrom(installed({}, "lib/node_modules/outdial", release).folder)).toEqual(range);
  });

  it("is unknown otherwise: the name on a registry may be somebody else's", () => {
    expect(installedFrom(installed({}, "lib/node_modules/outdial").folder)).toBeUndefined();
    for (const spec of ["workspace:*", "catalog:", "github:a/b", "file:gone.tgz"]) {
      const { folder } = installed({ dependencies: { outdial: spec } });
      expect(installedFrom(folder)).toBeUndefined();
    }
  });

  it("is a clone, where the command is part of one", () => {
    const { folder } = installed({}, "clone");
    mkdirSync(join(folder, "src"));
    expect(installedFrom(folder)).toEqual({ kind: "file", path: folder });
  });

  it("is what --package names: a path counts from the current folder, not from the project", () => {
    const { project } = installed({});
    const tarball = { kind: "file", path: join(project, "outdial.tgz") };
    const above = `../${basename(project)}/outdial.tgz`;
    for (const spec of ["outdial.tgz", "./outdial.tgz", above, `file:${project}/outdial.tgz`]) {
      expect(sourceOf(spec, project)).toEqual(tarball);
    }
    expect(sourceOf("https://host.test/o.tgz", project)).toEqual({
      kind: "url",
      url: "https://host.test/o.tgz",
    });
    expect(sourceOf("1.2.3", project)).toEqual({ kind: "registry", range: "1.2.3" });
    for (const spec of ["../gone.tgz", "a b/c", "$(x)", "git+ssh://a/b"]) {
      expect(sourceOf(spec, project)).toBeUndefined();
    }
  });
});
