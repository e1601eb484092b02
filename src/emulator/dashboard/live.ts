import type { Emulator } from "../emulator.ts";
import type { EmulatorEvent } from "../line/history.ts";
import type { CallFacts, CallRecord } from "../line/record.ts";
import type { Attendant } from "./attendant.ts";
import { type Trouble, troubleOf } from "./trouble.ts";

/** A call as its row shows it. */
interface Row extends CallFacts {
  /** Absent when all that was told of the call has arrived. */
  readonly trouble?: Trouble;
}

/** What the page is told at once. */
interface News {
  /** The emulator's time, in milliseconds since 1970. */
  readonly now: number;
  /** Whether these are all calls, and what the page knew is to be forgotten. */
  readonly whole: boolean;
  /** Whether the key is another one. */
  readonly key: boolean;
  /** Whether a telephone that rings is left to who sits before the page. */
  readonly attendant: boolean;
  /** The calls that are new or have changed, without their histories. */
  readonly calls: readonly Row[];
}

/**
 * Something is told at least this often, in milliseconds on the wall: a page that hears nothing for
 * longer knows that it has lost the emulator.
 */
const beat = 2_000;

const rowOf = ({ history, ...facts }: CallRecord): Row => {
  const trouble = troubleOf(history);
  return trouble ? { ...facts, trouble } : facts;
};

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Everything that happens, as server-sent events. What happens while the page is busy is gathered:
 * a page that doesn't read holds up nothing, and at most each call's id.
 *
 * @param now - the emulator's time
 */
export const live = (
  emulator: Emulator,
  attendant: Attendant | undefined,
  now: () => number,
): ReadableStream<Uint8Array> => {
  const events = emulator[Symbol.asyncIterator]();
  const changed = new Set<string>();
  let whole = true;
  let key = false;
  let told = false;
  let ended = false;
  let left = false;
  let wake = () => {};

  const gather = ({ value }: IteratorYieldResult<EmulatorEvent>): void => {
    if ("call_id" in value) changed.add(value.call_id);
    else if (value.type === "reset") whole = true;
    else if (value.type === "key") key = true;
    wake();
  };
  const follow = async (): Promise<void> => {
    for (let next = await events.next(); !next.done; next = await events.next()) gather(next);
    ended = true;
    wake();
  };
  follow();
  const isThere = () => attendant?.isThere ?? false;
  const unwatch = attendant?.watch(() => wake());

  const news = (): News => {
    const calls = whole
      ? emulator.calls.map(rowOf)
      : [...changed].flatMap((id) => {
          const call = emulator.call(id);
          return call ? [rowOf(call)] : [];
        });
    told = isThere();
    const all = { now: now(), whole, key, attendant: told, calls };
    whole = false;
    key = false;
    changed.clear();
    return all;
  };

  return new ReadableStream(
    {
      async pull(controller) {
        const isQuiet = () => !whole && !key && changed.size === 0 && told === isThere();
        if (!ended && isQuiet()) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, beat);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        if (left) return;
        if (ended) {
          unwatch?.();
          return controller.close();
        }
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(news())}\n\n`));
      },
      async cancel() {
        left = true;
        unwatch?.();
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
};
