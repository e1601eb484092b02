import { parseArgs } from "node:util";
import { chaos as workers } from "../campaign/chaos.ts";
import { runtimes } from "../cli/cli.ts";
import { chaos } from "./chaos.ts";

// `npm run chaos`: the command, with `--service twilio` by a carrier; `npm run chaos -- workers`: the Worker.
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
const { faults, summary } = positionals.includes("workers")
  ? await workers({ ...run, shards: 4 })
  : await chaos({ ...run, runtimes, service: values.service });
console.log(summary);
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(
  `${faults.length === 0 ? "ok" : "FAILED"}: at most one POST an attempt, every end reported`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
