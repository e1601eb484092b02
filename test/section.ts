import { readFileSync, writeFileSync } from "node:fs";

const readme = new URL("README.md", import.meta.url);

/** Puts what a command has measured into its own section of `test/README.md`. */
export const writeSection = (command: string, markdown: string): void => {
  const start = `<!-- written by \`npm run ${command}\` -->`;
  const end = `<!-- end of \`npm run ${command}\` -->`;
  const text = readFileSync(readme, "utf8");
  const from = text.indexOf(start);
  const to = text.indexOf(end);
  if (from < 0 || to < from) throw new Error(`test/README.md has no section ${start}`);
  writeFileSync(
    readme,
    `${text.slice(0, from + start.length)}\n\n${markdown}\n\n${text.slice(to)}`,
  );
};

/** A table in Markdown. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
