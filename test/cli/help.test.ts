import { describe, expect, it } from "vitest";
import { commands } from "../../src/cli/commands.ts";
import { outdial, runtimes } from "./cli.ts";

const names = commands.map(({ name }) => name);

describe.each(runtimes)("outdial, under %s", (runtime) => {
  it("lists every command, and explains each", async () => {
    const { stdout } = await outdial(runtime, ["help"]);
    for (const { name, summary } of commands) {
      expect(stdout).toMatch(new RegExp(`^ +${name} `, "m"));
      expect(stdout).toContain(summary);
    }
    const [one = "call"] = names;
    const help = await outdial(runtime, ["help", one]);
    expect(help).toMatchObject({ code: 0, stderr: "" });
    expect(await outdial(runtime, [one, "--from", "--help"])).toEqual(help);
    expect(await outdial(runtime, [one, "-h"])).toEqual(help);
  });

  it("exits 2 for what is no command, and says which was probably meant", async () => {
    expect(await outdial(runtime, ["cal"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "outdial: there is no such command (did you mean call?); see `outdial help`\n",
    });
  });
});

describe("outdial help", () => {
  it.each(commands.map((command) => [command.name, command] as const))(
    "%s tells every option and every exit code",
    async (name, { flags, words = [], exits, summary }) => {
      const { stdout } = await outdial("node", ["help", name]);
      expect(stdout).toMatch(new RegExp(`^outdial ${name}\\b`));
      expect(stdout).toContain(summary);
      for (const word of words) expect(stdout).toContain(`<${word.replace("…", "")}>`);
      for (const [flag, { help }] of Object.entries(flags)) {
        expect(stdout).toMatch(new RegExp(`^ +--${flag}\\b`, "m"));
        expect(stdout).toContain(help);
      }
      for (const meaning of Object.values(exits)) expect(stdout).toContain(meaning);
    },
  );

  it("fits on a terminal of 100 columns", async () => {
    for (const name of ["", ...names]) {
      const { stdout } = await outdial("node", ["help", ...(name ? [name] : [])]);
      const long = stdout.split("\n").filter((line) => line.length > 100);
      expect(long).toEqual([]);
    }
  });

  it.each([[[]], [["constructor"]], [["help", "constructor"]], [["xxxxxxxxxxxx"]]])(
    "exits 2 for the command %j, without a guess",
    async (args) => {
      const { code, stderr } = await outdial("node", args);
      expect(code).toBe(2);
      expect(stderr).toMatch(
        /^outdial: (which command\?|there is no such command); see `outdial help`\n$/,
      );
    },
  );

  it("tells a failure as one line of JSON where --json is among the arguments", async () => {
    const { code, stdout, stderr } = await outdial("node", ["call", "--json", "--to", "secret"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: { name: "UsageError", message: "--from, --flow, --callback are missing", exit: 2 },
    });
  });
});
