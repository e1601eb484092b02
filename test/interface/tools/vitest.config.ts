import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** `npm run interface`: the two files, held to tools that others wrote, and the schemas with more values. */
export default defineConfig({
  root: fileURLToPath(new URL("../../..", import.meta.url)),
  test: {
    include: ["test/interface/tools/*.check.ts", "test/interface/schemas.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: { INTERFACE_RUNS: process.env.INTERFACE_RUNS ?? "2000" },
  },
});
