import { ServiceException, TimeoutException, withoutPlaced } from "../errors.ts";
import { withDeadline } from "../http/deadline.ts";
import { fail, isRecord, kindOf, withoutThrowing } from "../lib/check.ts";
import { isSignal, settingsOfEither } from "../options.ts";
import type { LiveCall, LiveState } from "./call.ts";
import { readCall } from "./get.ts";
import {
  checkId,
  isClient,
  type Live,
  type OptionsOrClient,
  prepareLive,
  runPrepared,
  withoutPlacing,
} from "./live.ts";

/** How long `ended` waits. */
export interface EndedOptions {
  /**
   * Milliseconds until it gives up: the wait, while `timeout` of the other options is that of each request.
   *
   * @defaultValue 600 000: ten minutes
   */
  readonly endTimeout?: number | undefined;
  /** Ends the wait, not the call: it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Milliseconds between an answer and the next request, at first and at most, and by how much they grow. */
const firstInterval: number = 1_000;
const longest = 5_000;
const growth = 1.5;

/** For how long an unknown call may be one that the service has not yet, in milliseconds. */
const newness = 10_000;

/** The longest time of a timer, in milliseconds. */
const longestTimer = 2 ** 31 - 1;

const defaultTimeout = 600_000;

/** A copy of an object literal: of a `Map`, a signal or a list nothing would be read. */
const copyOf = (given: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (!isRecord(given)) return;
  const prototype: unknown = Object.getPrototypeOf(given);
  const isLiteral = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isLiteral ? { ...given } : undefined;
};

/** @throws {BadParametersException} that names an option */
const checkEnded = (given: unknown): EndedOptions & { readonly endTimeout: number } => {
  const options = given === undefined ? {} : withoutThrowing(() => copyOf(given));
  if (!options) return fail("wait", "must be { endTimeout, signal }");
  const { endTimeout = defaultTimeout, signal, ...others } = options;
  if (Object.keys(others).length > 0) fail("wait", "must have nothing but endTimeout and signal");
  if (typeof endTimeout !== "number" || !(endTimeout > 0 && endTimeout < 2 ** 31)) {
    const got = typeof endTimeout === "number" ? "" : `, not ${kindOf(endTimeout)}`;
    return fail("endTimeout", `must be above 0 ms and below 2 ** 31 ms${got}`);
  }
  if (signal !== undefined && !isSignal(signal)) return fail("signal", "must be an AbortSignal");
  return { endTimeout, signal };
};

/** Whether the call is asked for again after a failure, which says nothing of the call. */
const isPassing = ({ name, code = 0 }: ServiceException, since: number): boolean =>
  name === "NetworkException" ||
  name === "TimeoutException" ||
  code === 429 ||
  code >= 500 ||
  (code === 404 && performance.now() - since < newness);

/** What 404 may mean: a service says of another account's call, and of one that it has deleted, what it says of none. */
const unknownCall =
  "The service has no such call: it may be of another account or service, or too old. With Telnyx check accountSid";

/** A failure that ends the wait, with what it may mean where that isn't plain. */
const explained = (error: unknown): unknown =>
  error instanceof ServiceException && error.code === 404
    ? new ServiceException(`${error.message}. ${unknownCall}`, error)
    : error;

/** A signal that aborts with the first of several, until it is released. */
const firstOf = (signals: readonly (AbortSignal | undefined)[]) => {
  const controller = new AbortController();
  const released: (() => void)[] = [];
  const release = (): void => {
    for (const one of released.splice(0)) withoutThrowing(one);
  };
  for (const signal of signals) {
    const abort = (): void => {
      release();
      controller.abort(withoutThrowing(() => signal?.reason));
    };
    // A signal may be of any make: each of its methods may throw.
    withoutThrowing(() => signal?.addEventListener("abort", abort));
    released.push(() => signal?.removeEventListener("abort", abort));
    if (withoutThrowing(() => signal?.aborted)) abort();
  }
  return { signal: controller.signal, release };
};

/** Waits, or for ever once the signal has aborted; leaves neither timer nor listener. */
const sleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    // It may have aborted since the answer came: then no event comes any more.
    if (signal.aborted) return;
    const stop = (): void => clearTimeout(timer);
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop);
  });

/**
 * Waits until a call is over, by reading it: for a program without a server, such as a script. One request at once, a second
 * after the answer to the one before, and up to 5 s later each time, or after the service's `Retry-After`. After 429, 5xx, a
 * lost connection, a request that times out, and in the first 10 s 404, the call is read again.
 *
 * @param id - what `calls.create` gave
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`. Their `timeout` is that
 * of each request. Telnyx also needs `accountSid`
 * @param wait - `endTimeout`, ten minutes by default, and `signal`
 * @returns the call, in the state `completed` or `failed`
 * @throws {TimeoutException} the call was not over within `endTimeout`: `state` is the last that was read
 * @throws {BadParametersException} before any request: a rule is broken; or the client was disposed of since
 * @throws {ServiceException} any other response but a call; after 404 its message says what that may mean. None of the exceptions has `placed`
 * @throws the reason of a signal, when that aborts
 *
 * @example A reminder, and what came of it
 * ```ts
 * import { create, ended } from "outdial/calls";
 * import { createEmulator } from "outdial/emulator";
 * import { say } from "outdial/flows";
 *
 * const emulator = createEmulator({ clock: "instant", fetch: () => new Response(null, { status: 204 }) });
 * const options = { apiKey: emulator.apiKey, baseUrl: "https://emulator.test", fetch: emulator.fetch };
 * const { id } = await create(
 *   {
 *     from_number: "+12025550199",
 *     to_number: "+12025550100",
 *     flow: say("Your table is ready."),
 *     status_callback_url: "https://app.test/status",
 *   },
 *   options,
 * );
 * const { state, reason } = await ended(id, options, { endTimeout: 60_000 });
 * console.log(state, reason); // completed normal
 * ```
 * @see docs/errors.md
 */
export const ended = async (
  id: string,
  options: OptionsOrClient,
  wait?: EndedOptions,
): Promise<LiveCall> => {
  const asking = prepareLive(options, () => {
    const checked = checkId(id);
    return { texts: [checked], run: (live: Live) => readCall(live, checked) };
  });
  const { endTimeout, signal: own } = withoutPlacing(() => checkEnded(wait));
  const { settings } = asking;
  const { signal, release } = firstOf([own, settings.signal]);
  let state: LiveState | undefined;
  const late = () => {
    const last = state ? `the call was last ${state}` : "the call could not be read";
    return withoutPlaced(
      new TimeoutException(`No end within ${endTimeout} ms: ${last}`, { state }),
    );
  };
  try {
    return await withDeadline(endTimeout, signal, late, async (over) => {
      const since = performance.now();
      for (let interval = firstInterval; ; interval = Math.min(interval * growth, longest)) {
        let retryAfter = 0;
        // It may have been disposed of since.
        if (isClient(options)) withoutPlacing(() => settingsOfEither(options));
        try {
          const call = await runPrepared({ ...asking, settings: { ...settings, signal: over } });
          ({ state } = call);
          if (state === "completed" || state === "failed") return call;
        } catch (error) {
          if (!(error instanceof ServiceException && isPassing(error, since)))
            throw explained(error);
          retryAfter = (error.retryAfter ?? 0) * 1_000;
        }
        await sleep(Math.min(Math.max(interval, retryAfter), longestTimer), over);
      }
    });
  } finally {
    release();
  }
};
