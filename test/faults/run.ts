import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import type { Runtime } from "../conformance/case.ts";
import { isService } from "../conformance/services/index.ts";
import { launchApart, whyNotApart } from "./apart.ts";
import { makeCertificates } from "./certificates.ts";
import { judge, type Verdict } from "./judge.ts";
import { type Ended, launch, runtimes } from "./launch.ts";
import { markdown } from "./markdown.ts";
import { serve } from "./serve.ts";
import { faultsOf, type Wanted, wantedOf } from "./table/index.ts";

/**
 * Every fault in every runtime. Writes `test/faults/README.md`, or with `--check` compares it;
 * `--runtime` and `--only` (a regular expression for the names of faults) run a part and write nothing; `--seed` meets each fault in
 * one runtime, which it chooses, by each entry and protocol, and compares the table as well. `--service` places the
 * calls with a carrier, on a server that answers as the carrier does: the statuses mean what that carrier documents.
 */
const { values } = parseArgs({
  options: {
    check: { type: "boolean", default: false },
    runtime: { type: "string", multiple: true },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    service: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const { only, verbose, service } = values;
if (service !== undefined && !isService(service)) throw new Error(`there is no ${service}`);
const part: Wanted = {
  only,
  service,
  ...(values.seed !== undefined && { seed: Number(values.seed) }),
};
const check = values.check || part.seed !== undefined;
process.chdir(new URL("../..", import.meta.url).pathname);
const readme = "test/faults/README.md";
const certificates = makeCertificates();
const { control, stop } = await serve(certificates.folder, part);

const verdicts: Verdict[] = [];
const wanted = runtimes.filter((each) => values.runtime?.includes(each) ?? true);

/** One lane of work: a part of the faults in one runtime after the other. */
const lane = async (
  name: string,
  queue: Runtime[],
  apart: boolean,
  meet: (runtime: Runtime) => Promise<Ended>,
) => {
  for (let runtime = queue.shift(); runtime; runtime = queue.shift()) {
    const faults = wantedOf(part, runtime, apart);
    if (faults.length === 0) continue;
    const start = Date.now();
    const verdict = judge(runtime, await meet(runtime), faults, service);
    verdicts.push(verdict);
    const { attempts, failures } = verdict;
    const seconds = ((Date.now() - start) / 1000).toFixed(1);
    const word = failures.length > 0 ? "FAILED" : "ok    ";
    console.log(`${word} ${runtime}${name}: ${attempts.length} calls, ${seconds} s`);
    for (const failure of failures) console.log(`  ${failure}`);
    if (verbose) for (const each of attempts) console.log(JSON.stringify(each));
  }
};

const whyNot = whyNotApart();
const usual = [...wanted];
const usually = () => lane("", usual, false, (each) => launch(each, control, certificates));
const losing = whyNot === undefined ? [...wanted] : [];
// It waits nearly all of the time, so it may go beside the rest.
const apart = () =>
  lane(", its network", losing, true, (each) => launchApart(each, certificates, part));
await Promise.all([usually(), usually(), apart(), apart()]);
stop();
rmSync(certificates.folder, { recursive: true });

let failed = verdicts.some(({ failures }) => failures.length > 0);
if (whyNot !== undefined) {
  for (const { name } of faultsOf().filter(({ cut }) => cut))
    console.log(`not run: ${name}: ${whyNot}`);
  // As for a program that is missing: in CI everything must run.
  if (process.env.CI) failed = true;
}
if (!failed && only === "" && service === undefined && wanted.length === runtimes.length) {
  const table = markdown(check ? undefined : whyNot);
  if (!check) writeFileSync(readme, table);
  else if (readFileSync(readme, "utf8") !== table) {
    failed = true;
    console.log(`FAILED ${readme} is not what came of this run`);
  }
}
process.exit(failed ? 1 : 0);
