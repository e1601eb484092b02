import type { Watched } from "../../emulator/dashboard/updates.ts";
import { EventLog } from "../../emulator/event-log.ts";
import type { CallRecord } from "../../server/history.ts";
import type { ExchangeService } from "../parts.ts";

/** How many calls that are over the page lists. */
const listed = 100;

/** How often live calls are looked at for what they do, in milliseconds. */
const lookInterval = 1_000;

type CallsOfService = Pick<ExchangeService, "call" | "live" | "history">;

type WatchedEvent = { readonly call_id: string } | { readonly type: "reset" };

/** How long a stream lasts, in milliseconds: the browser opens another one, if it is still signed in. */
const streamLifetime = 3_600_000;

/** The calls of an exchange, as the page watches them. */
export class WatchedCalls implements Watched {
  readonly refused = [];
  readonly #service: CallsOfService;
  #events = new EventLog<WatchedEvent>();
  /** How many entries the history of each live call had. */
  #lengths: ReadonlyMap<string, number> = new Map();
  readonly #ending = setInterval(() => this.endStreams(), streamLifetime).unref();
  #timer: ReturnType<typeof setInterval> | undefined;
  #watchers = 0;

  constructor(service: CallsOfService) {
    this.#service = service;
  }

  get calls(): readonly CallRecord[] {
    return [...this.#service.history(listed).toReversed(), ...this.#service.live];
  }

  readonly call = (id: string): CallRecord | undefined => this.#service.call(id);

  /** Something has happened in a call. */
  changed(call_id: string): void {
    if (this.#watchers > 0) this.#events.append({ call_id });
  }

  /** Calls were erased. */
  reset(): void {
    this.#events.append({ type: "reset" });
  }

  /** Ends every stream, such as those of browsers that are signed out. */
  endStreams(): void {
    this.#events.close();
    this.#events = new EventLog();
  }

  close(): void {
    clearInterval(this.#ending);
    clearInterval(this.#timer);
    this.#events.close();
  }

  [Symbol.asyncIterator](): ReturnType<Watched[typeof Symbol.asyncIterator]> {
    const events = this.#events[Symbol.asyncIterator]();
    this.#watchers++;
    this.#timer ??= setInterval(() => this.#look(), lookInterval).unref();
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      this.#watchers--;
      if (this.#watchers > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
    return {
      next: async () => {
        const next = await events.next();
        if (next.done) leave();
        return next;
      },
      return: async () => {
        leave();
        await events.return?.();
        return { done: true, value: undefined };
      },
    };
  }

  #look(): void {
    const lengths = new Map(this.#service.live.map(({ id, history }) => [id, history.length]));
    for (const [id, length] of lengths) if (this.#lengths.get(id) !== length) this.changed(id);
    this.#lengths = lengths;
  }
}
