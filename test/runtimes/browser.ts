import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const usual = ["chromium-headless-shell", "chromium", "google-chrome"].map(
  (name) => `/usr/bin/${name}`,
);
const path = process.env.CHROMIUM_PATH || usual.find(existsSync);

/** Starts the Chromium that `npm test` found, quiet and offline, with further switches if given. */
export const launch = async (...switches: readonly string[]): Promise<Browser> => {
  const browser = await chromium.launch({
    // Without a path, playwright takes the browser that it has downloaded itself.
    ...(path && { executablePath: path }),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-sync",
      "--disable-background-networking",
      "--disable-component-update",
      ...switches,
    ],
  });
  // As every time-out of the tests, those of its pages end only what hangs.
  browser.on("context", (context) => context.setDefaultTimeout(120_000));
  return browser;
};
