// Runs a script under the tests' own Node 24, or says what to install: `node test/node24.js test/docs/run.ts`.
// Plain JavaScript, for any Node from 20 on.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const installed = fileURLToPath(new URL("node_modules/", import.meta.url));
const node = `${installed}node/bin/node`;

// `npm test -- unit` installs Node 24 without the other tools.
if (!existsSync(node) || !existsSync(`${installed}typedoc`)) {
  console.error(
    'This needs the tools of the tests (about 1 GB). Run "npm ci --prefix test" first.',
  );
  process.exit(1);
}
process.on("SIGINT", () => {}); // Ctrl-C also reaches the script, which ends in its own time.
process.exitCode = spawnSync(node, process.argv.slice(2), { stdio: "inherit" }).status ?? 1;
