// `npm run exchange`, on any Node from 20 on: installs Asterisk in a folder of its own, starts it, calls the tests' SIP
// telephones by it, and stops all of it. Where it can't be installed, it says so.
// Usage: npm run exchange -- [--short] [part of a path …] [vitest's options]
// npm run exchange -- kills: the service is killed a hundred times (OUTDIAL_KILLS).
// npm run exchange -- figures: measures at the telephone's ear, and writes README's table.
// OUTDIAL_CALLS=200 npm run exchange -- compared: as many calls are compared, instead of 32.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

process.chdir(fileURLToPath(new URL("../..", import.meta.url)));
const root = process.env.OUTDIAL_ASTERISK ?? join(tmpdir(), "exchange", "asterisk");

/** What follows `npm test`: less than five minutes, the installation included. */
const short = [
  ...["reminder", "trunk", "endings", "compared", "lost", "service"],
  ...["twilio", "telnyx", "vonage"],
];
const given = process.argv.slice(2);
const isShort = given.includes("--short");
/** The service is killed a hundred times, in the place of ten. */
const isKilled = given[0] === "kills";
const kept = isKilled ? ["exchange/service.test", ...given.slice(1)] : given;
const args = isShort
  ? [...given.filter((each) => each !== "--short"), ...short.map((name) => `exchange/${name}.test`)]
  : kept;

/** How long the installation may take, in seconds: a host may accept connections, and send nothing. */
const installTimeout = 300;

/** In CI what is missing is a failure, but for the short form. */
const skip = (reason) => {
  console.log(`npm run exchange: skipped, as ${reason}. No telephone was called.`);
  process.exit(process.env.CI === "true" && !isShort ? 1 : 0);
};

if (!existsSync(`${root}/usr/sbin/asterisk`)) {
  if (process.platform !== "linux" || process.arch !== "x64")
    skip("Asterisk is installed on Linux, x64, alone");
  if (process.getuid?.() !== 0)
    skip(`Asterisk is not in ${root}, and only root can install it there`);
  console.log(`Installing Asterisk (about 450 MB, a minute) in ${root} …`);
  const install = ["bash", "test/exchange/asterisk/install.sh", root];
  // `timeout` also ends what the script has started.
  const { status } = spawnSync("timeout", ["--kill-after=10", `${installTimeout}`, ...install], {
    stdio: "inherit",
  });
  if (status === 124 || status === 137)
    skip(`the installation was not over after ${installTimeout} s`);
  if (status !== 0) skip("the installation has failed, see above");
}
const node = "test/node_modules/node/bin/node";
if (!existsSync(node)) skip('the tests\' packages are missing: run "npm ci --prefix test" first');
const isMeasured = process.argv[2] === "figures";
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--config=test/exchange/vitest.config.ts"];
const { status } = spawnSync(
  node,
  isMeasured ? ["test/exchange/figures/figures.ts", ...given.slice(1)] : [...vitest, ...args],
  {
    stdio: "inherit",
    env: {
      ...process.env,
      OUTDIAL_ASTERISK: root,
      ...(isKilled && { OUTDIAL_KILLS: process.env.OUTDIAL_KILLS ?? "100" }),
    },
  },
);
process.exitCode = status ?? 1;
