import type { Received } from "../callbacks/handler.ts";
import { fieldsOf, isText, withoutTelephones } from "../lib/check.ts";
import { type Attempt, bareFailure, stateOf } from "./attempt-facts.ts";
import { recordPlaced } from "./attempts.ts";
import { claim } from "./claims.ts";
import { type FollowSettings, recordNews, writeReclaimed } from "./contact-state.ts";
import { type End, isDisposition, type News } from "./disposition.ts";
import { resetFaults } from "./faults.ts";
import type { ServiceSettings } from "./options.ts";
import { setStateOfCampaign, stateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { contactOf, factOf, isErased } from "./tables.ts";

type CallEvent = Received["event"];

/** The attempt that a signed URL names, when it is one of this campaign. */
export const attemptIn = (
  sql: Sql,
  { campaign, contact, attempt }: Received["context"],
): Attempt | undefined =>
  campaign === factOf(sql, "id") && Number.isSafeInteger(contact) && Number.isSafeInteger(attempt)
    ? { contact: Number(contact), attempt: Number(attempt) }
    : undefined;

/** The ends of a call; `call.ended` is that of a call that nobody answered, without its reason. */
const ends: ReadonlySet<string> = new Set(["call.completed", "call.failed", "call.ended"]);

/** Whether a call has ended. The signed URL names the call where the event doesn't. */
export const isEnd = ({ type }: CallEvent): boolean => ends.has(type);

/** The longest reason that is kept. */
const longestReason = 200;

/** A field in the service's words: on one line, and without anything that looks like a telephone number. */
const textIn = ({ data }: CallEvent, field: string): string | undefined => {
  const text: unknown = data ? Reflect.get(data, field) : undefined;
  if (typeof text !== "string") return;
  return withoutTelephones(text.slice(0, longestReason).replace(/[\s\p{C}]+/gu, " ")).trim();
};

/** No call takes longer, in seconds: what does is a mistake of the service's. */
const longestCall = 864_000;

/** Milliseconds from the answer to the end, as the service measured them. */
const durationIn = ({ data }: CallEvent): number | undefined => {
  const seconds = data && "duration" in data ? data.duration : undefined;
  return typeof seconds === "number" && seconds >= 0 && seconds <= longestCall
    ? Math.round(seconds * 1000)
    : undefined;
};

/** Who took the call, in the service's words. */
const answeredByIn = (event: CallEvent): string | undefined => {
  const answered_by = textIn(event, "answered_by");
  return answered_by && /^\w{1,32}$/.test(answered_by) ? answered_by : undefined;
};

/** How a failed call ended, by its reason; by any other one, and without one, it was `unreachable`. */
const failures: ReadonlyMap<unknown, End> = new Map([
  ...(["canceled", "rejected", "busy", "no_answer"] as const).map((end) => [end, end] as const),
  ["lost", "unknown"],
]);

/** What a final notification says. */
const endIn = (event: CallEvent, at: number): News => {
  const reason = textIn(event, "reason");
  const isCompleted = event.type === "call.completed";
  const endedAs = isCompleted ? "completed" : (failures.get(reason) ?? "unreachable");
  const failed = reason === "flow_error";
  return {
    ...{ endedAs, ended: at, duration: durationIn(event) },
    // The name of another disposition would contradict this one.
    reason: reason && isDisposition(reason) && reason !== endedAs ? undefined : reason || undefined,
    ...(failed && { failed, failure: textIn(event, "flow_error") ?? bareFailure }),
  };
};

/** A notification that the flow of a call has failed: the end of the call comes apart from it, before or after. */
const isFlowError = ({ type }: CallEvent): boolean => type === "call.flow_error";

/** Signs that a call was answered, apart from its end. */
const answers: ReadonlySet<string> = new Set(["call.answered", "call.machine_detected"]);

/** What a notification says of the facts of an attempt. */
const newsIn = (event: CallEvent, at: number): News => ({
  answered_by: answeredByIn(event),
  ...(answers.has(event.type) && { answered: at }),
  ...(isFlowError(event) && { failed: true, failure: textIn(event, "flow_error") || undefined }),
  ...(isEnd(event) && endIn(event, at)),
});

/** Whether a notification of a call that has its id says anything that is kept. */
const isNews = (event: CallEvent): boolean =>
  isEnd(event) ||
  isFlowError(event) ||
  answers.has(event.type) ||
  answeredByIn(event) !== undefined;

/** The options that decide what follows on a notification, of the service that sent it. */
export type EventSettings = FollowSettings &
  Pick<ServiceSettings, "name" | "get" | "settleTimeout">;

/** The last service that had an attempt; `undefined` for one that was never claimed. */
const lastServiceOf = (sql: Sql, { contact, attempt }: Attempt) =>
  sql.all(
    "select service, post is 'no' as released from outdial_attempt where contact = ? and attempt = ?",
    contact,
    attempt,
  )[0];

/**
 * Whether an attempt may be at the service that a notification came from: none is at another once it was placed. One whose
 * claim was taken back is at none: a restored backup may lack the claim of the next service.
 */
export const isAtService = (sql: Sql, attempt: Attempt, name: string | undefined): boolean => {
  if (name === undefined) return true;
  const last = lastServiceOf(sql, attempt);
  return !last || last.released === 1 || last.service === name;
};

/** Whether a service must have had a claim of an attempt that the ledger lacks. */
const lacksClaim = (sql: Sql, attempt: Attempt, name: string | undefined): boolean => {
  const last = lastServiceOf(sql, attempt);
  return !last || (name !== undefined && last.service !== name);
};

/** Pauses the campaign: the ledger is a restored backup, which would call others again, too. */
const pauseAsRestored = (sql: Sql, at: number): void => {
  if (stateOfCampaign(sql) !== "running") return;
  const reason = "the ledger lacks a call that was placed: is it a restored backup?";
  setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
};

/** Whether the id of an open call is not known: what an agent says of a call does not name it. */
const lacksId = (sql: Sql, { contact, attempt }: Attempt): boolean => {
  const row = contactOf(sql, contact);
  return row?.attempts === attempt && row.call_id === undefined && !isErased(row);
};

/**
 * Records that an attempt has a call that something is known of. One that the service had refused is claimed by it, and
 * so is one that this ledger never claimed: nobody is called twice.
 *
 * @returns whether the ledger has the attempt
 */
export const openAttempt = (
  sql: Sql,
  key: Attempt,
  call_id: string | null,
  at: number,
  settings: EventSettings,
): boolean => {
  // Read in the transaction: a claim that waited for it may have given the attempt to another service.
  if (!isAtService(sql, key, settings.name)) return false;
  const state = stateOf(sql, key);
  if (state === undefined || state === "released") {
    const contact = contactOf(sql, key.contact);
    if (lacksClaim(sql, key, settings.name)) pauseAsRestored(sql, at);
    if (contact?.attempts !== key.attempt - 1) return false;
    claim(sql, [contact], at, at + settings.settleTimeout, settings.name);
    writeReclaimed(sql, key.contact);
  }
  if (state !== "placed" && state !== "settled") {
    resetFaults(sql, settings.name);
    recordPlaced(sql, key, call_id, at, settings);
  } else if (state === "placed" && call_id !== null && lacksId(sql, key)) {
    recordPlaced(sql, key, call_id, at, settings);
  }
  return true;
};

/** An amount, as carriers write it: some have a charge below 0. */
const amount = /^-?\d{1,12}(\.\d{1,12})?$/;

/** Records what the carrier charges for the call of an attempt: the final notification may come without it. */
const recordCost = (sql: Sql, { contact, attempt }: Attempt, event: CallEvent): void => {
  const { cost, currency } = fieldsOf(event.data);
  if (!isText(cost) || !amount.test(cost)) return;
  const isNamed = isText(currency) && /^[A-Z]{3}$/.test(currency);
  sql.all(
    "update outdial_attempt set cost = ?, currency = ? where contact = ? and attempt = ?",
    cost,
    isNamed ? currency : null,
    contact,
    attempt,
  );
};

/** Records an event of an attempt that has one. */
export const recordEvent = (
  sql: Sql,
  key: Attempt,
  event: CallEvent,
  at: number,
  settings: EventSettings,
): boolean => {
  if (!openAttempt(sql, key, event.call_id, at, settings)) return false;
  recordNews(sql, key, newsIn(event, at), at, settings);
  if (isEnd(event)) recordCost(sql, key, event);
  return true;
};

/**
 * Records a verified notification, in any order and any number of times.
 *
 * @returns whether it was about an attempt of this campaign, once that is durable
 * @throws {LedgerException} `busy`: let the service deliver it again
 */
export const recordNotification = async (
  sql: Sql,
  { event, context }: Received,
  settings: ServiceSettings,
): Promise<boolean> => {
  const key = attemptIn(sql, context);
  if (!key || !isAtService(sql, key, settings.name)) return false;
  const state = stateOf(sql, key);
  if ((state === "placed" || state === "settled") && !isNews(event)) return true;
  return sql.commit(() => recordEvent(sql, key, event, settings.clock(), settings));
};
