import { type FieldError, isException } from "outdial";
import type { Runtime } from "../conformance/case.ts";
import { type Entry, entries } from "../conformance/entries.ts";
import { apiKey, from_number, params, to_number } from "../conformance/fixtures.ts";
import { type Carrier, carrierOf, entriesWith, isService } from "../conformance/services/index.ts";
import { inspect } from "../runtimes/inspect.ts";
import {
  differenceOf,
  expectedOf,
  type Fault,
  type Outcome,
  type Protocol,
  protocolsOf,
} from "./fault.ts";
import { type Ask, type Outage, outages } from "./outage.ts";
import type { Seen } from "./server/seen.ts";
import { faultsOf } from "./table/index.ts";
import {
  fire,
  heldDeadline,
  pause,
  platformFetch,
  settle,
  timersOf,
  watchedSignal,
  watchRequests,
} from "./watch.ts";

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
  /** What ended it: itself, its deadline, or the limit for what hangs. */
  readonly endedBy: "itself" | "deadline" | "limit";
  /** Whether it ended before the network was back. */
  readonly beforeBack: boolean;
  /** Whether a busy machine made it miss the outage that it is about. */
  readonly missed: boolean;
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
  readonly carrier: Carrier | undefined;
  readonly fault: Fault;
  readonly protocol: Protocol;
}

/** Ends a call that hangs, in milliseconds. */
const limit = 60_000;

const attempt = async (
  ask: Ask,
  runtime: Runtime,
  { entry: { entry, calls }, carrier, fault, protocol }: Meeting,
  outage?: Outage,
): Promise<Attempt> => {
  const { name, server } = fault;
  const { id, baseUrl } = await ask<{ id: string; baseUrl: string }>(
    `open/${protocol}/${encodeURIComponent(name)}`,
  );
  const { code, ends, open = 0 } = expectedOf(fault, runtime, protocol);
  const isLuck = differenceOf(fault, runtime, protocol)?.orAsElsewhere;
  const heads: Promise<unknown>[] = [];
  const sent = watchRequests(baseUrl, () => heads.push(ask(`head/${id}`).catch(() => {})));
  const timeout = heldDeadline();
  const { signal, listeners } = watchedSignal();
  const wantedId = carrier ? JSON.parse(`{${carrier.idField("1")}}`) : { id: "cs_1" };
  const options = { apiKey, baseUrl, timeout, dangerouslyAllowBrowser: true };
  if (server?.kept) {
    // It only opens the connection.
    await calls.create(params, { ...options, timeout: false });
    await pause(50); // Until the runtime keeps it.
    Object.assign(sent, { requests: 0, heads: 0 });
  }
  await outage?.begins(id, fault);
  let endedBy: Attempt["endedBy"] | undefined;
  const end = (by: Attempt["endedBy"]) => {
    if (endedBy) return;
    endedBy = by;
    fire(timeout);
  };
  const hasArrived = async () =>
    sent.requests > 0 &&
    (outage || (code === undefined ? (await ask<Seen>(`seen/${id}`)).acted : sent.heads > 0));
  const passDeadline = async () => {
    await outage?.isGone();
    while (!endedBy && !(await hasArrived())) await pause(5);
    if (isLuck) await pause(500);
    await settle();
    end("deadline");
  };
  const start = Date.now();
  const passing = ends === "deadline" ? passDeadline() : undefined;
  const guard = setTimeout(() => end("limit"), limit);
  const error: unknown = await calls.create(params, { ...options, signal }).then(
    (call) =>
      call.id === Object.values(wantedId)[0] ? undefined : new Error(`another id: ${call.id}`),
    (reason: unknown) => reason ?? new Error("rejected with nothing"),
  );
  const at = Date.now();
  endedBy ??= "itself";
  const left = { listeners: listeners(), timers: timersOf(timeout) };
  clearTimeout(guard);
  await passing;
  const shown = inspect(error);
  // What a user's program would print; the launcher looks for the key in all output.
  if (error) console.log(error);
  const outcome = isException(error)
    ? {
        ...{ exception: error.name, placed: error.placed ?? "maybe", code: error.code },
        ...{ retryAfter: error.retryAfter, errors: error.errors },
      }
    : error
      ? ({ exception: String(error), placed: "maybe" } as const)
      : ({ exception: "none", placed: "yes" } as const);
  const { going, gone, back } = (await outage?.isOver()) ?? { going: at, gone: start, back: at };
  await Promise.all(heads);
  return {
    ...{ entry, fault: name, protocol, ...outcome, endedBy, ...left },
    beforeBack: at < back,
    // Chromium ends a call on HTTP/2 as soon as its address goes, before the network is gone.
    missed: (server?.held ? at < going : start < gone) || (ends === "back" ? start : at) > back,
    message: error instanceof Error ? error.message : "",
    shows: [apiKey, from_number.slice(1), to_number.slice(1)].some((each) => shown.includes(each)),
    seen: await ask(`close/${id}/${open}`),
  };
};

/** How many times as long as usual an outage may take, so that a busy machine does not miss it. */
const slownesses = [1, 4, 16] as const;

/**
 * Every fault that the server lists, by every entry and every protocol that this runtime speaks: for
 * each entry one after the other, but all at once those that lose their network together.
 */
export const attemptAll = async (
  control: string,
  runtime: Runtime,
): Promise<readonly Attempt[]> => {
  const ask: Ask = async (path) => (await platformFetch(`${control}/${path}`)).json();
  const name = await ask<string>("service");
  const service = isService(name) ? name : undefined;
  const carrier = service && carrierOf(service);
  const withService = service ? entriesWith(service) : entries;
  const listed = await ask<readonly string[]>(`faults/${runtime}`);
  const wanted = faultsOf(service)
    .filter(({ name }) => listed.includes(name))
    .flatMap((fault) => protocolsOf(fault, runtime).map((protocol) => ({ fault, protocol })))
    .flatMap((each): Meeting[] => withService.map((entry) => ({ entry, carrier, ...each })));
  const attempts: Attempt[] = [];
  const lane = async (entry: Entry) => {
    for (const meeting of wanted) {
      if (meeting.entry !== entry || meeting.fault.cut) continue;
      attempts.push(await attempt(ask, runtime, meeting));
    }
  };
  await Promise.all(withService.map(lane));
  for (const way of ["down", "unaddressed"] as const) {
    const together = wanted.filter(({ fault: { cut } }) => cut === way);
    let met: readonly Attempt[] = [];
    for (const slowness of slownesses) {
      const outage = outages(ask, way, together.length, slowness);
      met = await Promise.all(together.map((each) => attempt(ask, runtime, each, outage())));
      if (!met.some(({ missed }) => missed)) break;
    }
    attempts.push(...met);
  }
  return attempts;
};

declare const Deno: { unrefTimer(timer: unknown): void } | undefined;

/**
 * Prints a line if something else still keeps the process in a while: by itself this timer keeps none. For the last
 * line of a program.
 */
export const watchEnd = (): void => {
  const timer: unknown = setTimeout(() => console.log("UNHANDLED: the process lives on"), 15_000);
  if (typeof Deno === "undefined") Object(timer).unref();
  else Deno.unrefTimer(timer);
};

/** The line by which a launcher hands over what came of it. */
export const report = (attempts: readonly Attempt[]): string =>
  `REPORT ${JSON.stringify(attempts)}`;
