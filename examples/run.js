// `npm run demo`: builds the package without its types, which is quick, into `.demo`, and runs a demo there. `dist` is
// what `npm pack` ships: it stays as it is. For any Node from 20 on.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("..", import.meta.url)));
const [demo = "demo.js", ...args] = process.argv.slice(2);
const run = (...args) => spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;

rmSync(".demo", { recursive: true, force: true });
mkdirSync(".demo");
cpSync("package.json", ".demo/package.json");
cpSync("examples", ".demo/examples", {
  recursive: true,
  filter: (path) => !path.includes("node_modules"),
});
symlinkSync("../test", ".demo/test", "junction"); // Where the tests' own Node is.
const tsup = ["node_modules/tsup/dist/cli-default.js", "--silent", "--no-dts"];
const status = run(...tsup, "--out-dir", ".demo/dist");
process.on("SIGINT", () => {}); // Ctrl-C also reaches the demo, which ends in its own time.
process.exitCode = status || run(`.demo/examples/${demo}`, ...args);
