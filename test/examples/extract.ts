import { readdirSync, readFileSync } from "node:fs";
import { path } from "./execute.ts";

/** A block of code that a reader may copy. */
export interface Snippet {
  /** Where it is: `src/calls/create.ts:42`. */
  readonly where: string;
  readonly language: string;
  /** What follows the language on the line of the fence. */
  readonly info: string;
  readonly code: string;
}

/** The fenced blocks of a text in Markdown; its lines count from `first`. */
const blocksOf = (file: string, lines: readonly string[], first = 1): Snippet[] => {
  const blocks: Snippet[] = [];
  for (let at = 0; at < lines.length; at++) {
    const [, fence, language = "", info = ""] =
      /^\s*(`{3,})(\S*)\s*(.*)$/.exec(lines[at] ?? "") ?? [];
    if (!fence) continue;
    const start = at + 1;
    const end = lines.findIndex((line, index) => index >= start && line.trim() === fence);
    if (end < 0) throw new Error(`${file}:${first + at} opens a block that nothing closes`);
    const code = lines.slice(start, end).join("\n");
    blocks.push({ where: `${file}:${first + at}`, language, info, code });
    at = end;
  }
  return blocks;
};

/** Its line is `ts no-run: <why it can't run here>`; it is type-checked all the same. */
export const isRun = (snippet: Snippet): boolean =>
  !snippet.info.startsWith("no-run") && !isFile(snippet);

/** Its line is `ts file: <its path>`: a whole file beside the others of its page. A test of its own runs it. */
export const isFile = ({ info }: Snippet): boolean => info.startsWith("file: ");

/** The name of a file for it. */
export const nameOf = ({ where }: Snippet): string => `${where.replaceAll(/\W+/g, "-")}.ts`;

/** The blocks of a file in Markdown. */
export const ofMarkdown = (file: string): Snippet[] =>
  blocksOf(file, readFileSync(path(file), "utf8").split("\n"));

/** The blocks of README, of AGENTS.md and of every page in `docs/`. */
export const ofPages = (): Snippet[] =>
  readdirSync(path("docs"), { encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`)
    .concat("README.md", "AGENTS.md")
    .flatMap(ofMarkdown);

/** The blocks in the comments of a source file. */
const ofComments = (file: string): Snippet[] => {
  const source = readFileSync(path(file), "utf8");
  return [...source.matchAll(/\/\*\*.*?\*\//gs)].flatMap(({ 0: comment, index }) => {
    const first = source.slice(0, index).split("\n").length;
    const lines = comment.split("\n").map((line) => line.replace(/^\s*\* ?/, ""));
    return blocksOf(file, lines, first);
  });
};

/** The blocks in the comments of every source file. */
export const ofSources = (): Snippet[] =>
  readdirSync(path("src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .sort()
    .flatMap((file) => ofComments(`src/${file}`));
