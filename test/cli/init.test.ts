import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { invoke, startOnTerminal } from "./cli.ts";

// What a project has, and that it works: test/package/init.test.ts and test/first-minute.

const newFolder = (): string => mkdtempSync(join(tmpdir(), "outdial-init-"));
const keys = { enter: "\r", down: "\u001b[B", interrupt: "\u0003" };

describe("outdial init", () => {
  it("makes the folder, and prints the result as one line of JSON with --json", async () => {
    const dir = join(newFolder(), "deep/My Calls!");
    const { code, stdout } = await invoke([
      "init",
      dir,
      "--on",
      "node",
      "--package",
      "1.2.3",
      "--json",
    ]);
    const files = [
      "package.json",
      "main.ts",
      "app.ts",
      "app.test.ts",
      ".env.example",
      ".gitignore",
    ];
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      dir,
      on: "node",
      outdial: "1.2.3",
      files,
      overwritten: [],
    });
    expect(readdirSync(dir).sort()).toEqual(files.sort());
    const { name, dependencies } = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
    expect([name, dependencies.outdial]).toEqual(["my-calls", "1.2.3"]);
  });

  it.each([
    [["--on", "nod"], "--on must be one of worker, deno, bun, node, lambda (did you mean node?)"],
    [[], "--on is missing: worker, deno, bun, node, lambda"],
    [["more"], "too many arguments"],
  ])("exits 2 for %j, and writes nothing", async (args, reason) => {
    const dir = join(newFolder(), "new");
    const { code, stderr } = await invoke(["init", dir, ...args]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `outdial: ${reason}; see \`outdial help init\`\n`,
    });
    expect(existsSync(dir)).toBe(false);
  });

  it("overwrites with --force, says which, and leaves other files alone", async () => {
    const dir = newFolder();
    writeFileSync(join(dir, "app.ts"), "mine");
    writeFileSync(join(dir, "notes.md"), "mine");
    const { code, stdout } = await invoke(["init", dir, "--on", "bun", "--force"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^created {2}package\.json$/m);
    expect(stdout).toMatch(/^overwritten {2}app\.ts$/m);
    expect(readFileSync(join(dir, "app.ts"), "utf8")).toContain("createApp");
    expect(readFileSync(join(dir, "notes.md"), "utf8")).toBe("mine");
  });

  it("names the file that cannot be written", async () => {
    const file = join(newFolder(), "file");
    writeFileSync(file, "");
    const { code, stderr } = await invoke(["init", join(file, "sub"), "--on", "bun"]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "outdial: the folder cannot be written: ENOTDIR\n",
    });
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
    expect(readFileSync(join(dir, "app.ts"), "utf8")).toBe("mine");
  });

  it("writes nothing after ctrl-C", async () => {
    const dir = join(newFolder(), "new");
    const { child, says, ended } = startOnTerminal(["init", dir], {});
    await says(/Where will it run\?/);
    child.stdin?.write(keys.interrupt);
    expect(await ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("canceled: nothing was written"),
    });
    expect(existsSync(dir)).toBe(false);
  });
});
