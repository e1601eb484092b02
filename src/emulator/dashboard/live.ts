import type { Emulator } from "../emulator.ts";
import type { CallFacts, CallRecord, EmulatorEvent } from "../line/history.ts";

/** What the page is told at once. */
interface News {
  /** The emulator's time, in milliseconds since 1970. */
  readonly now: number;
  /** Whether these are all calls, and what the page knew is to be forgotten. */
  readonly whole: boolean;
  /** Whether the key is another one. */
  readonly key: boolean;
  /** The calls that are new or have changed, without their histories. */
  readonly calls: readonly CallFacts[];
}

const factsOf = ({ history: _, ...facts }: CallRecord): CallFacts => facts;

const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Everything that happens, as server-sent events. What happens while the page is busy is gathered:
 * a page that doesn't read holds up nothing, and at most each call's id.
 *
 * @param now - the emulator's time
 */
export const live = (emulator: Emulator, now: () => number): ReadableStream<Uint8Array> => {
  const events = emulator[Symbol.asyncIterator]();
  const changed = new Set<string>();
  let whole = true;
  let key = false;
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

  const news = (): News => {
    const calls = whole
      ? emulator.calls.map(factsOf)
      : [...changed].flatMap((id) => {
          const call = emulator.call(id);
          return call ? [factsOf(call)] : [];
        });
    const told = { now: now(), whole, key, calls };
    whole = false;
    key = false;
    changed.clear();
    return told;
  };

  return new ReadableStream(
    {
      async pull(controller) {
        while (!ended && !whole && !key && changed.size === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        if (left) return;
        if (ended) return controller.close();
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(news())}\n\n`));
      },
      async cancel() {
        left = true;
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
};
