import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import tsup from "../../tsup.config.ts";
import { execute, path } from "../examples/execute.ts";

const json = (file: string) => JSON.parse(readFileSync(path(file), "utf8"));
const npm = json("package.json");
const jsr = json("deno.json");

test("npm and JSR offer the same entries, out of the same sources", () => {
  const sources = new Map(Object.entries(tsup.entry ?? {}));
  const built = Object.entries<{ types: string; default: string }>(npm.exports).map(
    ([entry, files]) => {
      expect(files.types).toBe(files.default.replace(/\.js$/, ".d.ts"));
      const source = sources.get(files.default.replace(/^\.\/dist\/|\.js$/g, ""));
      return [entry, `./${source}`];
    },
  );
  expect(Object.fromEntries(built)).toEqual(jsr.exports);
  expect(Object.keys(npm.exports)).toEqual(Object.keys(jsr.exports));
});

test("npm and JSR release the same version, under the same licence, on the same dependencies", () => {
  expect([jsr.version, jsr.license]).toEqual([npm.version, npm.license]);
  // Where release-please counts from; before the first release, what it begins with.
  const { ".": counted } = json(".github/release-please-manifest.json");
  const { "initial-version": initial } = json(".github/release-please.json");
  expect(counted === "0.0.0" ? initial : counted).toBe(npm.version);
  for (const [name, range] of Object.entries(npm.dependencies)) {
    // An application on JSR has no other copy to share: the newest of the ranges is enough.
    expect(jsr.imports[name]).toBe(`npm:${name}@${String(range).split(" || ").at(-1)}`);
  }
});

test("the changelog has a section for the version", () => {
  const sections = readFileSync(path("CHANGELOG.md"), "utf8").match(/^## \[[^\]]+\]/gm);
  expect(sections).toContain(`## [${npm.version}]`);
});

test("JSR would take it: no slow types, no warning (deno publish --dry-run)", async () => {
  // `types/` has checked the types, by the same tsconfig.json; `npm run release:dry` has Deno check them, too.
  const { code, stderr } = await execute(path("test/node_modules/.bin/deno"), [
    "publish",
    "--dry-run",
    "--allow-dirty",
    "--no-check",
  ]);
  expect(code, stderr).toBe(0);
  expect(stderr).toContain("Dry run complete");
  expect(stderr).not.toMatch(/\bwarning\b/i);
});
