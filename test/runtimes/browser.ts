import { type Browser, chromium } from "playwright-core";

/** Starts the Chromium that `npm test` found, quiet and offline, with further switches if given. */
export const launch = (...switches: readonly string[]): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? "/usr/bin/chromium",
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
