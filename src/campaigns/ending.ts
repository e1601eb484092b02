import { inRealTime, type Waiting, waitingBy } from "../lib/clock.ts";
import { type Attempt, stateOf } from "./attempt-facts.ts";
import { retryReasons } from "./disposition.ts";
import { LedgerException } from "./errors.ts";
import { type EventSettings, recordEvent } from "./notifications.ts";
import { type CampaignSettings, defaultSettleTimeout } from "./options.ts";
import { readEnd } from "./polling.ts";
import { setStateOfCampaign, stateOfCampaign, stopReason } from "./progress.ts";
import { isBusyError, patience, type Sql, type Storage, sqlOf, whileBusy } from "./sqlite.ts";
import { audit, factOf, isErased, setFact, textIn } from "./tables.ts";

/** A contact whose call may be live. */
export interface OpenCall {
  /** The contact's number in the ledger. */
  readonly contact: number;
  /** E.164; empty when the contact was erased. */
  readonly to_number: string;
  /** Your own name for it. */
  readonly id?: string | undefined;
  /** Absent when it is unknown. */
  readonly call_id?: string | undefined;
}

/** What became of the live calls. */
export interface EndedCalls {
  /** Calls that the service has ended, or that were over. */
  readonly ended: number;
  /** Calls that could not be ended: they may be live. */
  readonly failed: readonly OpenCall[];
  /** Calls that may have been placed, and whose ids are unknown: they may be live. One whose id comes is ended then. */
  readonly unclear: readonly OpenCall[];
}

/** The fact that every live call is to be ended, and each whose id comes; `resume` takes it back. */
const endRequest = "end_calls";

/** How many calls are ended at once. */
const mostAtOnce = 32;

/** How often a call is tried to be ended, in all. */
const mostTries = 4;

/** Milliseconds until the second try; each further one takes twice as long. */
const retryInterval = 250;

/** How long the process that dials has to end its calls, in milliseconds: it looks into the ledger each second. */
const dialerTime = 2_000;

/** How long it has where nobody else can end them. */
const onlyDialerTime = 30_000;

/** Milliseconds between two looks at what it has ended. */
const lookInterval = 50;

/** Has every live call ended, in a transaction of the caller's: also by the process that dials. */
export const requestEnd = (sql: Sql, at: number, reason: string): void => {
  if (stateOfCampaign(sql) !== "canceled") {
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
  }
  setFact(sql, endRequest, 1);
};

/** Takes it back, in a transaction of the caller's. */
export const withdrawEnd = (sql: Sql): void => {
  if (isEndRequested(sql)) setFact(sql, endRequest, 0);
};

const isEndRequested = (sql: Sql): boolean => factOf(sql, endRequest) === 1;

/** An open call, and whether the process that dials waits for its id. */
interface Open extends OpenCall, Attempt {
  readonly isBeingPlaced: boolean;
}

/** The calls that are open: those that may be live. */
const openCalls = (sql: Sql): readonly Open[] =>
  sql
    .all(
      `select a.contact, a.attempt, coalesce(written, to_number) as to_number, id,
         case a.state when 'placed' then call_id end as call_id,
         a.state = 'claimed' and c.state = 'calling' as being_placed
       from (select contact, attempt, state from outdial_attempt where state <> 'settled') a
       cross join outdial_contact c where c.contact = a.contact`,
    )
    .map((row) => {
      const to_number = String(row.to_number);
      const [id, call_id] = [textIn(row.id), textIn(row.call_id)];
      return {
        contact: Number(row.contact),
        attempt: Number(row.attempt),
        isBeingPlaced: row.being_placed === 1,
        to_number: isErased({ to_number }) ? "" : to_number,
        ...(id !== undefined && { id }),
        ...(call_id !== undefined && { call_id }),
      };
    });

const publicOf = ({ attempt: _, isBeingPlaced: __, ...call }: Open): OpenCall => call;

/** What ends calls beside the options of their campaign. */
interface EndingMeans {
  /** How many requests wait for their answer at once, at most. */
  readonly most: number;
  /** Commits, and waits while another program holds the file. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** Called once a call was tried to be ended. */
  readonly done: () => void;
}

type EndingSettings = EventSettings & Pick<CampaignSettings, "end" | "clock">;

/** A call that is being ended. */
interface Ended extends Attempt {
  readonly call_id: string;
}

/** Ends the live calls of a campaign, each once, and enters their ends. */
export class Ending {
  readonly #sql: Sql;
  readonly #settings: EndingSettings;
  readonly #time: Waiting;
  readonly #write: EndingMeans["write"];
  readonly #done: () => void;
  /** The calls that were ended, and those that are being ended, by their ids. */
  readonly #calls = new Map<string, Promise<boolean>>();
  #free: number;
  readonly #queue: (() => void)[] = [];
  #count = 0;

  constructor(sql: Sql, settings: EndingSettings, { most, write, done }: EndingMeans) {
    this.#sql = sql;
    this.#settings = settings;
    this.#free = Math.min(mostAtOnce, most);
    // No turn: whoever responds to a request may wait until the calls have ended.
    this.#time = waitingBy(settings.clock);
    this.#write = (work) => this.#time.hold(write(work));
    this.#done = done;
  }

  /** How many calls are being ended. */
  get count(): number {
    return this.#count;
  }

  /** Waits until no call is being ended. */
  async idle(): Promise<void> {
    while (this.#count > 0) await Promise.all(this.#calls.values());
  }

  /** Forgets what was tried: the calls that could not be ended are tried again. */
  async forgetFailures(): Promise<void> {
    for (const [id, ended] of [...this.#calls]) if (!(await ended)) this.#calls.delete(id);
  }

  /** Begins to end every open call whose id is known, if that is asked for. */
  endKnown(): void {
    if (this.#settings.end && isEndRequested(this.#sql)) this.endAll(openCalls(this.#sql));
  }

  /** Begins to end calls whose ids are known. */
  endAll(calls: readonly (OpenCall & Attempt)[]): void {
    const { end } = this.#settings;
    if (!end) return;
    for (const call of calls) {
      const { contact, attempt, call_id } = call;
      if (call_id === undefined || this.#calls.has(call_id)) continue;
      this.#count++;
      const work = this.#end({ contact, attempt, call_id }, end).finally(() => {
        this.#count--;
        this.#done();
      });
      this.#calls.set(call_id, work);
    }
  }

  /** What has become of the calls that are being ended. */
  async result(): Promise<EndedCalls> {
    await this.idle();
    const results = await Promise.all(this.#calls.values());
    const open = openCalls(this.#sql);
    const failed: OpenCall[] = [];
    for (const call of open) {
      const known = call.call_id === undefined ? undefined : this.#calls.get(call.call_id);
      if (known && !(await known)) failed.push(publicOf(call));
    }
    return {
      ended: results.filter(Boolean).length,
      failed,
      unclear: open.filter(({ call_id }) => call_id === undefined).map(publicOf),
    };
  }

  /** Does work once fewer calls than may be are being ended. */
  async #inSlot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free--;
    try {
      return await work();
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    }
  }

  /** @returns whether the call has ended; it never rejects */
  async #end(call: Ended, end: NonNullable<EndingSettings["end"]>): Promise<boolean> {
    const hasEnded = await this.#inSlot(() => this.#try(call, end));
    // All are ended before any is read.
    if (hasEnded) await this.#enter(call).catch(() => {});
    return hasEnded;
  }

  /** Enters the end of a call at once: its final notification may come late, and to nobody once this process has ended. */
  async #enter(call: Ended): Promise<void> {
    const { get, clock } = this.#settings;
    if (!get) return;
    for (let tries = 0; tries < mostTries; tries++) {
      if (tries > 0) await this.#pause(tries);
      if (stateOf(this.#sql, call) === "settled") return;
      const event = await this.#time.hold(this.#inSlot(() => readEnd(get, call.call_id)));
      if (!event) continue;
      await this.#write(() => recordEvent(this.#sql, call, event, clock(), this.#settings));
      return;
    }
  }

  /** Waits before a further try. */
  #pause(tries: number): Promise<void> {
    return this.#time.wait(retryInterval * 2 ** (tries - 1));
  }

  async #try(
    { contact, attempt, call_id }: Ended,
    end: NonNullable<EndingSettings["end"]>,
  ): Promise<boolean> {
    let detail: string | undefined;
    for (let tries = 0; tries < mostTries; tries++) {
      if (tries > 0) await this.#pause(tries);
      try {
        await this.#time.hold(Promise.resolve(end(call_id)));
        await this.#audit({ contact, attempt }, "ended");
        return true;
      } catch (error) {
        detail = error instanceof Error ? error.name : undefined;
      }
    }
    await this.#audit({ contact, attempt }, "not_ended", detail);
    return false;
  }

  async #audit({ contact, attempt }: Attempt, event: string, detail?: string): Promise<void> {
    const at = this.#settings.clock();
    try {
      await this.#write(() => audit(this.#sql, { at, contact, attempt, event, detail }));
    } catch {
      // The call has ended all the same.
    }
  }
}

/** What became of the live calls since an entry of the audit log, by whichever process. */
interface EndedSince {
  readonly ended: number;
  readonly failed: readonly Open[];
  readonly unclear: readonly Open[];
  /** Nobody has tried to end them. */
  readonly untried: readonly Open[];
}

const lastEntry = (sql: Sql): number =>
  Number(sql.all("select max(entry) as last from outdial_audit")[0]?.last ?? 0);

const endedSince = (sql: Sql, entry: number): EndedSince => {
  const events = new Map(
    sql
      .all(
        `select contact, attempt, event from outdial_audit
         where entry > ? and event in ('ended', 'not_ended') order by entry`,
        entry,
      )
      .map(({ contact, attempt, event }) => [`${contact}:${attempt}`, event]),
  );
  const known = openCalls(sql).map((call) => ({
    call,
    event: call.call_id === undefined ? "unclear" : events.get(`${call.contact}:${call.attempt}`),
  }));
  const those = (wanted: unknown): readonly Open[] =>
    known.filter(({ event }) => event === wanted).map(({ call }) => call);
  return {
    ended: [...events.values()].filter((event) => event === "ended").length,
    failed: those("not_ended"),
    unclear: those("unclear"),
    untried: those(undefined),
  };
};

/** Only the process that dials knows which attempts follow: until it looks, a contact waits where any may. */
const anyRetry = {
  ...{ retryOn: retryReasons, retryDelay: 0, attempts: 100 },
  settleTimeout: defaultSettleTimeout,
} as const satisfies EventSettings;

/** The lock of a ledger; `undefined` while a process dials from it. */
const lockOf = (storage: Storage): Sql | undefined => {
  const alone = sqlOf(storage);
  try {
    alone.lock();
    return alone;
  } catch (error) {
    alone.close();
    const isHeld = error instanceof LedgerException && error.reason === "in_use";
    if (isHeld || isBusyError(error)) return;
    throw error;
  }
};

/**
 * Has the live calls of a ledger ended: by the process that dials, and those that it doesn't end within two seconds, or
 * where there is none, from here.
 *
 * @param live - `end` ends a call; without it, only the process that dials can do so, which then has half a minute. `get` reads it
 * then
 */
export const endFromOutside = async (
  storage: Storage,
  sql: Sql,
  live: Pick<CampaignSettings, "end" | "get" | "clock">,
): Promise<EndedCalls> => {
  const entry = lastEntry(sql);
  const isTooLong = (triedFor: number): boolean => triedFor > patience;
  const write = <T>(work: () => T): Promise<T> => whileBusy(() => sql.transaction(work), isTooLong);
  await write(() => requestEnd(sql, live.clock(), stopReason));
  const limit = live.end ? dialerTime : onlyDialerTime;
  const began = performance.now();
  let alone: Sql | undefined;
  try {
    for (;;) {
      const { untried, unclear } = endedSince(sql, entry);
      const isDone = untried.length === 0 && !unclear.some(({ isBeingPlaced }) => isBeingPlaced);
      if (isDone || performance.now() - began > limit) break;
      alone = lockOf(storage);
      if (alone) break;
      await inRealTime.wait(lookInterval);
    }
    const outside = { ...anyRetry, ...live };
    const ending = new Ending(sql, outside, { most: mostAtOnce, write, done: () => {} });
    ending.endAll(endedSince(sql, entry).untried);
    await waitingBy(live.clock).pass(ending.idle());
  } finally {
    alone?.close();
  }
  const { ended, failed, unclear, untried } = endedSince(sql, entry);
  return {
    ended,
    failed: [...failed, ...untried].map(publicOf),
    unclear: unclear.map(publicOf),
  };
};
