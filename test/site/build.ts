/** `npm run docs`: writes the pages of the site, and lets VitePress build them. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { build } from "vitepress";
import { writeReference } from "./reference.ts";
import {
  addressOf,
  assetPath,
  assets,
  builtFolder,
  pages,
  pagesFolder,
  path,
  programs,
  type Reader,
  read,
  repository,
} from "./sources.ts";

const write = (page: string, text: string): void => {
  const file = join(pagesFolder, page);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

/** A link of a file, as the site has it. What the site can't show stays as words. */
const rewritten = (file: string, text: string, reader: Reader): string =>
  text.replaceAll(
    /(!?)\[((?:[^[\]]|\[[^\]]*\]\([^)]*\))*)\]\(([^)\s]+)\)/g,
    (_, mark, words, link) => {
      const address = addressOf(file, link, reader);
      return address === undefined ? words : `${mark}[${words}](${address})`;
    },
  );

/** A page: its links lead to other pages, and the fences of its code name the language alone. */
const pageOf = (file: string, reader: Reader): string =>
  read(file)
    .replaceAll("<address of this repository>", repository?.url ?? "$&")
    .split(/^(`{3,}[\s\S]*?^`{3,})$/m)
    .map((part, at) => (at % 2 ? part.replace(/^(`+\w*).*/, "$1") : rewritten(file, part, reader)))
    .join("");

const languages: Readonly<Record<string, string>> = { ".py": "python", ".sh": "sh" };

const programPage = (file: string): string => {
  const fence = "````";
  const language = languages[extname(file)] ?? extname(file).slice(1);
  return `# ${file}\n\n${fence}${language}\n${read(file).trimEnd()}\n${fence}\n`;
};

/** The list of the examples, so that each file of one can be found. */
const examplesPage = (): string => {
  const folders = Map.groupBy(programs.keys(), (file) => file.split("/")[1] ?? "");
  const sections = [...folders].map(([folder, names]) => {
    const readme = pages.get(`examples/${folder}/README.md`);
    const about = readme ? [`- [What it is](./${folder}/index.md)`] : [];
    const files = names.map(
      (file) => `- [${file}](./${programs.get(file)?.slice("examples/".length)})`,
    );
    return `## ${folder}\n\n${[...about, ...files].join("\n")}`;
  });
  return `# Examples\n\nEach of them runs in the tests.\n\n${sections.join("\n\n")}\n`;
};

rmSync(pagesFolder, { recursive: true, force: true });
for (const [file, page] of pages) write(page, pageOf(file, "VitePress"));
for (const [file, page] of programs) write(page, programPage(file));
write("examples/index.md", examplesPage());
for (const file of assets) cpSync(path(file), join(pagesFolder, "public", assetPath(file)));
await writeReference();
await build(path("test/site"));
// llms.txt leads to the pages in Markdown, so these are served too, beside the pages that they become.
for (const [file, page] of [...pages, ["docs/llms.txt", "llms.txt"] as const]) {
  writeFileSync(join(builtFolder, page), pageOf(file, "Markdown"));
}
for (const page of [...programs.values(), "examples/index.md"]) {
  cpSync(join(pagesFolder, page), join(builtFolder, page));
}
console.log(
  `The site is in ${builtFolder}. Its pages need a server, and do not work as files: ` +
    "npm run docs -- --serve shows them.",
);
