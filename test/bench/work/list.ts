// A list in one process, whose service answers at once: into a file and out of it, a step, and the rate that is kept.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { signUrl, verifyUrl } from "outdial/callbacks";
import { type Campaign, openCampaign, openLedger } from "outdial/campaigns";

/** A list into a file, or out of it. */
export interface Transfer {
  /** Contacts a second. */
  readonly rate: number;
  /** The most that was resident, in bytes. */
  readonly resident: number;
}

/** Microseconds a call, round by round. */
export interface StepTimes {
  /** The two signatures, in batches as a step makes them. */
  readonly signatures: readonly number[];
  /** Everything but the network, in memory: nothing is durable. */
  readonly memory: readonly number[];
  /** The same on a file. */
  readonly file: readonly number[];
  /** The same on a file in which many more wait. */
  readonly long: readonly number[];
}

/** How a rate was kept. */
export interface KeptRate {
  /** Calls a second, as the option says. */
  readonly rate: number;
  /** Calls a second, as they were. */
  readonly kept: number;
  /** The most in any second. */
  readonly most: number;
}

const from_number = "+12025550199";
const flow_url = "https://app.test/flow";
const status_callback_url = "https://app.test/status";
const secret = "a secret that was made at random";
const plan = { from_number, flow_url, status_callback_url, secret, window: "always" } as const;

/** Texts of three digits. With them no number becomes a text: V8 keeps such texts for a while, and a list's cells are none. */
const digits = Array.from({ length: 1_000 }, (_, number) => `${number}`.padStart(3, "0"));

/** A whole number below a thousand million as nine digits. */
const nineDigits = (number: number): string =>
  [number / 1_000_000, (number / 1_000) % 1_000, number % 1_000]
    .map((part) => digits[Math.floor(part)])
    .join("");

/** Numbers in no order: a step through all ten million numbers of an area, which meets each once. */
const unorderedNumber = (index: number): string =>
  `+13${nineDigits(30_000_000 + ((index * 7_654_321) % 10_000_000))}`;

const orderedNumber = (index: number): string => `+1${3_035_000_000 + index}`;

/** Contacts as a list in CSV gives them. */
const contacts = function* (count: number) {
  for (let index = 0; index < count; index++) {
    const variables = { name: "Ada" };
    yield {
      to_number: unorderedNumber(index),
      id: `A-${nineDigits(index)}`,
      variables,
      line: index + 2,
    };
  }
};

const addAll = async (database: DatabaseSync, count: number): Promise<number> => {
  const campaign = await openCampaign(database, { ...plan, create: async () => ({ id: "cs_1" }) });
  const { added } = await campaign.add(contacts(count));
  await campaign.close();
  return added;
};

const readAll = (database: DatabaseSync): number => {
  let found = 0;
  for (const { to_number } of openLedger(database).results()) if (to_number) found++;
  return found;
};

const transfer = async (way: "in" | "out", file: string, count: number): Promise<Transfer> => {
  const database = new DatabaseSync(file);
  const began = performance.now();
  const done = await (way === "in" ? addAll(database, count) : readAll(database));
  const took = performance.now() - began;
  database.close();
  if (done !== count) throw new Error(`${done} of ${count} ${way}`);
  return { rate: (1000 * count) / took, resident: process.resourceUsage().maxRSS * 1024 };
};

const waiting = function* (count: number): Generator<{ to_number: string }> {
  for (let index = 0; index < count; index++) yield { to_number: orderedNumber(index) };
};

/** A list that is called as fast as possible, with a clock of its own; the service answers at once. */
const openWaiting = async (path: string, count: number) => {
  let now = Date.now();
  let posts = 0;
  const database = new DatabaseSync(path);
  const campaign = await openCampaign(database, {
    ...plan,
    create: async () => ({ id: `cs_${++posts}` }),
    rate: 10_000,
    concurrency: count,
    clock: () => now,
  });
  await campaign.add(waiting(count));
  return {
    /** Places so many calls, and resolves with the microseconds that each took. */
    call: async (calls: number): Promise<number> => {
      const end = posts + calls;
      const began = performance.now();
      while (posts < end) {
        now += 2;
        await campaign.step();
      }
      await campaign.idle();
      return (1000 * (performance.now() - began)) / calls;
    },
    close: async () => {
      await campaign.close();
      database.close();
    },
  };
};

/** Calls of one step. */
const batch = 16;

const timeSignatures = async (calls: number): Promise<number> => {
  const context = { campaign: "0123456789abcdef01234567", contact: 123_456, attempt: 1 };
  const options = { secret, context, expiresIn: 90_150 };
  const began = performance.now();
  for (let done = 0; done < calls; done += batch) {
    await Promise.all(
      Array.from({ length: batch }, () =>
        Promise.all([signUrl(flow_url, options), signUrl(status_callback_url, options)]),
      ),
    );
  }
  return (1000 * (performance.now() - began)) / calls;
};

/** A list of a thousand is soon at its end: each round has a new one. */
const timeShortList = async (path: string, calls: number): Promise<number> => {
  const { call, close } = await openWaiting(path, 1000);
  const took = await call(calls);
  await close();
  return took;
};

const timeSteps = async (
  folder: string,
  rounds: number,
  calls: number,
  count: number,
): Promise<StepTimes> => {
  const times = {
    signatures: [] as number[],
    memory: [] as number[],
    file: [] as number[],
    long: [] as number[],
  };
  const long = await openWaiting(join(folder, "long"), count);
  // The first round compiles what the others run.
  for (let round = -1; round < rounds; round++) {
    const took = {
      signatures: await timeSignatures(calls),
      memory: await timeShortList(":memory:", calls),
      file: await timeShortList(join(folder, `short${round}`), calls),
      long: await long.call(calls),
    };
    if (round < 0) continue;
    for (const name of ["signatures", "memory", "file", "long"] as const) {
      times[name].push(took[name]);
    }
  }
  await long.close();
  return times;
};

/** When the POSTs of a list with a rate begin, by the clock on the wall. */
const postTimes = async (rate: number, seconds: number, file: string): Promise<number[]> => {
  const times: number[] = [];
  let campaign: Campaign | undefined;
  /** The end of a call, as its notification brings it. */
  const end = async (url: string, call_id: string): Promise<void> => {
    const context = await verifyUrl(url, { secret });
    const data = { reason: "normal", duration: 1 };
    const event = { known: true, type: "call.completed", call_id, data } as const;
    await campaign?.note({ event, context });
  };
  campaign = await openCampaign(new DatabaseSync(file), {
    ...plan,
    create: async ({ status_callback_url = "" }) => {
      times.push(Date.now());
      const id = `cs_${times.length}`;
      await new Promise((resolve) => setTimeout(resolve, 100));
      setTimeout(() => end(status_callback_url, id), 500);
      return { id };
    },
    concurrency: 10 * Math.ceil(rate),
    rate,
  });
  await campaign.add(waiting(Math.ceil(rate * (seconds + 2))));
  await campaign.run({ signal: AbortSignal.timeout(seconds * 1000 + 500) });
  await campaign.pause("enough was measured");
  await campaign.drain();
  await campaign.close();
  return times;
};

const keptRate = (rate: number, seconds: number, times: readonly number[]): KeptRate => {
  const [first = 0] = times;
  const within = times.filter((at) => at < first + seconds * 1000);
  const inSecondFrom = within.map((at, index) => {
    const after = within.findIndex((other, later) => later > index && other >= at + 1000);
    return (after < 0 ? within.length : after) - index;
  });
  return { rate, kept: within.length / seconds, most: Math.max(...inSecondFrom) };
};

const keepRates = async (folder: string, seconds: number, rates: readonly string[]) => {
  const all: KeptRate[] = [];
  for (const rate of rates) {
    const times = await postTimes(Number(rate), seconds, join(folder, rate));
    all.push(keptRate(Number(rate), seconds, times));
  }
  return all;
};

const [, , what, ...args] = process.argv;
const [one = "", two = "", three = ""] = args;
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const work: Readonly<Record<string, () => Promise<unknown>>> = {
  in: () => transfer("in", one, Number(two)),
  out: () => transfer("out", one, Number(two)),
  steps: () => timeSteps(folder, Number(one), Number(two), Number(three)),
  rates: () => keepRates(folder, Number(one), args.slice(1)),
};
const result = await work[what ?? ""]?.();
rmSync(folder, { recursive: true });
console.log(JSON.stringify(result));
process.exit();
