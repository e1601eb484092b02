/**
 * Watches the platform of a runtime. Its entry imports this module before the package, which takes the `fetch`
 * that it finds when it is loaded for the platform's own.
 */
const { fetch: platformFetch, setTimeout: platformSet, clearTimeout: platformClear } = globalThis;

export { platformFetch };

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => platformSet(resolve, milliseconds));

/** Lets everything in this process that waits for no timer and no network run to its end. */
export const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn++) await pause(0);
};

/** What happened to the requests of one call. */
export interface Sent {
  /** Requests that were given to the platform's `fetch`. */
  requests: number;
  /** Responses that it gave back: the whole head had arrived. */
  heads: number;
  /** Called for each head. */
  readonly onHead: () => void;
}

const calls = new Map<string, Sent>();

/** Watches the requests to an origin. */
export const watchRequests = (baseUrl: string, onHead: () => void): Sent => {
  const sent = { requests: 0, heads: 0, onHead };
  calls.set(new URL(baseUrl).origin, sent);
  return sent;
};

globalThis.fetch = async (input, init) => {
  const sent = calls.get(new URL(String(input)).origin);
  if (sent) sent.requests++;
  const response = await platformFetch(input, init);
  if (sent) {
    sent.heads++;
    sent.onHead();
  }
  return response;
};

/** The least delay, in milliseconds, of a timer that fires only when `fire` says so. */
const leastHeld = 600_000;
let next = leastHeld;

/** A deadline that no other call has, so that its timer can be distinguished from all others. */
export const heldDeadline = (): number => next++;

type Timer = ReturnType<typeof setTimeout>;
const held = new Map<Timer, { readonly delay: number; readonly act: () => void }>();

// Node's own fetch sets timers here too, with arguments.
globalThis.setTimeout = ((act: (...given: unknown[]) => void, delay = 0, ...given: unknown[]) => {
  if (!(delay >= leastHeld && delay < next)) return platformSet(act, delay, ...given);
  // It keeps a process for a while that does not clear it.
  const timer = platformSet(() => {}, 30_000);
  held.set(timer, { delay, act: () => act(...given) });
  return timer;
}) as typeof setTimeout;

globalThis.clearTimeout = ((timer: Timer) => {
  held.delete(timer);
  platformClear(timer);
}) as typeof clearTimeout;

const withDelay = (delay: number) => [...held].filter(([, each]) => each.delay === delay);

/** How many timers of a deadline are set. */
export const timersOf = (delay: number): number => withDelay(delay).length;

/** Fires the timers of a deadline. */
export const fire = (delay: number): void => {
  for (const [timer, { act }] of withDelay(delay)) {
    clearTimeout(timer);
    act();
  }
};

/** A signal that counts its listeners. */
export const watchedSignal = () => {
  const { signal } = new AbortController();
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  Object.assign(signal, {
    addEventListener: (...args: Parameters<typeof addEventListener>) => {
      listeners.add(args[1]);
      addEventListener.apply(signal, args);
    },
    removeEventListener: (...args: Parameters<typeof removeEventListener>) => {
      listeners.delete(args[1]);
      removeEventListener.apply(signal, args);
    },
  });
  return { signal, listeners: () => listeners.size };
};
