import { calls, type FieldError, isException } from "outdial";
import type { Runtime } from "../conformance/case.ts";
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
import type { Seen } from "./server/seen.ts";
import { faults } from "./table/index.ts";

/** What became of one call in one runtime, as the caller and as the server saw it. */
export interface Attempt {
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

const { fetch } = globalThis;

/** The delays of the timers that are set and not yet cleared. */
const watchTimers = () => {
  const { setTimeout, clearTimeout } = globalThis;
  const set = new Map<unknown, number | undefined>();
  // Node's own fetch comes by here too, with arguments.
  globalThis.setTimeout = ((act: (...given: unknown[]) => void, delay?: number, ...given: []) => {
    const timer = setTimeout(() => {
      set.delete(timer);
      act(...given);
    }, delay);
    set.set(timer, delay);
    return timer;
  }) as typeof setTimeout;
  globalThis.clearTimeout = (timer) => {
    set.delete(timer);
    clearTimeout(timer);
  };
  return (delay: number) => [...set.values()].filter((each) => each === delay).length;
};

/** A signal that counts its listeners. */
const watchedSignal = () => {
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof addEventListener>) => {
      listeners++;
      addEventListener.apply(signal, args);
    },
    removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
      listeners--;
      removeEventListener.apply(signal, args);
    },
  });
  return { signal, listeners: () => listeners };
};

const ask = async (url: string) => (await fetch(url)).json();

const attempt = async (
  control: string,
  runtime: Runtime,
  fault: Fault,
  protocol: Protocol,
  timersOf: (delay: number) => number,
): Promise<Attempt> => {
  const { name, server } = fault;
  const { id, baseUrl } = await ask(`${control}/open/${protocol}/${encodeURIComponent(name)}`);
  const timeout = deadlines[expectedOf(fault, runtime, protocol).ends];
  const { signal, listeners } = watchedSignal();
  const options = { apiKey, baseUrl, timeout, dangerouslyAllowBrowser: true };
  if (server?.kept) {
    await calls.create(params, options);
    await new Promise((resolve) => setTimeout(resolve, 50)); // Until the runtime keeps it.
  }
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
  const outcome = isException(error)
    ? {
        ...{ exception: error.name, placed: error.placed, code: error.code },
        ...{ retryAfter: error.retryAfter, errors: error.errors },
      }
    : error
      ? ({ exception: String(error), placed: "maybe" } as const)
      : ({ exception: "none", placed: "yes" } as const);
  return {
    ...{ fault: name, protocol, ...outcome, ms, ...left },
    message: error instanceof Error ? error.message : "",
    shows: [apiKey, from_number.slice(1), to_number.slice(1)].some((each) => shown.includes(each)),
    seen: await ask(`${control}/close/${id}`),
  };
};

/** Every fault by every protocol that this runtime speaks, one after the other. */
export const attemptAll = async (
  control: string,
  runtime: Runtime,
  only = "",
): Promise<readonly Attempt[]> => {
  const timersOf = watchTimers();
  const attempts: Attempt[] = [];
  for (const fault of faults) {
    for (const protocol of protocolsOf(fault, runtime)) {
      if (!fault.name.includes(only)) continue;
      attempts.push(await attempt(control, runtime, fault, protocol, timersOf));
    }
  }
  return attempts;
};

/** The line by which a launcher hands over what came of it. */
export const report = (attempts: readonly Attempt[]): string =>
  `REPORT ${JSON.stringify(attempts)}\nLAST LINE ${Date.now()}`;
