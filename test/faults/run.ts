import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Runtime } from "../conformance/case.ts";
import { makeCertificates } from "./certificates.ts";
import { judge, type Verdict } from "./judge.ts";
import { launch, runtimes } from "./launch.ts";
import { markdown } from "./markdown.ts";

/**
 * Every fault in every runtime. Writes `test/faults/README.md`, or with `--check` compares it;
 * `--runtime` and `--only` (a part of a fault's name) run a part and write nothing.
 */
const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    runtime: { type: "string", multiple: true },
    only: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});
const { check, only, verbose } = values;
process.chdir(new URL("../..", import.meta.url).pathname);
const readme = "test/faults/README.md";
const certificates = makeCertificates();
const server = spawn(process.execPath, ["test/faults/server/main.ts", certificates.folder], {
  stdio: ["pipe", "pipe", "inherit"],
});
const control = String((await once(server.stdout, "data"))[0]).trim();

const verdicts = new Map<Runtime, Verdict>();
const wanted = runtimes.filter((each) => values.runtime?.includes(each) ?? true);
const queue = [...wanted];
const lane = async () => {
  for (let runtime = queue.shift(); runtime; runtime = queue.shift()) {
    const start = Date.now();
    const { output, code, at } = await launch(runtime, control, certificates, only);
    const verdict = judge(runtime, output, code, at, only);
    verdicts.set(runtime, verdict);
    const { attempts, failures } = verdict;
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    const word = failures.length > 0 ? "FAILED" : "ok    ";
    console.log(`${word} ${runtime}: ${attempts.length} calls, ${seconds} s`);
    for (const failure of failures) console.log(`  ${failure}`);
    if (verbose) for (const each of attempts) console.log(JSON.stringify(each));
  }
};
await Promise.all([lane(), lane()]);
server.stdin.end();
rmSync(certificates.folder, { recursive: true });

let failed = [...verdicts.values()].some(({ failures }) => failures.length > 0);
if (!failed && only === "" && wanted.length === runtimes.length) {
  const table = markdown(verdicts);
  if (!check) writeFileSync(readme, table);
  else if (readFileSync(readme, "utf8") !== table) {
    failed = true;
    console.log(`FAILED ${readme} is not what came of this run`);
  }
}
process.exit(failed ? 1 : 0);
