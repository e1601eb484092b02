// `npm run frameworks`, on any Node from 20 on: installs Fastify, Next and the others (test/frameworks/package-lock.json),
// builds the package, and runs the files of docs/frameworks.md that `npm test` leaves out.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));

const run = (command, ...args) => {
  const { status } = spawnSync(command, args, { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
};

const folder = "test/frameworks/node_modules";
if (!existsSync(`${folder}/.package-lock.json`)) {
  console.log(`Installing the frameworks (480 MB) in ${folder} …`);
  // Not `npm ci`: it refuses the lockfile, as the registry had Next's compiler for Linux alone.
  run("npm", "install", "--no-save", "--no-audit", "--no-fund", "--prefix", "test/frameworks");
}
if (!existsSync("test/node_modules/outdial")) {
  mkdirSync("test/node_modules", { recursive: true });
  symlinkSync("../..", "test/node_modules/outdial");
}
run("npm", "run", "build", "--silent", "--", "--silent");
run(`${folder}/node/bin/node`, "--test", "test/frameworks/frameworks.test.ts");
