import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { bundledPageInVite } from "../../tsup.config.ts";
import { sources } from "../sources.ts";

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Calls of SIP telephones by a real exchange: `npm run exchange`. They take the time that calls take. */
export default defineConfig({
  root: file(""),
  plugins: [bundledPageInVite],
  resolve: { alias: sources },
  test: {
    include: ["test/exchange/**/*.test.ts"],
    // First, as the folder of the second is for this user alone, and Asterisk runs as another.
    globalSetup: [file("test/exchange/setup.ts"), file("test/temporary.ts")],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    slowTestThreshold: 60_000,
    silent: "passed-only",
    // Calls wait for their telephones most of the time.
    maxWorkers: 4,
  },
});
