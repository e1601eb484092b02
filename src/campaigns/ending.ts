import type { Attempt } from "./attempts.ts";
import type { CampaignSettings } from "./options.ts";
import { setStateOfCampaign, stateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
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
const brake = "end_calls";

/** How many calls are ended at once. */
const mostAtOnce = 32;

/** How often a call is tried to be ended, in all. */
const mostTries = 4;

/** Milliseconds until the second try; each further one takes twice as long. */
const retryInterval = 250;

/** Has every live call ended, in a transaction of the caller's: also by the process that dials. */
export const markBrake = (sql: Sql, at: number, reason: string): void => {
  if (stateOfCampaign(sql) !== "canceled") {
    setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
  }
  setFact(sql, brake, 1);
};

/** Takes it back, in a transaction of the caller's. */
export const releaseBrake = (sql: Sql): void => {
  if (isBraking(sql)) setFact(sql, brake, 0);
};

const isBraking = (sql: Sql): boolean => factOf(sql, brake) === 1;

/** The calls that are open: those that may be live. */
const openCalls = (sql: Sql): readonly (OpenCall & Attempt)[] =>
  sql
    .all(
      `select a.contact, a.attempt, coalesce(written, to_number) as to_number, id,
         case a.state when 'placed' then call_id end as call_id
       from (select contact, attempt, state from outdial_attempt where state <> 'settled') a
       cross join outdial_contact c where c.contact = a.contact`,
    )
    .map((row) => {
      const to_number = String(row.to_number);
      const [id, call_id] = [textIn(row.id), textIn(row.call_id)];
      return {
        contact: Number(row.contact),
        attempt: Number(row.attempt),
        to_number: isErased({ to_number }) ? "" : to_number,
        ...(id !== undefined && { id }),
        ...(call_id !== undefined && { call_id }),
      };
    });

const publicOf = ({ attempt: _, ...call }: OpenCall & Attempt): OpenCall => call;

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** What ends calls beside the options of their campaign. */
interface EndingMeans {
  /** How many requests wait for their answer at once, at most. */
  readonly most: number;
  /** Commits, and waits while another program holds the file. */
  readonly write: <T>(work: () => T) => Promise<T>;
  /** Called once a call was tried to be ended. */
  readonly done: () => void;
}

/** Ends the live calls of a campaign, each once. */
export class Ending {
  readonly #sql: Sql;
  readonly #settings: CampaignSettings;
  readonly #write: EndingMeans["write"];
  readonly #done: () => void;
  /** The calls that were ended, and those that are being ended, by their ids. */
  readonly #calls = new Map<string, Promise<boolean>>();
  #free: number;
  readonly #queue: (() => void)[] = [];
  #count = 0;

  constructor(sql: Sql, settings: CampaignSettings, { most, write, done }: EndingMeans) {
    this.#sql = sql;
    this.#settings = settings;
    this.#free = Math.min(mostAtOnce, most);
    this.#write = write;
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
    const { end } = this.#settings;
    if (!end || !isBraking(this.#sql)) return;
    for (const call of openCalls(this.#sql)) {
      const { call_id } = call;
      if (call_id === undefined || this.#calls.has(call_id)) continue;
      this.#count++;
      const work = this.#end(call, () => end(call_id)).finally(() => {
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

  /** @returns whether the call has ended; it never rejects */
  async #end(call: Attempt, end: () => Promise<unknown>): Promise<boolean> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#queue.push(resolve));
    else this.#free--;
    try {
      return await this.#try(call, end);
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    }
  }

  async #try({ contact, attempt }: Attempt, end: () => Promise<unknown>): Promise<boolean> {
    let detail: string | undefined;
    for (let tries = 0; tries < mostTries; tries++) {
      if (tries > 0) await wait(retryInterval * 2 ** (tries - 1));
      try {
        await end();
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
