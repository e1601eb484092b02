import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Application } from "typedoc";
import { pagesFolder, path, read } from "./sources.ts";

/** The names of the entries, and their sources: `outdial/calls`, `src/calls/index.ts`. */
const entries: readonly (readonly [name: string, source: string])[] = Object.entries(
  JSON.parse(read("deno.json")).exports as Readonly<Record<string, string>>,
).map(([key, file]) => [key.replace(".", "outdial"), file.replace("./", "")]);

const folder = join(pagesFolder, "reference");
const copy = path("test/site/copy");

/** Changes each file of a folder with an ending. */
const edit = (root: string, ending: string, change: (text: string) => string): void => {
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(ending)) continue;
    const name = join(root, file);
    writeFileSync(name, change(readFileSync(name, "utf8")));
  }
};

/** Writes the reference into the site's pages: a page for each export, made out of its comment. */
export const writeReference = async (): Promise<void> => {
  // TypeDoc drops the type of `@throws {Type}`, so it reads a copy that has it in the sentence.
  for (const file of ["src", "docs", "package.json", "tsconfig.json"]) {
    cpSync(path(file), join(copy, file), { recursive: true });
  }
  edit(join(copy, "src"), ".ts", (text) => text.replaceAll(/@throws \{(\w+)\}/g, "@throws `$1`"));
  const app = await Application.bootstrapWithPlugins({
    plugin: ["typedoc-plugin-markdown", "typedoc-vitepress-theme"],
    entryPoints: entries.map(([, source]) => join(copy, source)),
    tsconfig: join(copy, "tsconfig.json"),
    name: "Reference",
    readme: "none",
    excludePrivate: true,
    disableGit: true,
    disableSources: true,
    logLevel: "Warn",
    // `npm test` has the comments checked, by `test/docs/docs.test.ts`.
    validation: false,
  });
  // Options of the plug-ins, which TypeDoc's types don't know.
  for (const [name, value] of Object.entries({
    out: folder,
    docsRoot: pagesFolder,
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: "list",
    interfacePropertiesFormat: "list",
    typeDeclarationFormat: "list",
  })) {
    app.options.setValue(name as never, value as never);
  }
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc can't read the sources.");
  // TypeDoc calls a module by its source: `campaigns/workers`, `carriers/twilio`, `index`.
  const names = new Map(
    entries.map(([name, source]) => [source.replace(/^src\/|(\/index)?\.ts$/g, ""), name]),
  );
  for (const module of project.children ?? []) {
    const name = names.get(module.name);
    if (!name) throw new Error(`No entry is built from the module ${module.name}.`);
    module.name = name;
  }
  await app.generateOutputs(project);
  rmSync(copy, { recursive: true });
  // `@see docs/agents.md` names a page of the site.
  edit(folder, ".md", (text) =>
    text
      .replaceAll(/^(- )?(?:See )?docs\/([\w-]+)\.md$/gm, "$1[docs/$2.md](/$2.md)")
      // As VitePress names the heading of a field such as `answered_by`.
      .replaceAll(/\.md#\w+\)/g, (link) => link.replaceAll("_", "-")),
  );
  writeFileSync(join(folder, "index.md"), index());
};

/** Where an entry's page is, in the folder of the reference. */
const pageOf = (name: string): string => `${name}/index.md`;

const index = (): string => {
  const rows = entries.map(([name]) => {
    const page = readFileSync(join(folder, pageOf(name)), "utf8");
    const [, purpose = ""] = /^# .*\n\n(.+(?:\n.+)*)/m.exec(page) ?? [];
    // Its links are relative to the entry's folder.
    const linked = purpose.replaceAll("\n", " ").replaceAll("](", `](${name}/`);
    return `| [\`${name}\`](${pageOf(name)}) | ${linked} |`;
  });
  return `# Reference\n\nEvery export of every entry, made from the comments in the source.\n\n| import from | |\n|---|---|\n${rows.join("\n")}\n`;
};

/** A page or a group in the list beside the reference. */
export interface Item {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly Item[];
  readonly collapsed?: boolean;
}

const kinds = ["functions", "classes", "variables", "interfaces", "type-aliases"];

const itemsOf = (name: string): Item[] =>
  kinds.flatMap((kind) => {
    const within = join(folder, name, kind);
    const files = readdirSync(join(folder, name)).includes(kind) ? readdirSync(within).sort() : [];
    return files.map((file) => ({
      text: file.replace(/\.md$/, ""),
      link: `/reference/${name}/${kind}/${file.replace(/\.md$/, "")}`,
    }));
  });

/** What is listed beside the pages of each entry: all entries, and its own exports. */
export const sidebars = (): Record<string, Item[]> => {
  const lists = ["", ...entries.map(([name]) => name)].map((open): [string, Item[]] => [
    `/reference/${open && `${open}/`}`,
    entries.map(([name]) => ({
      text: name,
      link: `/reference/${name}/`,
      ...(name === open && { items: itemsOf(name), collapsed: false }),
    })),
  ]);
  // VitePress takes the longest path that fits.
  return Object.fromEntries(lists);
};
