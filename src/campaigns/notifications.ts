import type { Received } from "../callbacks/handler.ts";
import { type Attempt, claim, countFlow, recordPlaced, settle, stateOf } from "./attempts.ts";
import { type Disposition, dispositionOf, isDisposition } from "./disposition.ts";
import type { CampaignSettings } from "./options.ts";
import { setStateOfCampaign, stateOfCampaign } from "./progress.ts";
import type { Sql } from "./sqlite.ts";
import { type ContactRow, contactOf, factOf, isErased, move } from "./tables.ts";

type CallEvent = Received["event"];

/** The attempt that a signed URL names, when it is one of this campaign. */
const attemptIn = (sql: Sql, { campaign, contact, attempt }: Received["context"]) =>
  campaign === factOf(sql, "id") && Number.isSafeInteger(contact) && Number.isSafeInteger(attempt)
    ? { contact: Number(contact), attempt: Number(attempt) }
    : undefined;

/** Whether a call has ended. The signed URL names the call where the event doesn't. */
const isEnd = ({ type }: CallEvent): boolean => type === "call.completed" || type === "call.failed";

/** The longest reason that is kept. */
const longestReason = 200;

/** 7 digits or more, with what may stand between the digits of a telephone number. */
const telephone = /\+?\(?\p{Nd}(?:[^\p{L}\p{Nd}:]{0,5}\p{Nd}){6,}/gu;

/** A field in the service's words: on one line, and without anything that looks like a telephone number. */
const textIn = ({ data }: CallEvent, field: string): string | undefined => {
  const text: unknown = data ? Reflect.get(data, field) : undefined;
  if (typeof text !== "string") return;
  return text
    .slice(0, longestReason)
    .replace(/[\s\p{C}]+/gu, " ")
    .replace(telephone, "***")
    .trim();
};

/** No call takes longer, in seconds: what does is a mistake of the service's. */
const longestCall = 864_000;

/** Milliseconds from the answer to the end, as the service measured them. */
const durationIn = ({ data }: CallEvent): number | null => {
  const seconds = data && "duration" in data ? data.duration : undefined;
  return typeof seconds === "number" && seconds >= 0 && seconds <= longestCall
    ? Math.round(seconds * 1000)
    : null;
};

/** Whether another attempt follows one that ended so. */
const isRetried = (
  sql: Sql,
  disposition: Disposition,
  made: number,
  at: number,
  { attempts = 1, retryOn, until }: CampaignSettings,
): boolean =>
  retryOn.some((reason) => reason === disposition) &&
  made < attempts &&
  factOf(sql, "state") !== "canceled" &&
  at < (until?.getTime() ?? Number.POSITIVE_INFINITY);

/** Records that an earlier attempt was completed after all: no attempt follows the one that is under way. */
const recordTalk = (sql: Sql, row: ContactRow, at: number): void => {
  sql.all("update outdial_contact set outcome = 'completed' where contact = ?", row.contact);
  if (row.state === "waiting") move(sql, row, "completed", { at });
};

/** How a contact ends: an earlier attempt may have been completed after all, and the flow of this one have failed. */
const endOf = ({ outcome }: ContactRow, disposition: Disposition): Disposition => {
  if (outcome === "completed") return outcome;
  return outcome === "flow_error" && disposition === "completed" ? outcome : disposition;
};

/** Ends the contact of a call that has ended, unless another attempt follows. */
const recordEnd = (
  sql: Sql,
  key: Attempt,
  event: CallEvent,
  at: number,
  settings: CampaignSettings,
): void => {
  const contact = contactOf(sql, key.contact);
  settle(sql, key, at, durationIn(event));
  if (!contact) return;
  if (contact.attempts !== key.attempt) {
    if (event.type === "call.completed") recordTalk(sql, contact, at);
    return;
  }
  const reason = textIn(event, "reason");
  // An earlier attempt may have been completed after all.
  const disposition = endOf(contact, dispositionOf(event.type, reason));
  sql.all("update outdial_contact set outcome = ? where contact = ?", disposition, contact.contact);
  const again =
    contact.listed &&
    !isErased(contact) &&
    isRetried(sql, disposition, contact.attempts, at, settings);
  const wait = settings.retryDelay;
  if (again) move(sql, contact, "waiting", { at, reason: disposition, wait });
  // The service's words may name the person.
  else {
    const failure =
      textIn(event, "flow_error") ?? (contact.outcome === "flow_error" && contact.reason);
    const isOthers = !!reason && isDisposition(reason) && reason !== disposition;
    const own = isOthers ? undefined : reason;
    const why = isErased(contact) ? undefined : (disposition === "flow_error" && failure) || own;
    move(sql, contact, disposition, { at, reason: why });
    if (disposition === "completed" || disposition === "flow_error") {
      countFlow(sql, disposition, at, why);
    }
  }
};

/** A notification that the flow of a call has failed: the end of the call comes apart from it, before or after. */
const isFlowError = ({ type }: CallEvent): boolean => type === "call.flow_error";

/** States in which the end of a call is still to come. */
const endless: ReadonlySet<string> = new Set(["calling", "unclear", "unknown"]);

/** Records that the flow of the last attempt has failed. */
const recordFlowError = (sql: Sql, key: Attempt, event: CallEvent, at: number): void => {
  const contact = contactOf(sql, key.contact);
  if (contact?.attempts !== key.attempt) return;
  const { state, outcome } = contact;
  const reason = isErased(contact) ? undefined : textIn(event, "flow_error");
  if (state === "completed") {
    sql.all("update outdial_contact set outcome = 'flow_error' where contact = ?", key.contact);
    move(sql, contact, "flow_error", { at, reason });
    countFlow(sql, "flow_error", at, reason);
  } else if (endless.has(state) && outcome !== "completed") {
    sql.all(
      "update outdial_contact set outcome = 'flow_error', reason = ? where contact = ?",
      reason ?? null,
      key.contact,
    );
  }
};

/** Whether the last attempt failed for a reason that the service did not name. */
const isWithoutReason = ({ state, outcome, reason }: ContactRow): boolean =>
  state === "unreachable"
    ? reason === undefined
    : state === "waiting" && outcome === "unreachable" && reason === "unreachable";

/**
 * Whether a final event of a settled attempt changes something: the attempt had been given up, or had
 * failed and the call was completed, or had failed for a reason that is known only now. Who was talked to isn't called again, also where a later attempt is
 * under way already.
 */
const isCorrection = (sql: Sql, { contact, attempt }: Attempt, event: CallEvent): boolean => {
  const row = contactOf(sql, contact);
  const state = row?.state;
  const hasNotEnded = state === "waiting" || state === "calling" || state === "unclear";
  if (state === "unknown" || (hasNotEnded && event.type === "call.completed")) return true;
  // Services that send two ends, such as Vonage, may send the one without the reason first.
  const isBare = row?.attempts === attempt && isWithoutReason(row);
  return isBare && event.type === "call.failed" && !!textIn(event, "reason");
};

/** Claims an attempt that the service had refused, and now notifies of: so nobody is called twice. */
const reclaim = (sql: Sql, key: Attempt, at: number, settleBy: number): void => {
  const contact = contactOf(sql, key.contact);
  if (contact?.attempts === key.attempt - 1) claim(sql, contact, at, settleBy);
};

/**
 * Pauses the campaign when a call is notified of that no claim of this ledger can have placed: the ledger is a restored
 * backup, which would call others again, too.
 */
const pauseIfRestored = (sql: Sql, { contact, attempt }: Attempt, at: number): void => {
  const row = contactOf(sql, contact);
  if ((row && row.attempts >= attempt - 1) || stateOfCampaign(sql) !== "running") return;
  const reason = "the ledger lacks a call that was placed: is it a restored backup?";
  setStateOfCampaign(sql, "paused", { at, event: "paused", reason });
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
  settings: CampaignSettings,
): Promise<boolean> => {
  const key = attemptIn(sql, context);
  if (!key) return false;
  const known = stateOf(sql, key);
  // Of a placed call only its end is news, and that its flow failed.
  if (known && known !== "claimed" && !isEnd(event) && !isFlowError(event)) return true;
  return sql.commit(() => {
    const at = settings.clock();
    if (!stateOf(sql, key)) reclaim(sql, key, at, at + settings.settleTimeout);
    const state = stateOf(sql, key);
    if (!state) {
      pauseIfRestored(sql, key, at);
      return false;
    }
    if (state === "claimed") recordPlaced(sql, key, event.call_id, at);
    if (isEnd(event) && (state !== "settled" || isCorrection(sql, key, event))) {
      recordEnd(sql, key, event, at, settings);
    }
    if (isFlowError(event)) recordFlowError(sql, key, event, at);
    return true;
  });
};
