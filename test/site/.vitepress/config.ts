import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DefaultTheme, defineConfig } from "vitepress";
import { sidebars } from "../reference.ts";
import { base, pages, pagesFolder, release, repository } from "../sources.ts";

/** The guides in the order in which they are read; a page that isn't named here is listed under "More". */
const guides: Readonly<Record<string, readonly string[]>> = {
  Start: ["index", "worker", "frameworks", "testing", "emulator", "entries"],
  "Place calls": ["callbacks", "flows", "campaigns", "at-scale", "agents", "recipes"],
  "Go live": ["production", "behind-a-proxy", "rotating", "rate", "costs", "runtimes"],
  "Look up": ["options", "errors", "after-a-maybe", "why-did-it-fail", "service", "reasons"],
  "A line of your own": ["exchange", "exchange-at-scale"],
  Carriers: ["twilio", "vonage", "telnyx", "existing-apps", "from-other-sdks"],
};

/**
 * How much a page counts in the search: first the guides, then the reference and the examples, then what is for contributors. Without it, who asks
 * how to install finds how outdial is tested. VitePress sends the text of this function to the browser, so it uses nothing outside of itself.
 */
const boostDocument = (id: string): number => {
  if (/\/(test\/|contributing|changelog)/.test(id)) return 0.3;
  if (/\/(reference|examples)\//.test(id)) return 0.6;
  return /^\/([^/]+\/)?(#.*)?$/.test(id) ? 4 : 2; // the first page, or another guide
};

const titleOf = (page: string): string =>
  page === "index"
    ? "What outdial does"
    : (
        /^# (.*)$/m.exec(readFileSync(join(pagesFolder, `${page}.md`), "utf8"))?.[1] ?? page
      ).replaceAll("`", "");

const inDocs = [...pages]
  .filter(([file]) => file.startsWith("docs/"))
  .map(([, page]) => page.replace(/\.md$/, ""));
const listed = Object.values(guides).flat();

const sidebar = (): DefaultTheme.SidebarItem[] => {
  const itemsOf = (page: string): DefaultTheme.SidebarItem[] =>
    page === "index"
      ? [
          { text: titleOf(page), link: "/" },
          { text: "Get started", link: "/#get-started" },
        ]
      : [{ text: titleOf(page), link: `/${page}` }];
  const others = inDocs.filter((page) => !listed.includes(page));
  return Object.entries({ ...guides, ...(others.length > 0 && { More: others }) }).map(
    ([text, names]) => ({
      text,
      items: names.filter((page) => page === "index" || inDocs.includes(page)).flatMap(itemsOf),
    }),
  );
};

const project: DefaultTheme.SidebarItem = {
  text: "The project",
  items: [
    { text: "Examples", link: "/examples/" },
    { text: "For coding assistants", link: "/coding-assistants" },
    { text: "Changes", link: "/changelog" },
    { text: "Security", link: "/security" },
    { text: "Contributing", link: "/contributing" },
    { text: "Benchmarks", link: "/test/bench/" },
  ],
};

/** A telephone: without an icon a browser asks for one that isn't there. */
const icon =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'><text y='27' font-size='30'>☎</text></svg>";

export default defineConfig({
  lang: "en",
  title: "outdial",
  head: [["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  // The first page and an entry are called "outdial" themselves.
  transformPageData: ({ relativePath }) => {
    if (relativePath === "index.md") return { titleTemplate: ":title: calls from JavaScript" };
    if (relativePath.startsWith("reference/")) return { titleTemplate: ":title · API of outdial" };
    return { titleTemplate: ":title · outdial" };
  },
  description: "Places outbound telephone calls from any JavaScript runtime, and never twice.",
  base,
  srcDir: "pages",
  outDir: "built",
  cacheDir: "node_modules/.vitepress",
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    // GitHub's anchors, which the pages use; for `_` the reference has `-`.
    anchor: {
      slugify: (words) =>
        words
          .trim()
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
          .replaceAll(/[ _]/g, "-"),
    },
    config: (markdown) => {
      const { rules } = markdown.renderer;
      // Vue takes {{ for its own, also in prose and in code.
      for (const name of ["text", "code_inline"]) {
        const rule = rules[name];
        rules[name] = (...args) => (rule ? rule(...args) : "").replaceAll("{{", "&#123;&#123;");
      }
      // A checklist has boxes, as on GitHub.
      const { text } = rules;
      rules.text = (...args) => (text ? text(...args) : "").replace(/^\[ \] /, "☐ ");
      // A wide table scrolls by itself, also by the keyboard.
      rules.table_open = () =>
        '<div class="table" tabindex="0" role="group" aria-label="Table"><table>';
      rules.table_close = () => "</table></div>";
      // A column without a name has no header cell.
      rules.th_open = (tokens, at) => (tokens[at + 1]?.content ? "<th>" : "<td>");
      rules.th_close = (tokens, at) => (tokens[at - 1]?.content ? "</th>" : "</td>");
    },
  },
  themeConfig: {
    nav: [
      { text: "Guide", link: "/", activeMatch: "^/(?!reference/)" },
      { text: "Reference", link: "/reference/" },
      { text: release ?? "Changes", link: "/changelog" },
      ...(repository ? [{ text: "Source", link: repository.url }] : []),
    ],
    sidebar: { ...sidebars(), "/": [...sidebar(), project] },
    outline: { level: [2, 3] },
    search: { provider: "local", options: { miniSearch: { searchOptions: { boostDocument } } } },
  },
});
