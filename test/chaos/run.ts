import { parseArgs } from "node:util";
import { chaos as workers } from "../campaign/chaos.ts";
import { runtimes } from "../cli/cli.ts";
import { chaos } from "./chaos.ts";
import { survey } from "./survey.ts";

// `npm run chaos`: the command, with `--service twilio` by a carrier, and then a survey by `--script`; `npm run chaos -- workers`:
// the Worker; `npm run chaos -- survey`: the survey alone, by any carrier.
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    contacts: { type: "string", default: "2000" },
    kills: { type: "string", default: "32" },
    service: { type: "string" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const run = {
  contacts: Number(values.contacts),
  kills: Number(values.kills),
  seed: Number(values.seed),
};
const runs = {
  list: {
    promise: "at most one POST an attempt, every end reported",
    begin: () => chaos({ ...run, runtimes, service: values.service }),
  },
  workers: {
    promise: "at most one POST an attempt, every end reported",
    begin: () => workers({ ...run, shards: 4 }),
  },
  survey: {
    promise: "no answer that was kept is lost, none is another's",
    begin: () => survey({ contacts: 300, kills: 50, seed: run.seed, service: values.service }),
  },
};
const chosen = positionals.includes("workers")
  ? (["workers"] as const)
  : positionals.includes("survey")
    ? (["survey"] as const)
    : (["list", "survey"] as const);
for (const name of chosen) {
  const { promise, begin } = runs[name];
  const { faults, summary } = await begin();
  console.log(summary);
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(`${faults.length === 0 ? "ok" : "FAILED"}: ${promise}`);
  if (faults.length > 0) process.exitCode = 1;
}
