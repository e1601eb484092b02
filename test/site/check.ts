/**
 * `npm run docs -- --check`: no link of the built site is dead, nor one in the Markdown that it serves; every page has a
 * title of its own, passes axe in light and dark, and fits into 360 pixels, where wide tables scroll by themselves; the
 * search finds what it should first. Links to other hosts are listed, not requested.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, posix } from "node:path";
import { LinkChecker } from "linkinator";
import type { Browser, Page } from "playwright-core";
import { launch } from "../runtimes/browser.ts";
import { serveSite } from "./serve.ts";
import { base, builtFolder, path } from "./sources.ts";

const root = await serveSite(builtFolder, base);

const pages = readdirSync(builtFolder, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".html"))
  .sort();

/** `-- --check errors flows` looks at these pages alone. */
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const chosen = pages.filter(
  (page) => wanted.length === 0 || wanted.includes(page.replace(/\.html$/, "")),
);

const problems: string[] = [];

/** Every link of every page, from the first page on; with those to other hosts. */
const checkLinks = async (): Promise<void> => {
  const outside = new Set<string>();
  const { links } = await new LinkChecker().check({
    path: root,
    recurse: true,
    checkFragments: true,
    concurrency: 20,
    linksToSkip: async (link) => {
      const isOutside = !link.startsWith(root);
      if (isOutside) outside.add(link);
      return isOutside;
    },
  });
  for (const { state, url, parent } of links) {
    if (state === "BROKEN") problems.push(`${parent}: dead link to ${url}`);
  }
  const inside = new Set(links.map(({ url }) => url)).size - outside.size;
  console.log(`${inside} links lead to pages of the site, ${outside.size} to other hosts:`);
  for (const link of [...outside].sort()) console.log(`  ${link}`);
  const reached = new Set(links.map(({ url }) => url.split("#")[0]));
  for (const page of pages) {
    const url = root + page.replace(/(^|\/)index\.html$/, "$1");
    if (page !== "404.html" && !reached.has(url)) problems.push(`${page}: no link leads here`);
  }
};

/** Every link of the Markdown that the site serves beside its pages, and of llms.txt. */
const checkMarkdown = (): void => {
  const files = readdirSync(builtFolder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /(\.md|llms\.txt)$/.test(file),
  );
  let count = 0;
  for (const file of files) {
    const text = readFileSync(join(builtFolder, file), "utf8")
      .replaceAll(/^(`{3,}).*?^\1$/gms, "")
      .replaceAll(/`[^`\n]*`/g, "");
    for (const [, address = ""] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^([a-z]+:|#)/.test(address)) continue;
      const [target = ""] = address.split("#");
      const to = posix.join(posix.dirname(file), target);
      count++;
      if (!existsSync(join(builtFolder, to))) problems.push(`${file}: dead link to ${address}`);
    }
  }
  console.log(`${count} links in ${files.length} files of Markdown lead to files of the site.`);
};

/** A title that says the same twice. */
const repeats = (title: string): boolean => {
  const parts = title.split(/ · |: /);
  return new Set(parts).size < parts.length;
};

const axe = readFileSync(path("test/site/node_modules/axe-core/axe.min.js"), "utf8");

/** What axe finds on a page: the rule, and the first element that breaks it. */
const violations = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run();
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.length} times, first ${nodes[0]?.html.slice(0, 160)}`,
    );
  });

/** The elements that make a page wider than the window. */
const overflow = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    const wide = [...document.querySelectorAll(".vp-doc *")].find(
      (one) => one.getBoundingClientRect().right > clientWidth && !one.closest("pre, .table"),
    );
    return [
      `${scrollWidth} px wide, first ${wide?.outerHTML.slice(0, 160) ?? "outside of the text"}`,
    ];
  });

const sizes = { wide: { width: 1280, height: 900 }, narrow: { width: 360, height: 740 } };

/** In which a page is looked at. The pages of the reference are alike, so two of the four do. */
const looks = [
  { colorScheme: "light", size: "wide", isEverywhere: true },
  { colorScheme: "dark", size: "narrow", isEverywhere: true },
  { colorScheme: "dark", size: "wide", isEverywhere: false },
  { colorScheme: "light", size: "narrow", isEverywhere: false },
] as const;

/** Checks every page that is left, one after the other, in a tab of its own. */
const checkPages = async (browser: Browser, left: Iterator<string>): Promise<void> => {
  const context = await browser.newContext({ reducedMotion: "reduce" });
  await context.addInitScript(axe);
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(`${page.url()}: ${error.message}`));
  for (let next = left.next(); !next.done; next = left.next()) {
    const { value } = next;
    await page.goto(root + value, { waitUntil: "load" });
    const title = await page.title();
    if (repeats(title)) problems.push(`${value}: its title is "${title}"`);
    for (const { colorScheme, size, isEverywhere } of looks) {
      if (value.startsWith("reference/") && !isEverywhere) continue;
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize(sizes[size]);
      const found = await violations(page);
      if (size === "narrow") found.push(...(await overflow(page)), ...(await stuck(page)));
      problems.push(...found.map((one) => `${value} (${colorScheme}, ${size}): ${one}`));
    }
  }
  await context.close();
};

/** What is searched for, and the page that must be found first. */
const searches: Readonly<Record<string, RegExp>> = {
  "hang up a live call": /\/recipes(\.html)?#hang-up-a-live-call$/,
};

/** Types each search, and looks at what comes first. */
const checkSearch = async (browser: Browser): Promise<void> => {
  const page = await browser.newPage();
  for (const [text, expected] of Object.entries(searches)) {
    await page.goto(root, { waitUntil: "networkidle" });
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.locator(".VPLocalSearchBox input").fill(text);
    const first = page.locator(".VPLocalSearchBox .result").first();
    const found = (await first.getAttribute("href")) ?? "nothing";
    if (!expected.test(found)) problems.push(`the search for "${text}" finds ${found} first`);
  }
  await page.close();
};

/** That a table which is wider than its frame scrolls there: the page stays where it is. */
const stuck = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    globalThis.scrollTo(1_000, 0);
    const moved = globalThis.scrollX > 0 ? ["the page scrolls sideways"] : [];
    const frames = [...document.querySelectorAll(".vp-doc table")].flatMap((table) => {
      const frame = table.closest(".table");
      if (!frame) return [`a table without a frame: ${table.outerHTML.slice(0, 120)}`];
      if (frame.scrollWidth <= frame.clientWidth) return [];
      return /auto|scroll/.test(getComputedStyle(frame).overflowX)
        ? []
        : [`a table that can't be scrolled: ${table.outerHTML.slice(0, 120)}`];
    });
    return [...moved, ...frames];
  });

if (wanted.length === 0) {
  checkMarkdown();
  await checkLinks();
}
const browser = await launch();
await checkSearch(browser);
const left = chosen.values();
const tabs = Array.from({ length: Math.min(4, availableParallelism()) }, () =>
  checkPages(browser, left),
);
await Promise.all(tabs);

/** Pictures, to look at. */
const pictured = ["index", "frameworks", "errors", "reference/outdial/functions/isException"];
const artefacts = path("test/artefacts/site");
mkdirSync(artefacts, { recursive: true });
for (const colorScheme of ["light", "dark"] as const) {
  const context = await browser.newContext({ colorScheme });
  const page = await context.newPage();
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const name of pictured) {
      if (!existsSync(join(builtFolder, `${name}.html`))) continue;
      await page.goto(`${root}${name}.html`);
      const file = `${name.replaceAll("/", "-")}-${colorScheme}-${size}.png`;
      await page.screenshot({ path: join(artefacts, file) });
    }
  }
  await context.close();
}
await browser.close();

for (const problem of problems) console.error(problem);
console.log(
  `${chosen.length} pages in light and dark, at 1280 and 360 pixels: ${problems.length} problems.`,
);
if (problems.length > 0) process.exitCode = 1;
