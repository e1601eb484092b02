import { defineConfig } from "vitest/config";

/** What Stryker runs on its copy: the tests that know the mutated files, with `outdial` out of `src`. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^outdial$/, replacement: new URL("../../src/index.ts", import.meta.url).pathname },
      {
        find: /^outdial\/(.+)$/,
        replacement: new URL("../../src/$1/index.ts", import.meta.url).pathname,
      },
    ],
  },
  test: {
    include: [
      "test/unit/*.test.ts",
      "test/unit/{calls,callbacks,flows}/*.test.ts",
      "test/mutation/conformance.test.ts",
    ],
    testTimeout: 20_000,
    maxWorkers: 1,
  },
});
