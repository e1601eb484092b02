import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { bundledPageInVite } from "../../tsup.config.ts";
import { sources } from "../sources.ts";

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** For coverage and for Stryker: the unit tests and the conformance list in one process, `outdial` taken from src. */
export default defineConfig({
  root: file(""),
  plugins: [bundledPageInVite],
  resolve: { alias: sources },
  test: {
    include: ["test/{unit,carriers,twilio,vonage,telnyx}/**/*.test.ts", "test/coverage/*.test.ts"],
    // The agents of test/twilio take seconds by the real clock.
    exclude: ["test/twilio/agents.test.ts"],
    globalSetup: file("test/temporary.ts"),
    // Instrumented code on a busy machine: time-outs only end what hangs.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 2,
    coverage: {
      provider: "istanbul",
      include: ["src/**/*.ts"],
      // The command runs in processes of its own, the page in a browser and shards in workerd: tests of those
      // leave no counts here.
      exclude: ["src/cli/**", "src/emulator/dashboard/**", "src/campaigns/workers/**"],
      thresholds: { statements: 95, branches: 90, functions: 95, lines: 95 },
      reporter: ["text", "html"],
      reportsDirectory: file("test/artefacts/coverage"),
    },
  },
});
