import type { Disposition, State } from "../../disposition.ts";
import type { Sql } from "../../sql/sql.ts";
import { audit } from "../audit.ts";
import { factOf, setFact } from "./facts.ts";

/** How far a campaign has come: how many contacts stand where. */
export type Progress = Readonly<Record<Disposition, number>> & {
  readonly state: "running" | "paused" | "canceled";
  /** Why it is paused. */
  readonly reason?: string | undefined;
  /** Whether every contact has ended. */
  readonly done: boolean;
  readonly contacts: number;
  /** For their turn, or for their next attempt. */
  readonly waiting: number;
  /** Calls that live, or may. */
  readonly calling: number;
};

export const tallyOf = (sql: Sql): Readonly<Record<string, number>> =>
  Object.fromEntries(
    sql
      .all("select state, contacts from outdial_tally")
      .map(({ state, contacts }) => [String(state), Number(contacts)]),
  );

/** What new contacts add to the tally. */
export const addToTally = (sql: Sql, state: "waiting" | "skipped", contacts: number): void => {
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

/** The campaign as a whole goes on, waits or ends; contacts that were not called yet wait for it. */
export const setStateOfCampaign = (
  sql: Sql,
  state: Progress["state"],
  { at, event, reason }: { at: number; event: string; reason?: string | undefined },
): void => {
  if (stateOfCampaign(sql) === "canceled") return;
  setFact(sql, "state", state);
  setFact(sql, "reason", reason ?? null);
  audit(sql, { at, event, detail: reason });
};

/** How many contacts stand where, by what tells how many are in a state. */
export const countsOf = (of: (state: State) => number): Omit<Progress, "state" | "reason"> => {
  const ended = {
    completed: of("completed"),
    busy: of("busy"),
    no_answer: of("no_answer"),
    rejected: of("rejected"),
    unreachable: of("unreachable"),
    refused: of("refused"),
    unknown: of("unknown"),
    expired: of("expired"),
    canceled: of("canceled"),
    skipped: of("skipped"),
    placed: of("placed"),
  };
  const waiting = of("waiting");
  const calling = of("calling");
  const open = waiting + calling;
  return {
    done: open === 0,
    contacts: Object.values(ended).reduce((total, each) => total + each, open),
    waiting,
    calling,
    ...ended,
  };
};

/** Costs the same in a short and in a long list. */
export const progressOf = (sql: Sql): Progress => {
  const tally = tallyOf(sql);
  const state = stateOfCampaign(sql);
  const reason = factOf(sql, "reason");
  return {
    state,
    ...(state === "paused" && typeof reason === "string" && { reason }),
    ...countsOf((each) => tally[each] ?? 0),
  };
};
