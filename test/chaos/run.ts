import { parseArgs } from "node:util";
import { chaos as workers } from "../campaign/chaos.ts";
import { runtimes } from "../cli/cli.ts";
import { lostList } from "../lost/list.ts";
import { chaos } from "./chaos.ts";
import { listChaos } from "./lists.ts";
import { servicesChaos } from "./services.ts";
import { survey } from "./survey.ts";

// `npm run chaos`: the command, with `--service twilio` by a carrier, and then a survey by `--script`; `npm run chaos -- workers`:
// the Worker; `npm run chaos -- survey`: the survey alone, by any carrier; `npm run chaos -- lists`: answers, call-backs, machines
// and stops, with each service, on a file and on Durable Objects; `npm run chaos -- services`: a list over two services, in the
// library; `-- several`: by the command; `-- lost`: lost answers at a service that keeps keys.
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

/** Lists of 200 contacts with each service and in each home, and the same with a receiver that is away. */
const lists = async () => {
  const rounds = Math.max(1, Math.round(run.contacts / 200));
  const faults: string[] = [];
  const summary: Awaited<ReturnType<typeof listChaos>>["summary"][] = [];
  for (let round = 0; round < rounds; round++) {
    for (const service of ["twilio", "vonage", "telnyx", "outdial"] as const) {
      for (const home of ["file", "objects"] as const) {
        const seed = run.seed + round;
        const one = { service, home, contacts: 200, stops: 3, seed };
        const ended = await listChaos({ ...one, kills: run.kills, lost: 0.1 });
        const away = await listChaos({ ...one, kills: 0, stops: 0, lost: 0.1, away: 1_800_000 });
        console.log({ ...ended.summary, faults: ended.faults.length + away.faults.length });
        faults.push(...ended.faults, ...away.faults);
        summary.push(ended.summary);
      }
    }
  }
  const total = (count: "posts" | "killed" | "answered" | "ended" | "lost"): number =>
    summary.reduce((sum, each) => sum + each[count], 0);
  const [posts, killed, answered] = [total("posts"), total("killed"), total("answered")];
  const counts = { posts, killed, answered, ended: total("ended"), lost: total("lost") };
  return { faults, summary: { lists: summary.length, seed: run.seed, ...counts } };
};

/** Lists of 200 contacts over two services, in each home. */
const services = async () => {
  const faults: string[] = [];
  const summary: Awaited<ReturnType<typeof servicesChaos>>["summary"][] = [];
  for (let round = 0; round < Math.max(1, Math.round(run.contacts / 200)); round++) {
    for (const home of ["file", "objects"] as const) {
      const seed = run.seed + round;
      const ended = await servicesChaos({ home, contacts: 200, kills: run.kills, seed });
      console.log({ ...ended.summary, faults: ended.faults.length });
      faults.push(...ended.faults);
      summary.push(ended.summary);
    }
  }
  const total = (count: "posts" | "killed" | "down" | "forged"): number =>
    summary.reduce((sum, each) => sum + each[count], 0);
  const counts = { posts: total("posts"), killed: total("killed"), forged: total("forged") };
  return { faults, summary: { lists: summary.length, seed: run.seed, ...counts } };
};

/** A list of 1,000 contacts at a service that keeps keys, with the option, and beside it without. */
const lost = async () => {
  const faults: string[] = [];
  const shares: number[] = [];
  for (const idempotent of [true, false]) {
    const ended = await lostList({ contacts: 1_000, kills: 20, seed: run.seed, idempotent });
    faults.push(...ended.faults);
    shares.push(ended.summary.share);
    console.log(ended.summary);
  }
  const [unknown, unknownWithout] = shares;
  return { faults, summary: { seed: run.seed, unknown, unknownWithout } };
};

const runs = {
  list: {
    promise: "at most one POST an attempt, every end reported",
    begin: () => chaos({ ...run, runtimes, service: values.service }),
  },
  workers: {
    promise: "at most one POST an attempt, every end reported",
    begin: () => workers({ ...run, shards: 4, lost: 0.1 }),
  },
  lists: {
    promise: "one POST an attempt, no committed answer is lost, no known id ends as unknown",
    begin: lists,
  },
  services: {
    promise: "each attempt at one service, one call an attempt, no forged notification counts",
    begin: services,
  },
  several: {
    promise: "each attempt at one service, one call an attempt, no forged notification counts",
    begin: () => chaos({ ...run, runtimes, several: true }),
  },
  lost: {
    promise: "with idempotent nobody is called twice, and nearly every lost answer is known",
    begin: lost,
  },
  survey: {
    promise: "no answer that was kept is lost, none is another's",
    begin: () => survey({ contacts: 600, kills: 50, seed: run.seed, service: values.service }),
  },
};
const alone = (["workers", "lists", "services", "several", "lost", "survey"] as const).find(
  (name) => positionals.includes(name),
);
const chosen = alone ? [alone] : (["list", "several", "lost", "survey"] as const);
for (const name of chosen) {
  const { promise, begin } = runs[name];
  const { faults, summary } = await begin();
  console.log(summary);
  for (const fault of faults) console.log(`FAULT ${fault}`);
  console.log(`${faults.length === 0 ? "ok" : "FAILED"}: ${promise}`);
  if (faults.length > 0) process.exitCode = 1;
}
