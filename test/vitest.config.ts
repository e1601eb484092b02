import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", "test/artefacts/**"],
    globalSetup: new URL("temporary.ts", import.meta.url).pathname,
    setupFiles: process.env.COUNTS ? ["test/coverage/after-file.ts"] : [],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    maxWorkers: 1,
  },
});
