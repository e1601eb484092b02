import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commands } from "../../src/cli/run.ts";
import { scenarios } from "../../src/emulator/index.ts";
import { invoke } from "./cli.ts";

// zsh and fish themselves complete in test/first-minute.

const folder = mkdtempSync(join(tmpdir(), "outdial-completion-"));
const scripts: Record<string, string> = {};

beforeAll(async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout, stderr } = await invoke(["completion", shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    scripts[shell] = stdout;
    writeFileSync(join(folder, shell), stdout);
  }
});

/** What bash completes for words on the command line; the last one is under the cursor. */
const bash = (...words: readonly string[]): string[] => {
  const line = ["outdial", ...words].map((word) => `'${word}'`).join(" ");
  const script = `source ${folder}/bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _outdial; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync("bash", ["-c", script], { encoding: "utf8" }).split("\n").filter(Boolean);
};

describe("outdial completion bash", () => {
  it("completes commands", () => {
    expect(bash("")).toEqual([...Object.keys(commands), "help"]);
    expect(bash("c")).toEqual(["call", "completion"]);
    expect(bash("help", "em")).toEqual(["emulator"]);
    expect(bash("-")).toEqual(["--help", "--version"]);
  });

  it.each(Object.entries(commands))("completes every option of %s", async (name, { load }) => {
    const { flags } = (await load()).command;
    expect(bash(name, "--")).toEqual(["help", ...Object.keys(flags)].map((flag) => `--${flag}`));
  });

  it("completes the values of options and arguments that have a list", () => {
    expect(bash("init", "--on", "")).toEqual(["worker", "deno", "bun", "node", "lambda"]);
    expect(bash("init", "x", "--on", "d")).toEqual(["deno"]);
    // As bash itself takes `--on=` and `--on=d` apart.
    expect(bash("init", "--on", "=")).toEqual(["worker", "deno", "bun", "node", "lambda"]);
    expect(bash("init", "--on", "=", "d")).toEqual(["deno"]);
    expect(bash("init", "--on", "=", "deno", "--f")).toEqual(["--force"]);
    expect(bash("completion", "")).toEqual(["bash", "zsh", "fish"]);
    expect(bash("trigger", "")).toEqual(scenarios.map(({ name }) => name));
  });

  it("leaves everything else to the completion of files", () => {
    expect(bash("dial", "peo")).toEqual([]);
    expect(bash("dial", "--do-not-call", "do")).toEqual([]);
    expect(bash("dial", "--do-not-call", "=", "do")).toEqual([]);
    expect(bash("init", '"my calls')).toEqual([]);
    expect(scripts.bash).toContain("complete -o default -F _outdial outdial");
  });
});

describe("outdial completion zsh", () => {
  it("has each command and each option, with their help", async () => {
    for (const [name, { load }] of Object.entries(commands)) {
      expect(scripts.zsh).toContain(`'${name}:`);
      for (const flag of Object.keys((await load()).command.flags)) {
        expect(scripts.zsh).toMatch(new RegExp(`'\\*--${flag}=?\\[`));
      }
    }
    expect(scripts.zsh).toContain(":value:(worker deno bun node lambda)'");
  });
});

describe("outdial completion fish", () => {
  it("has each command and each option, with their help", async () => {
    for (const [name, { load }] of Object.entries(commands)) {
      expect(scripts.fish).toContain(` -a ${name} -d '`);
      for (const flag of Object.keys((await load()).command.flags)) {
        const inside = `'__outdial_in ${name}' -l ${flag} `;
        expect(scripts.fish).toContain(inside);
      }
    }
  });
});

it("outdial completion refuses another shell", async () => {
  expect(await invoke(["completion", "fihs"])).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "outdial: the shell must be bash, zsh, fish (did you mean fish?); see `outdial help completion`\n",
  });
});
