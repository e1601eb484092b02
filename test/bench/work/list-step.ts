import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { signUrl } from "outdial/callbacks";
import { openCampaign } from "outdial/campaigns";

/** Microseconds a call, round by round. */
export interface StepTold {
  /** The two signatures, in batches as a step makes them. */
  readonly signatures: readonly number[];
  /** All of it but the network, in memory: nothing is durable. */
  readonly memory: readonly number[];
  /** The same on a file. */
  readonly file: readonly number[];
  /** The same on a file in which many more wait. */
  readonly long: readonly number[];
}

const [, , rounds = "", calls = "", contacts = ""] = process.argv;
const urls = {
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
} as const;
const secret = "a secret that was made at random";
const folder = mkdtempSync(join(tmpdir(), "bench-"));

const numbers = function* (count: number): Generator<{ to_number: string }> {
  for (let index = 0; index < count; index++) yield { to_number: `+1${3_035_000_000 + index}` };
};

/** A list that is called as fast as it can be, by a clock of its own; the service answers at once. */
const listIn = async (path: string, count: number) => {
  let now = Date.now();
  let posts = 0;
  const database = new DatabaseSync(path);
  const campaign = await openCampaign(database, {
    ...urls,
    from_number: "+12025550199",
    secret,
    create: async () => ({ id: `cs_${++posts}` }),
    rate: 10_000,
    concurrency: count,
    window: "always",
    clock: () => now,
  });
  await campaign.add(numbers(count));
  return {
    /** Calls so many, and gives the microseconds that each took. */
    call: async (some: number): Promise<number> => {
      const end = posts + some;
      const began = performance.now();
      while (posts < end) {
        now += 2;
        await campaign.step();
      }
      await campaign.idle();
      return (1000 * (performance.now() - began)) / some;
    },
    close: async () => {
      await campaign.close();
      database.close();
    },
  };
};

/** Calls of one step. */
const batch = 16;

const signatures = async (some: number): Promise<number> => {
  const context = { campaign: "0123456789abcdef01234567", contact: 123_456, attempt: 1 };
  const options = { secret, context, expiresIn: 90_150 };
  const began = performance.now();
  for (let done = 0; done < some; done += batch) {
    await Promise.all(
      Array.from({ length: batch }, () =>
        Promise.all([signUrl(urls.flow_url, options), signUrl(urls.status_callback_url, options)]),
      ),
    );
  }
  return (1000 * (performance.now() - began)) / some;
};

/** A list of a thousand is at its end soon: each round has its own. */
const short = async (path: string): Promise<number> => {
  const { call, close } = await listIn(path, 1000);
  const took = await call(Number(calls));
  await close();
  return took;
};

const told = {
  signatures: [] as number[],
  memory: [] as number[],
  file: [] as number[],
  long: [] as number[],
};
const long = await listIn(join(folder, "long"), Number(contacts));
// The first round compiles what the others run.
for (let round = -1; round < Number(rounds); round++) {
  const times = {
    signatures: await signatures(Number(calls)),
    memory: await short(":memory:"),
    file: await short(join(folder, `short${round}`)),
    long: await long.call(Number(calls)),
  };
  if (round < 0) continue;
  for (const name of ["signatures", "memory", "file", "long"] as const) {
    told[name].push(times[name]);
  }
}
await long.close();
rmSync(folder, { recursive: true });
console.log(JSON.stringify(told satisfies StepTold));
