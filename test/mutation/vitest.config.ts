import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

const file = (path: string) => new URL(`../../${path}`, import.meta.url).pathname;
const { exports }: { exports: Readonly<Record<string, { readonly default: string }>> } = JSON.parse(
  readFileSync(file("package.json"), "utf8"),
);

/** What Stryker runs on its copy: the tests that know the mutated files, with `outdial` out of `src`. */
export default defineConfig({
  resolve: {
    alias: Object.entries(exports).map(([entry, { default: built }]) => ({
      find: new RegExp(`^${entry.replace(".", "outdial")}$`),
      replacement: file(built.replace("./dist/", "src/").replace(/\.js$/, ".ts")),
    })),
  },
  test: {
    include: [
      "test/unit/*.test.ts",
      "test/unit/{agents,bytes,callbacks,calls,campaigns,flows,request,rules}/**/*.test.ts",
      "test/mutation/conformance.test.ts",
    ],
    testTimeout: 20_000,
    maxWorkers: 1,
  },
});
