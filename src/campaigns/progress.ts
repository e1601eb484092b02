import { byState, type Disposition, type State } from "./disposition.ts";
import type { CampaignSettings } from "./options.ts";
import type { Sql } from "./sqlite.ts";
import { audit, factOf, setFact, stateIn } from "./tables.ts";

/** How far a campaign is: how many contacts are in each state. */
export type Progress = Readonly<Record<Disposition, number>> & {
  readonly state: "running" | "paused" | "canceled";
  /** Why it is paused. */
  readonly reason?: string | undefined;
  /** Whether every contact has ended. */
  readonly done: boolean;
  readonly contacts: number;
  /** For their first or their next attempt. */
  readonly waiting: number;
  /** Calls that are live. */
  readonly calling: number;
  /** When the oldest live call was claimed, in milliseconds since 1970. */
  readonly callingSince?: number | undefined;
  /** Contacts that may have been called: their notifications or `settleTimeout` decide it. They hold their slots. */
  readonly unclear: number;
  /** When the last of them is given up, in milliseconds since 1970, unless a notification comes. */
  readonly unclearUntil?: number | undefined;
};

type Tally = Readonly<Partial<Record<State, number>>>;

/** @throws {LedgerException} `unknown_state` */
export const tallyOf = (sql: Sql): Tally =>
  Object.fromEntries(
    sql
      .all("select state, contacts from outdial_tally")
      .map(({ state, contacts }) => [stateIn(state), Number(contacts)]),
  );

/** How many contacts hold a slot: an unclear call may be live. */
export const openIn = ({ calling = 0, unclear = 0 }: Tally): number => calling + unclear;

/** How many contacts have not ended. */
const unendedIn = ({ waiting = 0, ...rest }: Tally): number => waiting + openIn(rest);

/** Whether every contact has ended: it costs the same however many calls are live. */
export const isDone = (sql: Sql): boolean => unendedIn(tallyOf(sql)) === 0;

/** The same, straight from the ledger: it is read before each claim. */
export const openNow = (sql: Sql): number =>
  sql
    .all("select contacts from outdial_tally where state in ('calling', 'unclear')")
    .reduce((total, { contacts }) => total + Number(contacts), 0);

/** Adds new contacts to the tally: the trigger counts changes only. */
export const addToTally = (sql: Sql, state: "waiting" | "blocked", contacts: number): void => {
  sql.all(
    `insert into outdial_tally values (?, ?)
     on conflict (state) do update set contacts = contacts + excluded.contacts`,
    state,
    contacts,
  );
};

export const stateOfCampaign = (sql: Sql): Progress["state"] => {
  const state = factOf(sql, "state");
  return state === "paused" || state === "canceled" ? state : "running";
};

/** From when on no call begins. */
export const endOf = ({ until }: Pick<CampaignSettings, "until">): number =>
  until?.getTime() ?? Number.POSITIVE_INFINITY;

/** Whether no call begins any more from a time on. */
export const isOverAt = (
  sql: Sql,
  at: number,
  settings: Pick<CampaignSettings, "until">,
): boolean => stateOfCampaign(sql) === "canceled" || at >= endOf(settings);

/** Why a campaign is paused that was stopped by another process. */
export const stopReason = "stopped from outside";

/** Whether a campaign is paused for a reason. */
export const isPausedFor = (sql: Sql, reason: string): boolean =>
  stateOfCampaign(sql) === "paused" && factOf(sql, "reason") === reason;

/**
 * Changes the state of the campaign, unless it is canceled: that is for good. What was stopped from outside is not
 * paused for another reason, by which it might go on.
 */
export const setStateOfCampaign = (
  sql: Sql,
  state: Progress["state"],
  { at, event, reason }: { at: number; event: string; reason?: string | undefined },
): void => {
  if (stateOfCampaign(sql) === "canceled") return;
  if (state === "paused" && isPausedFor(sql, stopReason)) return;
  setFact(sql, "state", state);
  setFact(sql, "reason", reason ?? null);
  audit(sql, { at, event, detail: reason });
};

/** The counts of a progress. `of` gives how many contacts are in a state. */
export const countsOf = (of: (state: State) => number): Omit<Progress, "state" | "reason"> => {
  const counts = byState(of);
  return {
    done: unendedIn(counts) === 0,
    contacts: Object.values(counts).reduce((total, each) => total + each, 0),
    ...counts,
  };
};

/** The times of what is open: it reads the open attempts only. */
const timesOf = (sql: Sql): Pick<Progress, "callingSince" | "unclearUntil"> => {
  // A cross join keeps its order: it never reads the whole list.
  const [{ since, until } = {}] = sql.all(
    `select min(case c.state when 'calling' then claimed end) as since,
            max(case c.state when 'unclear' then settle_by end) as until
     from (select contact, claimed, settle_by from outdial_attempt where state <> 'settled') a
     cross join outdial_contact c where c.contact = a.contact`,
  );
  return {
    ...(typeof since === "number" && { callingSince: since }),
    ...(typeof until === "number" && { unclearUntil: until }),
  };
};

/** All but the times of what is open: it costs the same however many calls are live. */
const countedIn = (sql: Sql): Omit<Progress, "callingSince" | "unclearUntil"> => {
  const tally = tallyOf(sql);
  const state = stateOfCampaign(sql);
  const reason = state === "paused" && factOf(sql, "reason");
  return {
    state,
    ...(typeof reason === "string" && { reason }),
    ...countsOf((each) => tally[each] ?? 0),
  };
};

/** Costs the same for a short and for a long list, and reads every live call. Too slow to call every step. */
export const progressOf = (sql: Sql): Progress => {
  const counted = countedIn(sql);
  return { ...counted, ...(openIn(counted) > 0 && timesOf(sql)) };
};

/** A progress as it is now, for each step: the times of what is open are those that were known. */
export const recounted = (sql: Sql, { callingSince, unclearUntil }: Progress): Progress => {
  const counted = countedIn(sql);
  return {
    ...counted,
    ...(counted.calling > 0 && callingSince !== undefined && { callingSince }),
    ...(counted.unclear > 0 && unclearUntil !== undefined && { unclearUntil }),
  };
};
