import { type FieldError, isException } from "outdial";
import type { Runtime } from "../conformance/case.ts";
import { type Entry, entries } from "../conformance/entries.ts";
import { apiKey, from_number, params, to_number } from "../conformance/fixtures.ts";
import { inspect } from "../runtimes/inspect.ts";
import {
  deadlines,
  expectedOf,
  type Fault,
  type Outcome,
  type Protocol,
  protocolsOf,
} from "./fault.ts";
import { type Ask, noOutage, type Outage, outages } from "./outage.ts";
import type { Seen } from "./server/seen.ts";
import { faults } from "./table/index.ts";
import { watchedSignal, watchTimers } from "./watch.ts";

/** What became of one call in one runtime, as the caller and as the server saw it. */
export interface Attempt {
  /** The entry of the package that placed it. */
  readonly entry: string;
  readonly fault: string;
  readonly protocol: Protocol;
  /** The exception's name, `"none"`, or whatever else the call rejected with. */
  readonly exception: string;
  readonly placed: Outcome["placed"];
  readonly code?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly errors?: readonly FieldError[] | undefined;
  readonly message: string;
  readonly ms: number;
  /** What is left of the call after its end: listeners on the caller's signal, and its deadline. */
  readonly listeners: number;
  readonly timers: number;
  /** Whether the exception shows the key or a number. */
  readonly shows: boolean;
  readonly seen: Seen;
}

/** One fault, by one protocol, met by one entry. */
interface Meeting {
  readonly entry: Entry;
  readonly fault: Fault;
  readonly protocol: Protocol;
}

const attempt = async (
  ask: Ask,
  runtime: Runtime,
  { entry: { entry, calls }, fault, protocol }: Meeting,
  timersOf: (delay: number) => number,
  { begins, isGone, isOver, later }: Outage,
): Promise<Attempt> => {
  const { name, server } = fault;
  const { id, baseUrl } = await ask<{ id: string; baseUrl: string }>(
    `open/${protocol}/${encodeURIComponent(name)}`,
  );
  const timeout = deadlines[expectedOf(fault, runtime, protocol).ends] + later;
  const { signal, listeners } = watchedSignal();
  const options = { apiKey, baseUrl, timeout, dangerouslyAllowBrowser: true };
  if (server?.kept) {
    // It only opens the connection, and a busy machine may take its time for that.
    await calls.create(params, { ...options, timeout: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 50)); // Until the runtime keeps it.
  }
  await begins(id, fault);
  const start = Date.now();
  const error: unknown = await calls.create(params, { ...options, signal }).then(
    (call) => (call.id === "cs_1" ? undefined : new Error(`another id: ${call.id}`)),
    (reason: unknown) => reason ?? new Error("rejected with nothing"),
  );
  const ms = Date.now() - start;
  const left = { listeners: listeners(), timers: timersOf(timeout) };
  const shown = inspect(error);
  // What a user's program would print; the launcher looks for the key in all output.
  if (error) console.log(error);
  const early = isGone() ? "" : "ended before the network was gone: ";
  const outcome = isException(error)
    ? {
        ...{ exception: `${early}${error.name}`, placed: error.placed, code: error.code },
        ...{ retryAfter: error.retryAfter, errors: error.errors },
      }
    : error
      ? ({ exception: String(error), placed: "maybe" } as const)
      : ({ exception: "none", placed: "yes" } as const);
  await isOver();
  return {
    ...{ entry, fault: name, protocol, ...outcome, ms, ...left },
    message: error instanceof Error ? error.message : "",
    shows: [apiKey, from_number.slice(1), to_number.slice(1)].some((each) => shown.includes(each)),
    seen: await ask(`close/${id}`),
  };
};

/**
 * Every fault that the server lists, by every entry and every protocol that this runtime speaks: for
 * each entry one after the other, but all at once those that lose their network together.
 */
export const attemptAll = async (
  control: string,
  runtime: Runtime,
): Promise<readonly Attempt[]> => {
  const { fetch } = globalThis;
  const ask: Ask = async (path) => (await fetch(`${control}/${path}`)).json();
  const timersOf = watchTimers();
  const listed = await ask<readonly string[]>("faults");
  const wanted = faults
    .filter(({ name }) => listed.includes(name))
    .flatMap((fault) => protocolsOf(fault, runtime).map((protocol) => ({ fault, protocol })))
    .flatMap((each): Meeting[] => entries.map((entry) => ({ entry, ...each })));
  const meet = (meeting: Meeting, around: Outage) =>
    attempt(ask, runtime, meeting, timersOf, around);
  const attempts: Attempt[] = [];
  const lane = async (entry: Entry, at: number) => {
    for (const meeting of wanted) {
      if (meeting.entry !== entry || meeting.fault.cut) continue;
      // Deadlines of their own tell the timers of one entry from those of another.
      attempts.push(await meet(meeting, { ...noOutage, later: at }));
    }
  };
  await Promise.all(entries.map(lane));
  for (const way of ["down", "unaddressed"] as const) {
    const together = wanted.filter(({ fault: { cut } }) => cut === way);
    const outage = outages(ask, way, together.length);
    attempts.push(...(await Promise.all(together.map((meeting) => meet(meeting, outage())))));
  }
  return attempts;
};

/** The line by which a launcher hands over what came of it. */
export const report = (attempts: readonly Attempt[]): string =>
  `REPORT ${JSON.stringify(attempts)}\nLAST LINE ${Date.now()}`;
