import {
  byOccurrence,
  type CallEvent,
  didRing,
  isFinal,
  type UnknownEvent,
} from "outdial/callbacks";

/**
 * Where calls are kept: `storage.kv` of a Durable Object, or a `MemoryStore`. It is synchronous, so nothing
 * can happen between a read and the write that follows.
 */
export interface Store {
  get<Value>(key: string): Value | undefined;
  put<Value>(key: string, value: Value): void;
  delete(key: string): boolean;
  /** In the order of the keys. */
  list(range: { readonly prefix: string; readonly end: string }): Iterable<[string, unknown]>;
}

/** Keeps calls in the memory of one process: a restart forgets them, and what callers have spent. */
export class MemoryStore implements Store {
  readonly #values = new Map<string, unknown>();

  get<Value>(key: string): Value | undefined {
    return this.#values.get(key) as Value | undefined;
  }

  put(key: string, value: unknown): void {
    this.#values.set(key, value);
  }

  delete(key: string): boolean {
    return this.#values.delete(key);
  }

  list({ prefix, end }: { readonly prefix: string; readonly end: string }): [string, unknown][] {
    return [...this.#values].filter(([key]) => key.startsWith(prefix) && key < end).sort();
  }
}

/** One call that went through the bridge. */
export interface BridgedCall {
  /** The bridge's own id: known before the service has answered, and signed into every URL. */
  readonly id: string;
  /** The caller's name. Nobody else may see the call. */
  readonly caller: string;
  /** A call only moves forward, so no notification or URL that is repeated can open a second agent. */
  readonly stage: "placed" | "ringing" | "connected" | "over";
  /** The service's id. */
  readonly call_id?: string;
  /** What went wrong at the bridge: `restarted`, or a reason of `EndReason`. */
  readonly problem?: string;
  /** How the agent left: `message_left`, `no_beep`, `transferred`, `gave_up`. */
  readonly outcome?: string;
  readonly events: readonly (CallEvent | UnknownEvent)[];
}

/** Calls are kept for a week: the URLs of a call expire after a day. */
const keptFor = 7 * 86_400_000;

/** A call has about ten short events. Whoever obtains its signed URL could send more, and longer ones. */
const maxEvents = 30;
const maxEventLength = 2048;

const isShort = (event: CallEvent | UnknownEvent): boolean => {
  try {
    return JSON.stringify(event).length <= maxEventLength;
  } catch {
    return false; // Nested too deeply.
  }
};

/** The calls of the bridge, and what each caller has spent. */
export class Calls {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  find(id: string): BridgedCall | undefined {
    return this.#store.get(`call ${id}`);
  }

  /** Creates the record of a call that is about to be placed. Ids sort by time. */
  create(caller: string, now: number): BridgedCall {
    const end = `call ${(now - keptFor).toString(36)}`;
    for (const [key] of [...this.#store.list({ prefix: "call ", end })]) this.#store.delete(key);
    const id = `${now.toString(36)}-${crypto.randomUUID()}`;
    const call: BridgedCall = { id, caller, stage: "placed", events: [] };
    this.#store.put(`call ${id}`, call);
    return call;
  }

  update(id: string, changes: Partial<BridgedCall>): void {
    const call = this.find(id);
    if (call) this.#store.put(`call ${id}`, { ...call, ...changes });
  }

  /** Adds an event, unless it is known by its id, too long, or one more than a call has. */
  addEvent(id: string, event: CallEvent | UnknownEvent): void {
    const { call_id = event.call_id ?? undefined, events = [] } = this.find(id) ?? {};
    const isKnown = event.id !== undefined && events.some((known) => known.id === event.id);
    const hasRoom = events.length < maxEvents || (isFinal(event) && !events.some(isFinal));
    if (isKnown || !hasRoom || !isShort(event)) return;
    this.update(id, { ...(call_id && { call_id }), events: [...events, event] });
  }

  /**
   * Counts one more call of a caller, if both limits allow it.
   *
   * @returns the seconds to wait otherwise, or 0
   */
  spend(
    { name, per_minute, per_day }: Record<"per_minute" | "per_day", number> & { name: string },
    now: number,
  ): number {
    const times = (this.#store.get<readonly number[]>(`times ${name}`) ?? []).filter(
      (time) => time > now - 86_400_000,
    );
    const waitFor = (limit: number, period: number): number => {
      // The call that must leave the period before one more fits into it.
      const blocking = times.filter((time) => time > now - period).at(-limit);
      return blocking === undefined ? 0 : blocking + period - now;
    };
    const wait = Math.max(waitFor(per_minute, 60_000), waitFor(per_day, 86_400_000));
    if (wait <= 0) this.#store.put(`times ${name}`, [...times, now]);
    return Math.max(0, Math.ceil(wait / 1000));
  }
}

/** What a caller is shown of a call. The recording's URL is not: fetch it where the key is. */
export const viewOf = ({ id, call_id, problem, outcome, events }: BridgedCall) => {
  const inOrder = [...events].sort(byOccurrence);
  const end = inOrder.findLast(isFinal);
  return {
    id,
    call_id,
    /** `requested`, then the type of the latest event without `call.`. */
    state: inOrder.at(-1)?.type.replace(/^call\./, "") ?? "requested",
    rang: didRing(events),
    ended: end !== undefined,
    reason: end?.data.reason,
    /** Seconds since the answer. */
    duration: end?.type === "call.completed" ? end.data.duration : undefined,
    problem,
    outcome,
    events: inOrder.map(({ type, occurred_at }) => ({ type, at: occurred_at })),
  };
};
