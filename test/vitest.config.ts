import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { bundledPageInVite } from "../tsup.config.ts";
import { runtimes } from "./conformance/case.ts";
import needs from "./projects.json" with { type: "json" };
import { sources } from "./sources.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const long = Object.keys(needs["npm run test:long"]);
const names = [...Object.keys(needs["npm test"]), ...long];

/** What a long project runs of its folder: files whose tests {@link partOf} divides by runtimes, and those of its own. */
const onSeveralRuntimes: Readonly<Record<string, readonly string[]>> = {
  agents: ["faults"],
  chaos: ["file"],
  cli: ["account", "call", "dial", "emulator", "forward", "outcome", "proxy", "trigger"],
  fuzz: ["fuzz"],
};

/** Runs the projects in the order of projects.json: many short files last, so that all workers finish together. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => names.indexOf(a.project.name) - names.indexOf(b.project.name));
  }
}

/** Their files share a process, as what they import costs more than what they test. */
const shared = ["carriers", "twilio", "vonage", "telnyx"];

const projects = names.map((name) => {
  const runtime = runtimes.find((one) => name === `conformance ${one}`);
  const folder = runtime ? "conformance" : name.replace(/ long$/, "");
  const files = (onSeveralRuntimes[folder] ?? []).map((file) => `test/${folder}/${file}.test.ts`);
  const isPart = name.endsWith(" long");
  return {
    extends: true as const,
    // What unit tests share with the conformance list imports the package by its name.
    ...(name === "unit" && { resolve: { alias: sources } }),
    test: {
      name,
      include: isPart
        ? [`test/${folder}/**/*.long.test.ts`, ...files]
        : [`test/${folder}/**/*.test.ts`],
      exclude: ["**/node_modules/**", "**/runtimes/**", ...(isPart ? [] : ["**/*.long.test.ts"])],
      ...(name === "unit" && { isolate: false, setupFiles: [file("unit/leftovers.ts")] }),
      ...(shared.includes(name) && { isolate: false }),
      provide: { isLong: long.includes(name), ...(runtime && { runtime }) },
      ...(["conformance", "package"].includes(folder) && {
        globalSetup: file("package/project.ts"),
      }),
    },
  };
});

export default defineConfig({
  root: file(".."),
  plugins: [bundledPageInVite],
  test: {
    projects,
    globalSetup: file("temporary.ts"),
    // Time-outs only end what hangs: they leave room for a machine that does much else.
    testTimeout: 900_000,
    hookTimeout: 900_000,
    expect: { poll: { timeout: 60_000 } },
    slowTestThreshold: 20_000,
    // So that the log shows what has failed, and what it has printed.
    silent: "passed-only",
    // More than half of the work waits for a call, a clock or a network.
    maxWorkers: 4 * Math.min(2, availableParallelism()),
    sequence: { sequencer: InOrder },
  },
});
