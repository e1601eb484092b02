import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { here } from "./paths.ts";

const mark = `${here}node_modules/.installed`;
const lock = readFileSync(`${here}package-lock.json`, "utf8");

const isInstalled = (): boolean => existsSync(mark) && readFileSync(mark, "utf8") === lock;

/** Installs the peers as the lockfile says, unless that was done; tells whether they are there. */
export const install = (): boolean => {
  if (isInstalled()) return true;
  console.log("Installing the peers (about 180 MB) …");
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: here,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status === 0) writeFileSync(mark, lock);
  else console.error("The peers could not be installed; see above.");
  return status === 0;
};

/** Whether a package is there. */
export const has = (name: string): boolean => existsSync(`${here}node_modules/${name}`);
