import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The address of a file of this repository. */
export const url = (relative: string): string => new URL(`../../${relative}`, import.meta.url).href;

/** Its path. */
export const path = (relative: string): string => fileURLToPath(url(relative));

export const read = (relative: string): string => readFileSync(path(relative), "utf8");

/** The names of the entries, and the sources that they are built from: `./calls`, `src/calls/index.ts`. */
export const entries = (): Readonly<Record<string, string>> => {
  // `package/registries.test.ts` checks that npm's entries are built from the same.
  const { exports }: { exports: Readonly<Record<string, string>> } = JSON.parse(read("deno.json"));
  return Object.fromEntries(
    Object.entries(exports).map(([name, file]) => [name, file.replace("./", "")]),
  );
};

/** The paths of those sources. */
export const entryFiles = (): string[] => Object.values(entries()).map(path);

/** The pages for readers: README and those beside it, CONTRIBUTING, and all of `docs/`. */
export const pages = (): string[] => [
  ".github/CONTRIBUTING.md",
  ...readdirSync(path(".")).filter((file) => file.endsWith(".md")),
  ...readdirSync(path("docs"))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`),
];

/** The anchor of a heading, as GitHub makes it. */
export const anchorOf = (words: string): string =>
  words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
