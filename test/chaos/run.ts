import { parseArgs } from "node:util";
import { runtimes } from "../cli/cli.ts";
import { chaos } from "./chaos.ts";

const { values } = parseArgs({
  options: {
    contacts: { type: "string", default: "2000" },
    kills: { type: "string", default: "32" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const { faults, summary } = await chaos({
  contacts: Number(values.contacts),
  kills: Number(values.kills),
  seed: Number(values.seed),
  runtimes,
});
console.log(summary);
for (const fault of faults) console.log(`FAULT ${fault}`);
console.log(
  `${faults.length === 0 ? "ok" : "FAILED"}: at most one POST an attempt, every end told`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
