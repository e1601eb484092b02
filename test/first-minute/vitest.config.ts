import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** `npm run first-minute`: downloads what a new project needs, so it is no part of `npm test`. */
export default defineConfig({
  root: file("../.."),
  test: {
    include: ["test/first-minute/*.test.ts"],
    globalSetup: [file("../temporary.ts"), file("../package/project.ts")],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 120_000 } },
  },
});
