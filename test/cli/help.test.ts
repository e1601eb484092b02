import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/run.ts";
import { invoke, outdial, runtimes } from "./cli.ts";

const names = Object.keys(commands);

describe.each(runtimes)("outdial, under %s", (runtime) => {
  it("lists every command", async () => {
    const { stdout } = await outdial(runtime, ["help"]);
    for (const [name, { summary }] of Object.entries(commands)) {
      expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
      expect(stdout).toContain(summary);
    }
  });
});

describe("outdial help", () => {
  it.each(Object.entries(commands))(
    "%s names every option and every exit code",
    async (name, { summary, load }) => {
      const { flags, args = [], exits } = (await load()).command;
      const { stdout } = await invoke(["help", name]);
      expect(stdout).toMatch(new RegExp(`^outdial ${name}\\b`));
      expect(stdout).toContain(summary);
      for (const arg of args) {
        const text = arg.endsWith("?") ? `[${arg.slice(0, -1)}]` : `<${arg.replace("…", "")}>`;
        expect(stdout).toContain(text);
      }
      for (const [flag, { help }] of Object.entries(flags)) {
        expect(stdout).toMatch(new RegExp(`^ +--${flag}\\b`, "m"));
        expect(stdout).toContain(help);
      }
      for (const meaning of Object.values(exits)) expect(stdout).toContain(meaning);
    },
  );

  it.each(Object.entries(commands))(
    "%s has one example, of its own options",
    async (name, { load }) => {
      const { flags } = (await load()).command;
      const { stdout } = await invoke(["help", name]);
      const [example = "", ...others] = stdout.split(/^Example\n/m).slice(1);
      expect(others).toEqual([]);
      expect(example).toMatch(new RegExp(`^    outdial ${name}\\b`));
      const [lines = ""] = example.split("\n\n");
      const named = [...lines.matchAll(/--([\w-]+)/g)].map(([, flag = ""]) => flag);
      expect(Object.keys(flags)).toEqual(expect.arrayContaining(named));
      for (const [flag, { required }] of Object.entries(flags)) {
        if (required) expect(named).toContain(flag);
      }
    },
  );

  it("is printed for --help and -h anywhere", async () => {
    const help = await invoke(["help", "call"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(await invoke(["call", "--from", "--help"])).toEqual(help);
    expect(await invoke(["call", "-h"])).toEqual(help);
  });

  it("suggests the nearest command", async () => {
    expect(await invoke(["cal"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "outdial: there is no such command (did you mean call?); see `outdial help`\n",
    });
  });

  it("fits on a terminal of 100 columns", async () => {
    for (const name of ["", ...names]) {
      const { stdout } = await invoke(["help", ...(name ? [name] : [])]);
      const long = stdout.split("\n").filter((line) => line.length > 100);
      expect(long).toEqual([]);
    }
  });

  it("is printed without a command", async () => {
    const help = await invoke(["help"]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(await invoke([])).toEqual(help);
  });

  it.each([[["constructor"]], [["help", "constructor"]], [["xxxxxxxxxxxx"]]])(
    "exits 2 for the command %j, without a guess",
    async (args) => {
      const { code, stderr } = await invoke(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^outdial: there is no such command; see `outdial help`\n$/);
    },
  );

  it("prints a failure as one line of JSON where --json is among the arguments", async () => {
    const { code, stdout, stderr } = await invoke(["call", "--json", "--to", "secret"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: { name: "UsageError", message: "--from is missing", exit: 2 },
    });
  });
});

describe("an old version of Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "outdial-"));

  it.each(["18.20.4", "20.20.2", "22.9.0"])(
    "%s is shown in one line what to type",
    async (version) => {
      const preload = join(folder, `node-${version}.mjs`);
      writeFileSync(
        preload,
        `Object.defineProperty(process.versions, "node", { value: "${version}" });`,
      );
      const ended = await outdial("node", ["--version"], {}, { preload });
      expect(ended).toMatchObject({ code: 2, stdout: "" });
      expect(ended.stderr).toMatch(
        new RegExp(
          `^outdial: it needs Node 22\\.13 or later, and this is Node ${version}: npx [^\\n]+\\n$`,
        ),
      );
    },
  );
});
