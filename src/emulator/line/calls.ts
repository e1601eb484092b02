import { refuse } from "../../rules/refuse.ts";
import type { Call } from "./call.ts";
import type { CallRecord } from "./record.ts";

/** A call, and the end of everything that has to do with it. */
interface Entry {
  readonly call: Call;
  readonly ended: Promise<CallRecord>;
}

/** The calls that are known: all that are not over, and the latest of those that are. */
export class Calls {
  readonly #keep: number;
  #entries = new Map<string, Entry>();
  /** The ids of those that are over, the oldest at `#first`. */
  #over: string[] = [];
  #first = 0;

  /** @param keep - how many ended calls are known */
  constructor(keep: number) {
    this.#keep = keep;
  }

  /** @param done - settles when nothing more will happen to the call */
  add(call: Call, done: Promise<void>): void {
    const ended = done.then(() => {
      const record = call.toRecord();
      if (this.#entries.get(call.id) === entry) this.#retire(call.id);
      return record;
    });
    // Told to whoever waits for it: what goes wrong in one call must not end a process.
    ended.catch(() => {});
    const entry: Entry = { call, ended };
    this.#entries.set(call.id, entry);
  }

  get(id: string): Call | undefined {
    return this.#entries.get(id)?.call;
  }

  all(): readonly Call[] {
    return [...this.#entries.values()].map(({ call }) => call);
  }

  /** @throws {BadParametersException} when no such call is known */
  async ended(id: string): Promise<CallRecord> {
    const entry = this.#entries.get(id);
    if (entry) return entry.ended;
    return refuse("id", "is of no call here, or of one that ended too long ago");
  }

  /** Settles when everything has, that is going on now. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#entries.values()].map(({ ended }) => ended));
  }

  /** Forgets every call. */
  clear(): void {
    for (const { call } of this.#entries.values()) call.forget();
    this.#entries.clear();
    this.#over = [];
    this.#first = 0;
  }

  #retire(id: string): void {
    this.#over.push(id);
    if (this.#over.length - this.#first <= this.#keep) return;
    this.#entries.delete(this.#over[this.#first++] ?? "");
    // Not one by one: to shift a long array moves all of it.
    if (this.#first < 1_000 || this.#first * 2 < this.#over.length) return;
    this.#over = this.#over.slice(this.#first);
    this.#first = 0;
  }
}
