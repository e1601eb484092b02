import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client, calls, isException, type Options } from "outdial";
import { signUrl } from "outdial/callbacks";
import { type Books, balance, outcomes } from "./account.ts";
import { start } from "./child.ts";
import { hashOf, Ledger } from "./ledger.ts";
import { heapInUse, type Sample, slopeOf } from "./memory.ts";
import { type Kind, kinds, type Outcome } from "./traffic.ts";

/**
 * 50 workers of mixed traffic against the emulator on loopback, 5 % of it with faults. Every call is
 * accounted for by the number of its attempt: by the caller, by the service, which took it or not, and
 * by the application, which was notified. `--calls 500000` for half an hour.
 */
const { values } = parseArgs({ options: { calls: { type: "string", default: "20000" } } });
const total = Number(values.calls);
const workers = 50;

/** How often the key changes, and the heaps are measured: where the calls are many, often enough for a line. */
const samples = Math.min(40, Math.ceil(total / 100));

/** A deadline that ends only what hangs, in milliseconds. */
const patience = 600_000;

/** Bytes that a call may leave behind beyond doubt: less than a timer, a listener or a response. */
const noise = 64;

const secret = randomBytes(24).toString("base64");
const webhookSecret = `whsec_${randomBytes(32).toString("base64")}`;
const service = start("./service.ts");
const application = start("./application.ts");
const { baseUrl, ...first } = await service.ask<{ baseUrl: string; key: string }>("start", {
  webhookSecret,
});
const origin = await application.ask<string>("start", { secret, webhookSecret });

let key = first.key;
/** Counts each rotation twice, when it is asked for and when it is known. */
let rotations = 0;
const rotate = async () => {
  rotations++;
  key = await service.ask<string>("rotate");
  rotations++;
};

const books = { kinds: new Ledger(), outcomes: new Ledger(), ids: new Ledger() };
const surprises = new Map<string, number>();
let attempts = 0;

const byShare = kinds.flatMap((kind, index) => Array<number>(kind.share).fill(index));
const client = new Client(() => key, { baseUrl });
const shared = new AbortController().signal;

const place = async (kind: Kind, attempt: number) => {
  const context = { attempt, flow: kind.flow ?? "hangup" };
  const params = {
    from_number: "+12025550199",
    to_number: kind.to_number,
    flow_url: await signUrl(`${origin}/flow`, { secret, context }),
    status_callback_url: await signUrl(`${origin}/status?attempt=${attempt}`, { secret, context }),
    ...(kind.record === false && { record: false }),
  };
  const { apiKey, path, timeout, abort, wire } = kind;
  const options: Partial<Options> = {
    ...(apiKey && { apiKey }),
    ...(path && { path }),
    timeout: timeout ?? patience,
    ...(wire && { headers: { "X-Wire": wire } }),
    ...(abort ? { signal: AbortSignal.timeout(abort) } : attempt % 3 === 0 && { signal: shared }),
  };
  return attempt % 2
    ? client.calls.create(params, options)
    : calls.create(params, { apiKey: () => key, baseUrl, ...options });
};

const outcomeOf = (error: unknown): Outcome =>
  isException(error) && error.placed === "no" ? "refused" : "maybe";

const surprise = (what: string) => surprises.set(what, (surprises.get(what) ?? 0) + 1);

const attemptOne = async () => {
  const attempt = ++attempts;
  const index = byShare[Math.floor(Math.random() * byShare.length)] ?? 0;
  const kind = kinds[index];
  if (!kind) return;
  books.kinds.set(attempt, index);
  const before = rotations;
  let outcome: Outcome = "placed";
  let said = "";
  try {
    books.ids.set(attempt, hashOf((await place(kind, attempt)).id));
  } catch (error) {
    outcome = outcomeOf(error);
    said = String(error);
  }
  books.outcomes.set(attempt, outcomes.indexOf(outcome));
  // While the key changes a call with the old one is refused, rightly.
  const rotated = rotations > before || rotations % 2 === 1;
  const isRight = outcome === kind.outcome || (outcome === "refused" && rotated);
  if (!isRight) surprise(`${kind.name}: ${outcome} ${said}`);
};

let underway = 0;
let gate = Promise.resolve();
const work = async () => {
  while (attempts < total) {
    await gate;
    underway++;
    await attemptOne();
    underway--;
    await wait(Math.random() * 20);
  }
};

const own: Sample[] = [];
/** Between two calls: nobody is at work, and every call at the service is over. */
const sample = async () => {
  while (underway > 0) await wait(20);
  for (const child of [service, application]) {
    child.samples.push({ calls: attempts, heap: await child.ask<number>("sample") });
  }
  own.push({ calls: attempts, heap: await heapInUse() });
};
const watch = async () => {
  for (let next = 1; next <= samples; next++) {
    while (attempts < (next * total) / (samples + 1)) await wait(20);
    await rotate();
    gate = sample();
    await gate;
  }
};

await Promise.all([watch(), ...Array.from({ length: workers }, work)]);
const taken = await service.ask<Books["taken"]>("close");
const heard = await application.ask<Books["heard"]>("close");
const { counts, wrong } = balance({ attempts, ...books, taken, heard });

const failures = [...Object.entries(wrong), ...surprises].map(
  ([what, many]) => `${many} x ${what}`,
);
const count = (number: number) => number.toLocaleString("en");
console.log(`${count(attempts)} calls by ${workers} workers`);
for (const [outcome, many] of Object.entries(counts).sort()) {
  console.log(`  ${count(many).padStart(9)} ${outcome}`);
}
const processes = { caller: own, service: service.samples, application: application.samples };
for (const [name, samples] of Object.entries(processes)) {
  const slope = slopeOf(samples);
  const megabytes = ((samples.at(-1)?.heap ?? 0) / 2 ** 20).toFixed(1);
  const said = slope
    ? `${slope.bytes.toFixed(1)} ± ${slope.error.toFixed(1)} bytes a call`
    : "unknown, as the calls are too few";
  console.log(`  ${name}: heap ${megabytes} MiB, slope ${said}`);
  if (slope && !(slope.bytes - 2 * slope.error < noise)) {
    failures.push(`the heap of the ${name} grows: ${said}`);
  }
}
for (const failure of failures) console.log(`FAILED ${failure}`);
console.log(failures.length > 0 ? "not accounted for" : "every call accounted for, on all sides");
process.exitCode = failures.length > 0 ? 1 : 0;
