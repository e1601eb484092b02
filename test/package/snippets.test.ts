import { randomUUID } from "node:crypto";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { isRun, nameOf, ofPages, ofSources } from "../examples/extract.ts";
import { promised } from "../examples/promise.ts";
import { initialise, installConsumer } from "./project.ts";

const snippets = [...ofPages(), ...ofSources()].filter(
  (snippet) => snippet.language === "ts" && isRun(snippet),
);

const bin = (name: string): string => path(`test/node_modules/.bin/${name}`);

/** Each as its manual says: Deno may read the environment and listen on this machine, nothing else. */
const runtimes: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  Node: [bin("node")],
  Deno: [bin("deno"), "run", "--no-prompt", "--allow-env", "--allow-net=127.0.0.1"],
  Bun: [bin("bun")],
};

const project = installConsumer();

beforeAll(async () => {
  // The consumer's own, and strict: here, each runtime judges by its own rules.
  rmSync(join(project, "tsconfig.json"));
  // The media socket of an application on Node.
  cpSync(path("test/node_modules/ws"), join(project, "node_modules/ws"), { recursive: true });
  const manifest = { private: true, type: "module", dependencies: { outdial: "*", ws: "*" } };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  mkdirSync(join(project, "snippets"));
  for (const snippet of snippets) {
    writeFileSync(join(project, "snippets", nameOf(snippet)), snippet.code);
  }
  // Each import in its own words: Deno wants to know what is imported before it runs.
  const lines = snippets.map(
    (snippet) =>
      `console.log("--- ${nameOf(snippet)}"); await import("./snippets/${nameOf(snippet)}");` +
      " await new Promise((resolve) => setTimeout(resolve, 10));",
  );
  writeFileSync(join(project, "snippets.mjs"), lines.join("\n"));
});

/** A text without what runtimes write in different ways. */
const bare = (text: string): string => text.replaceAll(/["'\\\s]|,(?=\s*[\]}])/g, "");

test.each(Object.entries(runtimes))(
  "%s runs every block of code that a reader may copy, from the installed package",
  async (_, [command, ...args]) => {
    const { code, stdout, stderr } = await execute(
      command,
      [...args, "snippets.mjs"],
      { SIGNING_SECRET: randomUUID(), SERVICE_SECRET: randomUUID(), OPENAI_API_KEY: randomUUID() },
      { cwd: project, patience: 850_000 },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const said = new Map(
      stdout
        .split("--- ")
        .slice(1)
        .map((part) => [part.slice(0, part.indexOf("\n")), bare(part.slice(part.indexOf("\n")))]),
    );
    expect([...said.keys()]).toEqual(snippets.map(nameOf));
    const broken = snippets.flatMap((snippet) =>
      promised(snippet)
        .map((promise) => bare(promise.split(/…|: /)[0] ?? ""))
        .filter((promise) => !said.get(nameOf(snippet))?.includes(promise))
        .map((promise) => `${snippet.where}: ${promise}`),
    );
    expect(broken).toEqual([]);
  },
);

test("README's first program runs after `npm init -y`, and prints what the callee hears", async () => {
  const [first] = ofPages().filter(
    (snippet) => /^README/.test(snippet.where) && snippet.language === "ts" && isRun(snippet),
  );
  const initialised = await initialise();
  writeFileSync(join(initialised, "call.mjs"), first?.code ?? "");
  const { code, stdout, stderr } = await execute(
    bin("node"),
    ["call.mjs"],
    {},
    { cwd: initialised },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toBe("[ { text: 'Your table is ready.' } ]\n");
});

test("Deno finds no fault in the types of any of them", async () => {
  // One imports `node:sqlite`: beside a node_modules of npm's, Deno wants Node's types in it.
  for (const name of ["@types", "undici-types"]) {
    symlinkSync(path(`node_modules/${name}`), join(project, "node_modules", name));
  }
  const { code, stderr } = await execute(
    bin("deno"),
    ["check", "snippets"],
    {},
    {
      cwd: project,
      patience: 850_000,
    },
  );
  expect(code, stderr).toBe(0);
});
