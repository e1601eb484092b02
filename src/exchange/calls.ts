import { Call } from "../emulator/call.ts";
import { realClock } from "../emulator/clock.ts";
import { type CallParts, runCall } from "../emulator/flow.ts";
import type { NewCall } from "../server/api.ts";
import type { Message, ServedCall } from "../server/call.ts";
import type { CallRecord, NewEntry } from "../server/history.ts";
import { iso } from "../server/history.ts";
import type { NewId } from "../server/ids.ts";
import type { Reach, Requester } from "../server/outgoing.ts";
import type { ServiceSide } from "../server/side.ts";
import type { CallRecorder, ExchangeEvent } from "./parts.ts";
import type { Left } from "./recover.ts";
import type { SideName, Store, StoredRow } from "./store.ts";
import { StoredCall } from "./stored-call.ts";
import type { ExchangeTelephones } from "./telephones.ts";

/** A side, and what its calls need. */
export interface ServedSide {
  readonly side: ServiceSide;
  readonly newId: NewId;
  readonly reach: Reach;
  readonly request: Requester;
  /** Sends notifications. */
  readonly notify: Requester;
}

/** What the calls of an exchange are made of. */
export interface CallsParts {
  readonly store: Store;
  readonly sides: ReadonlyMap<SideName, ServedSide>;
  readonly telephones: ExchangeTelephones;
  readonly flow: Omit<CallParts, "telephones" | "follow" | "request" | "responseTimeout">;
  readonly recorder: CallRecorder | undefined;
  readonly onEvent: (event: ExchangeEvent) => void;
  /** Sends what is stored of a call's notifications. */
  readonly deliver: (call_id: string) => void;
}

/** How many calls that are over stay in memory, with what was said in them. */
const keptCalls = 20;

const clock = realClock(1);

/** The calls of an exchange: those that run, and those of the store. */
export class ExchangeCalls {
  readonly #parts: CallsParts;
  readonly #live = new Map<string, Call>();
  /** The latest that are over, the oldest first. */
  readonly #over = new Map<string, Call>();
  readonly #whenIdle = new Set<() => void>();

  constructor(parts: CallsParts) {
    this.#parts = parts;
  }

  /** Those that are not over, the oldest first. */
  get live(): readonly Call[] {
    return [...this.#live.values()];
  }

  isLive(id: string): boolean {
    return this.#live.has(id);
  }

  /** Resolves once no call runs. */
  async idle(): Promise<void> {
    if (this.#live.size > 0) await new Promise<void>((resolve) => this.#whenIdle.add(resolve));
  }

  /** The latest calls that are over, the newest first. */
  history(limit: number): readonly CallRecord[] {
    const { store } = this.#parts;
    return store.ended(limit).map((row) => store.record(row));
  }

  find(name: SideName, id: string): ServedCall | undefined {
    const known = this.#live.get(id) ?? this.#over.get(id);
    if (known) return known;
    const row = this.#parts.store.call(id);
    return row?.side === name ? this.#restored(row) : undefined;
  }

  /** All of a side that runs, and the latest that are over: the oldest first. */
  all(name: SideName): readonly ServedCall[] {
    const { store } = this.#parts;
    const rows = [...[...store.ended(maxListed)].reverse(), ...store.live];
    return rows.filter(({ side }) => side === name).flatMap(({ id }) => this.find(name, id) ?? []);
  }

  /** Adds an entry to the history of a call. */
  log(call_id: string, entry: NewEntry): void {
    const call = this.#live.get(call_id) ?? this.#over.get(call_id);
    if (call) call.log(entry);
    else this.#parts.store.addEntry({ at: iso(Date.now()), call_id, ...entry });
  }

  /** Forgets a call that was erased. */
  forget(id: string): void {
    this.#over.delete(id);
  }

  /**
   * Stores a call with all that its side prepares, and only then calls its telephone.
   *
   * @throws {StoreError} when it can't be stored: no telephone is called
   */
  accept<T>(name: SideName, { params, limits = {}, url, kept, prepare }: NewCall<T>): T {
    const { store, onEvent, deliver } = this.#parts;
    const served = this.#side(name);
    const id = served.side.newCallId(Date.now());
    const recordingUrl = () => served.side.recordingUrl(new URL(url).origin, id);
    const call = new Call({ id, params, limits, recordingUrl, reach: served.reach }, clock, {
      onEntry: (entry) => store.addEntry(entry),
      onState: (changed) => this.#changed(name, changed),
    });
    this.#live.set(id, call);
    let prepared: T;
    try {
      prepared = store.write(() => {
        store.addCall({ id, side: name, params, limits, kept, url }, call.facts);
        const result = prepare(call);
        call.begin();
        return result;
      });
    } catch (error) {
      this.#live.delete(id);
      call.remove();
      throw error;
    }
    onEvent({ type: "stored", call_id: id, side: name });
    deliver(id);
    this.#run(call, served);
    return prepared;
  }

  /** Ends a call that a process before has left, with its final notification. */
  lose(row: StoredRow, left: Left): void {
    const { store, sides, recorder, deliver, onEvent } = this.#parts;
    const served = sides.get(row.side);
    const call = this.#restored(row);
    const last = Date.parse(store.historyOf(row.id).at(-1)?.at ?? "") || row.facts.initiated_at;
    const recordingUrl = () => served?.side.recordingUrl(new URL(row.url).origin, row.id) ?? "";
    call.lose(left === "live" ? Date.now() : last, recorder && recordingUrl);
    store.write(() => {
      store.saveFacts(call.facts);
      if (left === "not placed") store.freeKey(row.id);
      this.#keepMessages(row.side, row.id, served?.side.messagesOf(call) ?? []);
    });
    recorder?.end(row.id);
    deliver(row.id);
    const { state } = call;
    onEvent({ type: "ended", call_id: row.id, state, reason: "lost", talkTime: call.talkTime });
  }

  #side(name: SideName): ServedSide {
    const served = this.#parts.sides.get(name);
    if (!served) throw new TypeError(`this exchange has no interface ${name}`);
    return served;
  }

  #restored(row: StoredRow): StoredCall {
    const { store, sides, recorder } = this.#parts;
    const served = sides.get(row.side);
    const call = new StoredCall(row, store, served?.reach ?? new Set(), recorder);
    served?.side.restore?.(call, row.kept, row.url, store.notificationsOf(row.id));
    return call;
  }

  #run(call: Call, { side, newId, request }: ServedSide): void {
    const { telephones, flow } = this.#parts;
    const { responseTimeout, accountId } = side;
    const running = runCall(call, {
      ...flow,
      telephones,
      request,
      responseTimeout,
      follow: (_, parts) =>
        side.follow(call, {
          accountId,
          newId,
          request,
          line: telephones.lineOf(call, parts),
          notify: (messages) => this.#notify(call, messages),
        }),
    });
    // A call whose line has failed is over, as nobody sees any more what happens in it.
    running.catch(() => call.transition("lost"));
  }

  #notify(call: Call, messages: readonly Message[]): void {
    const { store, deliver } = this.#parts;
    const row = store.call(call.id);
    if (!row) return;
    store.keep(() => this.#keepMessages(row.side, call.id, messages));
    deliver(call.id);
  }

  #keepMessages(name: SideName, id: string, messages: readonly Message[]): void {
    for (const message of messages) {
      this.#parts.store.addNotification(name, id, message, Date.now());
    }
  }

  /** Stores a new state of a call with its notifications, and reports it. */
  #changed(name: SideName, call: Call): void {
    const { store, recorder, deliver } = this.#parts;
    const messages = this.#side(name).side.messagesOf(call);
    const facts = { ...call.facts };
    store.keep(() => {
      store.saveFacts(facts);
      this.#keepMessages(name, call.id, messages);
    });
    if (call.state === "answered") recorder?.begin(facts);
    this.#report(call);
    if (call.isOver) this.#retire(call);
    if (call.state !== "initiated") deliver(call.id);
  }

  #report(call: Call): void {
    const { onEvent } = this.#parts;
    const { id: call_id, state, talkTime } = call;
    const { reason = "normal" } = call.facts;
    if (state === "ringing") onEvent({ type: "rang", call_id });
    else if (state === "answered") onEvent({ type: "answered", call_id });
    else if (call.isOver) onEvent({ type: "ended", call_id, state, reason, talkTime });
  }

  #retire(call: Call): void {
    this.#parts.recorder?.end(call.id);
    this.#live.delete(call.id);
    this.#over.set(call.id, call);
    const [oldest] = this.#over.keys();
    if (this.#over.size > keptCalls && oldest !== undefined) this.#over.delete(oldest);
    if (this.#live.size > 0) return;
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle.clear();
  }
}

/** How many calls that are over a list has at most. */
const maxListed = 1_000;
