import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { execute, path } from "../examples/execute.ts";
import { entries, installConsumer } from "./project.ts";

const bin = (name: string): string => path(`test/node_modules/.bin/${name}`);
const node = (alias: string): string => path(`test/node_modules/${alias}/bin/node`);

const runtimes: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  "Node 22": [node("node22")],
  "Node 24": [node("node")],
  "Node 26": [node("node26")],
  Deno: [bin("deno"), "run", "--no-prompt"],
  Bun: [bin("bun")],
};

const project = installConsumer();

beforeAll(async () => {
  const script = `
    import { calls } from "outdial";
    import { calls as straight } from "outdial/fetch";
    import { createEmulator } from "outdial/emulator";
    import { params } from "./params.ts";

    const names = {};
    for (const entry of ${JSON.stringify(entries)}) names[entry] = Object.keys(await import(entry)).sort();
    const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
    const ids = [];
    for (const { create } of [calls, straight]) {
      ids.push((await create(params, { apiKey, fetch, baseUrl: "https://voice.test" })).id);
    }
    console.log(JSON.stringify({ names, ids }));
  `;
  writeFileSync(join(project, "import.mjs"), script);
});

test.each(Object.entries(runtimes))(
  "%s imports every entry of the installed package, and places a call through both that do",
  async (_, [command, ...args]) => {
    const { code, stdout, stderr } = await execute(
      command,
      [...args, "import.mjs"],
      {},
      { cwd: project },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const { names, ids } = JSON.parse(stdout);
    expect(ids).toEqual(Array(2).fill(expect.stringMatching(/^cs_[0-9A-Z]{26}$/)));
    expect(Object.keys(names)).toEqual(entries);
    expect(names).toMatchObject({
      outdial: expect.arrayContaining(["Client", "ServiceException", "calls", "isException"]),
      "outdial/calls": [
        "Call",
        "CallParams",
        "create",
        "end",
        "ended",
        "get",
        "press",
        "recording",
        "redirect",
        "why",
      ],
      "outdial/emulator": ["createEmulator", "scenarios"],
    });
    expect(names["outdial/fetch"]).toEqual(names.outdial);
    for (const entry of entries) expect(names[entry], entry).not.toEqual([]);
  },
);

test("the command starts where the package is installed, and tells its version", async () => {
  const { code, stdout } = await execute(
    join(project, "node_modules/.bin/outdial"),
    ["--version"],
    {
      PATH: path("test/node_modules/.bin"),
    },
  );
  const { version } = JSON.parse(readFileSync(path("package.json"), "utf8"));
  expect(code).toBe(0);
  expect(stdout).toContain(version);
});
