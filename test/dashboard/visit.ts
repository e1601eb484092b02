import axe from "axe-core";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launch } from "../runtimes/browser.ts";
import { raise, type Stage } from "./stage.ts";

/** What has a page. */
type Staged = Pick<Stage, "baseUrl" | "link" | "stop">;

/** A server for each test, and a browser for all of a file. */
export interface Theatre<S extends Staged = Stage> {
  stage: S;
  /** What a page has complained of: a script's errors, and requests to elsewhere. */
  readonly complaints: string[];
  /** A page of a new visitor. */
  readonly visit: (options?: BrowserContextOptions) => Promise<Page>;
  /** The dashboard, of a visitor who came by the link. */
  readonly signIn: (options?: BrowserContextOptions) => Promise<Page>;
}

/** Raises an emulator before each test, and clears it away. */
export const theatre = (...args: readonly string[]): Theatre => theatreOf(() => raise(...args));

/** Raises a server before each test, and clears it away. */
export const theatreOf = <S extends Staged>(raiseServer: () => Promise<S>): Theatre<S> => {
  let browser: Browser;
  let raised: S | undefined;
  beforeAll(async () => {
    browser = await launch("--autoplay-policy=no-user-gesture-required");
  });
  afterAll(() => browser.close());

  const complaints: string[] = [];
  const visit = async (options: BrowserContextOptions = {}): Promise<Page> => {
    // No test needs an animation, and each frame costs CPU on a machine without a GPU.
    const context = await browser.newContext({ reducedMotion: "reduce", ...options });
    const { baseUrl } = it.stage;
    await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: baseUrl });
    const page = await context.newPage();
    page.on("console", (message) => {
      if (/error|warning/.test(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(baseUrl)) {
        complaints.push(`asked for ${request.url()}`);
      }
    });
    return page;
  };
  const signIn = async (options?: BrowserContextOptions): Promise<Page> => {
    const page = await visit(options);
    await page.goto(it.stage.link);
    await isLive(page);
    return page;
  };
  const it: Theatre<S> = {
    get stage() {
      if (!raised) throw new Error("Only a test has a stage");
      return raised;
    },
    set stage(other) {
      raised = other;
    },
    complaints,
    visit,
    signIn,
  };
  beforeEach(async () => {
    complaints.length = 0;
    it.stage = await raiseServer();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await it.stage.stop();
  });
  return it;
};

/** Waits until a page is connected. */
export const isLive = (page: Page): Promise<void> =>
  page
    .getByRole("status")
    .filter({ hasText: /^live$/ })
    .waitFor();

/** Has every telephone ring until somebody answers or rejects, and waits until the emulator knows. */
export const attend = async (page: Page): Promise<void> => {
  const known = page.waitForResponse(/\/attendant\/present$/);
  await page.getByRole("switch").click();
  await known;
};

/** The head of a call's row. */
export const row = (page: Page, words: string): Locator =>
  page.getByRole("heading").getByRole("button", { name: words });

/** What axe finds wrong. */
export const violations = async (page: Page): Promise<readonly string[]> => {
  // Not as a script element: the page's own policy forbids those.
  if (await page.evaluate("!globalThis.axe")) await page.evaluate(axe.source);
  const { violations: found } = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] })",
  )) as {
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }[];
  };
  return found.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
};

/** How far the contents of a section, its texts too, stick out of it, in pixels. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() =>
    Math.max(
      ...[...document.querySelectorAll("header, section, dialog[open]")].map((section) => {
        const contents = document.createRange();
        contents.selectNodeContents(section);
        const edge = Math.min(section.getBoundingClientRect().right, document.body.clientWidth);
        const rights = [...contents.getClientRects()].map(({ right }) => right);
        return Math.max(0, ...rights.map((right) => Math.ceil(right - edge)));
      }),
    ),
  );
