// `npm run interface`: holds docs/openapi.json and docs/asyncapi.json to tools that others wrote. Installs them at first (145 MB).
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("../../..", import.meta.url)));
const tools = "test/interface/tools";

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

if (!existsSync(`${tools}/node_modules/.package-lock.json`)) {
  run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", tools);
}
run("npm", "run", "build", "--silent", "--", "--silent");
const node = "test/node_modules/node/bin/node";
run(node, "test/node_modules/typescript7/bin/tsc", "--project", tools, "--noEmit");
const vitest = ["node_modules/vitest/vitest.mjs", "run", `--config=${tools}/vitest.config.ts`];
run(node, ...vitest, ...process.argv.slice(2));
