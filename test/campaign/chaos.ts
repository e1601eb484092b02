import type { CallRecord } from "outdial/emulator";
import { startService } from "../bridge/service.ts";
import { randomOf } from "../random.ts";
import { listOf, numbersOf, rowsOf } from "./csv.ts";
import { startWorker, type Worker } from "./worker.ts";

export interface Chaos {
  readonly contacts: number;
  readonly kills: number;
  readonly seed: number;
  readonly shards: number;
  /** The share of the notifications that never arrive. */
  readonly lost: number;
}

const answer = "answer";

/** The key that a contact presses, by its number. */
const keyOf = (to_number: string): string => String((Number(to_number.at(-1)) % 3) + 1);

/** The odd numbers of the emulator: 503, 429, silence, a cut connection, garbage and the rest. */
const odd = Array.from({ length: 16 }, (_, last) => `+120255501${String(last).padStart(2, "0")}`);

const busy = "+12025550111";

/** What may become of a contact of whose end nothing was reported. */
const untold: readonly string[] = ["unknown", "expired"];

/** What may be said of a contact: how its call ended, unless the Worker can't know that. */
const possible = (call: CallRecord | undefined, isKnown: boolean): readonly string[] => {
  const isTalk = call?.state === "completed" && call.reason !== "flow_error";
  const ended = String(isTalk ? "completed" : call?.reason);
  const tries = call?.history.flatMap((entry) =>
    entry.type === "notification" && /completed|failed/.test(entry.event) ? [entry] : [],
  );
  // Who has the id of a call asks for its end.
  if (isKnown || tries?.some(({ status }) => status === 204)) return [ended];
  // A runtime that is killed may have written down what it couldn't say any more.
  const wasCut = tries?.some(({ error = "" }) => !error.startsWith("lost"));
  return wasCut ? [ended, ...untold] : untold;
};

/** Whether the flow has gone on after the answer. */
const wasThanked = (call: CallRecord | undefined): boolean =>
  !!call?.history.some((entry) => entry.type === "flow" && entry.action?.action === "say");

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const most = 10;

const progressOf = async (worker: Worker, id: string) => {
  const response = await worker.ask("GET", `/campaigns/${id}/progress`).catch(() => undefined);
  return response?.ok ? await response.json() : undefined;
};

/**
 * Waits until something is reached, or the campaign has ended: it goes on by its own alarms. Only where kills have made
 * the flows of 20 calls in a row fail, it pauses until somebody starts it again.
 *
 * @returns whether that came in time
 */
const goesOn = async (
  worker: Worker,
  id: string,
  { isReached = () => false, patience }: { isReached?: () => boolean; patience: number },
): Promise<boolean> => {
  const end = Date.now() + patience;
  for (let look = 0; Date.now() < end; look++) {
    if (isReached()) return true;
    if (look % 50 === 0) {
      const { done, reason = "" } = (await progressOf(worker, id)) ?? {};
      if (done) return true;
      if (/flow of 20 calls/.test(reason)) await worker.ask("POST", `/campaigns/${id}/start`);
    }
    await pause(10);
  }
  return false;
};

/**
 * Calls a list with the whole runtime killed at random moments, and notifications doubled, late and
 * lost.
 *
 * @returns what must not be, as lines, and what happened
 */
export const chaos = async ({ contacts, kills, seed, shards, lost }: Chaos) => {
  const random = randomOf(seed);
  const numbers = [...odd, ...numbersOf(contacts - odd.length)];
  const service = await startService({
    speed: 100,
    seed,
    keep: 10 * contacts,
    notifications: { lost, doubled: 0.1, late: 0.1, delay: 20_000 },
    callee: function* ({ to_number }) {
      yield { type: "press", digits: keyOf(to_number) };
    },
  });
  const { emulator, baseUrl } = service;
  const { apiKey, webhookSecret } = emulator;
  const question = { QUESTION: "Shall we visit you?" };
  const worker = await startWorker({ baseUrl, apiKey, webhookSecret }, question);
  const began = Date.now();
  const faults: string[] = [];
  const patience = 240_000 + contacts * 50;
  try {
    const plan = { rate: 40, concurrency: 100, window: "always", settleTimeout: 15_000, shards };
    const { id } = await (await worker.ask("POST", "/campaigns", plan)).json();
    await worker.ask("PUT", `/campaigns/${id}/contacts`, listOf(numbers));
    await worker.ask("POST", `/campaigns/${id}/start`);
    for (let kill = 0; kill < kills; kill++) {
      const many = emulator.posts.size + 1 + Math.floor(random() * 60);
      const isReached = () => emulator.posts.size >= many;
      if (!(await goesOn(worker, id, { isReached, patience }))) faults.push(`no ${many} POSTs`);
      await worker.kill();
      await pause(random() * 300);
      await worker.start();
      if (kill % 3 !== 1) continue;
      const stopped = await (await worker.ask("POST", `/campaigns/${id}/stop`)).json();
      if (stopped.failed.length > 0) faults.push(`${stopped.failed.length} calls were not ended`);
      const { size } = emulator.posts;
      await pause(300);
      if (emulator.posts.size > size) faults.push("a call has begun after the stop");
      await worker.ask("POST", `/campaigns/${id}/start`);
    }
    if (!(await goesOn(worker, id, { patience }))) faults.push("it has not ended");
    // The service may not have read yet how its last notifications were answered.
    await Promise.all(emulator.calls.map((call) => emulator.ended(call.id)));
    const results = await worker.ask("GET", `/campaigns/${id}/results`);
    const rows = rowsOf(await results.text());
    if (rows.length !== contacts) faults.push(`${rows.length} rows`);
    const calls = new Map(emulator.calls.map((call) => [call.to_number, call]));
    let answered = 0;
    for (const { to_number = "", disposition, attempts, call_id, ...row } of rows) {
      const posts = emulator.posts.get(to_number) ?? 0;
      // 429 is a certain no, after which the number's turn comes again.
      if (posts > 1 && to_number !== busy) faults.push(`${to_number}: ${posts} POSTs`);
      if (Number(attempts) > 1) faults.push(`${to_number}: ${attempts} attempts`);
      const call = calls.get(to_number);
      const given = row[answer];
      if (given) answered++;
      if (given && given !== keyOf(to_number)) faults.push(`${to_number}: has answered ${given}`);
      // The flow's next document comes after the answer is committed.
      if (!given && wasThanked(call)) faults.push(`${to_number}: its answer is lost`);
      const ends = possible(call, call_id !== "");
      if (!ends.includes(String(disposition))) {
        faults.push(`${to_number}: is ${disposition}, not ${ends.join(" or ")}`);
      }
    }
    const progress = await progressOf(worker, id);
    return {
      faults: faults.slice(0, most),
      summary: {
        ...{ contacts, kills, seed, shards, posts: emulator.posts.size },
        ...{ completed: progress?.completed, unknown: progress?.unknown },
        answered,
        seconds: Math.round((Date.now() - began) / 1000),
      },
    };
  } finally {
    await worker.close();
    await service.close();
  }
};
