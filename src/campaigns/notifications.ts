import type { Received } from "../callbacks/handler.ts";
import { fieldsOf, isText } from "../lib/check.ts";
import { type Attempt, countFlow, recordPlaced, resetFaults, settle, stateOf } from "./attempts.ts";
import { claim } from "./claims.ts";
import {
  type Answerer,
  type Disposition,
  dispositionOf,
  isDisposition,
  isMachine,
  machineByAgent,
  talkOf,
} from "./disposition.ts";
import type { CampaignSettings } from "./options.ts";
import { isOverAt, setStateOfCampaign, stateOfCampaign } from "./progress.ts";
import { ruleOf } from "./retries.ts";
import type { Sql } from "./sqlite.ts";
import { type ContactRow, contactOf, factOf, isAsked, isErased, move } from "./tables.ts";

type CallEvent = Received["event"];

/** The attempt that a signed URL names, when it is one of this campaign. */
export const attemptIn = (
  sql: Sql,
  { campaign, contact, attempt }: Received["context"],
): Attempt | undefined =>
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

/** How long the contact waits for another attempt; `undefined` when none follows on how the last one ended. */
const waitAfter = (
  sql: Sql,
  disposition: Disposition,
  row: ContactRow,
  at: number,
  settings: CampaignSettings,
): number | undefined => {
  if (isOverAt(sql, at, settings) || !row.listed || isErased(row)) return;
  if (isAsked(row)) return Math.max(0, (row.call_at ?? at) - at);
  const rule = ruleOf(settings, disposition);
  return rule && row.attempts < rule.attempts + row.call_backs ? rule.after : undefined;
};

/** Records that an earlier attempt was completed after all: no attempt follows the one that is under way. */
const recordTalk = (sql: Sql, row: ContactRow, key: Attempt, at: number): void => {
  // The contact has asked for another call since.
  if (key.attempt < row.call_for) return;
  sql.all("update outdial_contact set outcome = 'completed' where contact = ?", row.contact);
  if (row.state === "waiting") move(sql, row, "completed", { at });
};

/** What the ledger knows of an attempt's talk. */
interface Talk extends Required<Answerer> {
  /** Whether the flow failed. */
  readonly failed: boolean;
  /** When its final notification came. */
  readonly ended: number | undefined;
}

const talkIn = (sql: Sql, { contact, attempt }: Attempt): Talk => {
  const [row = {}] = sql.all(
    `select answered_by, person, message, failed, ended from outdial_attempt
     where contact = ? and attempt = ?`,
    contact,
    attempt,
  );
  return {
    answered_by: typeof row.answered_by === "string" ? row.answered_by : undefined,
    person: row.person === 1,
    message: row.message === 1,
    failed: row.failed === 1,
    ended: typeof row.ended === "number" ? row.ended : undefined,
  };
};

/** How a contact ends: an earlier attempt may have been completed after all, and the flow of this one have failed. */
const endOf = (
  { outcome, call_for, attempts }: ContactRow,
  { failed }: Talk,
  disposition: Disposition,
): Disposition => {
  const isNewTalk = call_for === attempts;
  if (outcome === "completed" && !isNewTalk) return outcome;
  const isFailure = failed && (disposition === "completed" || disposition === "machine");
  return isFailure ? "flow_error" : disposition;
};

/** Ends a contact by its last attempt, unless another one follows. */
const conclude = (
  sql: Sql,
  contact: ContactRow,
  disposition: Disposition,
  { at, why }: { readonly at: number; readonly why?: string | undefined },
  settings: CampaignSettings,
): void => {
  sql.all("update outdial_contact set outcome = ? where contact = ?", disposition, contact.contact);
  const wait = waitAfter(sql, disposition, contact, at, settings);
  if (wait !== undefined) {
    move(sql, { ...contact, outcome: disposition }, "waiting", { at, reason: disposition, wait });
  } else {
    // The service's words may name the person.
    const reason = isErased(contact) ? undefined : why;
    move(sql, contact, disposition, { at, reason });
    if (isTalk(disposition)) countFlow(sql, disposition, at, reason);
  }
};

const isTalk = (state: string): state is "completed" | "machine" | "message_left" | "flow_error" =>
  state === "flow_error" || talks.has(state);

const talks: ReadonlySet<string> = new Set(["completed", "machine", "message_left"]);

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
  const talk = talkIn(sql, key);
  const reason = textIn(event, "reason");
  const own = dispositionOf(event.type, reason, talk);
  if (contact.attempts !== key.attempt) {
    if (own === "completed") recordTalk(sql, contact, key, at);
    return;
  }
  // An earlier attempt may have been completed after all.
  const disposition = endOf(contact, talk, own);
  const failure = textIn(event, "flow_error") ?? (talk.failed && contact.reason);
  const isOthers = !!reason && isDisposition(reason) && reason !== disposition;
  const why = (disposition === "flow_error" && failure) || (isOthers ? undefined : reason);
  conclude(sql, contact, disposition, { at, why }, settings);
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
  sql.all(
    "update outdial_attempt set failed = 1 where contact = ? and attempt = ?",
    key.contact,
    key.attempt,
  );
  if (state === "completed" || state === "machine") {
    sql.all("update outdial_contact set outcome = 'flow_error' where contact = ?", key.contact);
    move(sql, contact, "flow_error", { at, reason });
    countFlow(sql, "flow_error", at, reason);
  } else if (endless.has(state) && outcome !== "completed") {
    sql.all("update outdial_contact set reason = ? where contact = ?", reason ?? null, key.contact);
  }
};

/**
 * Whether news tell better why the last attempt failed. Services that send two ends, such as Vonage, may send the one without
 * the reason first; and Twilio, asked for a rejected call, says that nobody answered.
 */
const isBetterReason = (
  news: string | undefined,
  { state, outcome, reason }: ContactRow,
): boolean => {
  if (state !== "waiting" && state !== outcome) return false;
  if (outcome === "no_answer") return news === "rejected";
  return (
    outcome === "unreachable" && !!news && reason === (state === "waiting" ? outcome : undefined)
  );
};

/**
 * Whether a final event of a settled attempt changes something: the attempt had been given up, or had failed and the
 * call was completed, or had failed for a reason that is known only now. Who was talked to isn't called again, also
 * where a later attempt is under way already.
 */
const isCorrection = (sql: Sql, { contact, attempt }: Attempt, event: CallEvent): boolean => {
  const row = contactOf(sql, contact);
  if (!row) return false;
  const { state, outcome, attempts } = row;
  if (state === "unknown") return true;
  const isLast = attempts === attempt;
  if (event.type === "call.failed") return isLast && isBetterReason(textIn(event, "reason"), row);
  const hasNotEnded = state === "waiting" || state === "calling" || state === "unclear";
  return hasNotEnded && !(isLast && outcome && isTalk(outcome));
};

/** Claims an attempt that the service had refused, and now notifies of: so nobody is called twice. */
const reclaim = (sql: Sql, key: Attempt, at: number, settleBy: number): void => {
  const contact = contactOf(sql, key.contact);
  if (contact?.attempts === key.attempt - 1) claim(sql, [contact], at, settleBy);
};

/** Who took the call, in the service's words. */
const answeredByIn = (event: CallEvent): string | undefined => {
  const answered_by = textIn(event, "answered_by");
  return answered_by && /^\w{1,32}$/.test(answered_by) ? answered_by : undefined;
};

/** What is learned of who took a call: a person stays one, and a machine isn't made unknown. An agent knows better. */
const betterOf = (known: string | undefined, news: string | undefined): string | undefined => {
  if (news === machineByAgent) return news;
  if (news === undefined || known === "human" || known === machineByAgent) return known;
  return isMachine(known) && news !== "human" && !isMachine(news) ? known : news;
};

/** Records who took the call of an attempt, also after its end: then the contact may have ended otherwise. */
export const learn = (
  sql: Sql,
  key: Attempt,
  news: Answerer,
  at: number,
  settings: CampaignSettings,
): void => {
  const known = talkIn(sql, key);
  const answered_by = betterOf(known.answered_by, news.answered_by);
  const person = known.person || !!news.person;
  const message = known.message || !!news.message;
  const isNew =
    answered_by !== known.answered_by || person !== known.person || message !== known.message;
  if (!isNew) return;
  sql.all(
    `update outdial_attempt set answered_by = ?, person = ?, message = ?
     where contact = ? and attempt = ?`,
    answered_by ?? null,
    person ? 1 : 0,
    message ? 1 : 0,
    key.contact,
    key.attempt,
  );
  const contact = contactOf(sql, key.contact);
  if (!contact || known.ended === undefined) return;
  const talk = talkOf({ answered_by, person, message });
  if (contact.attempts !== key.attempt) {
    if (talk === "completed" && talkOf(known) !== talk) recordTalk(sql, contact, key, at);
    return;
  }
  const { state, outcome } = contact;
  const isOpen = state === "waiting" || talks.has(state);
  if (!isOpen || !outcome || !talks.has(outcome)) return;
  const disposition = endOf({ ...contact, outcome: undefined }, { ...known, message }, talk);
  if (disposition !== outcome) conclude(sql, contact, disposition, { at }, settings);
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

/** The state of the attempt that something is known of; one that the service had refused is claimed by it. */
export const stateToNote = (
  sql: Sql,
  key: Attempt,
  call_id: string | null,
  at: number,
  settings: CampaignSettings,
): ReturnType<typeof stateOf> => {
  if (!stateOf(sql, key)) reclaim(sql, key, at, at + settings.settleTimeout);
  const state = stateOf(sql, key);
  if (!state) pauseIfRestored(sql, key, at);
  if (state === "claimed") {
    resetFaults(sql);
    recordPlaced(sql, key, call_id, at, settings);
  }
  return state;
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
  settings: CampaignSettings,
): boolean => {
  const state = stateToNote(sql, key, event.call_id, at, settings);
  if (!state) return false;
  learn(sql, key, { answered_by: answeredByIn(event) }, at, settings);
  if (isEnd(event) && (state !== "settled" || isCorrection(sql, key, event))) {
    recordEnd(sql, key, event, at, settings);
  }
  if (isEnd(event)) recordCost(sql, key, event);
  if (isFlowError(event)) recordFlowError(sql, key, event, at);
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
  settings: CampaignSettings,
): Promise<boolean> => {
  const key = attemptIn(sql, context);
  if (!key) return false;
  const known = stateOf(sql, key);
  // Of a placed call only its end is news, that its flow failed, and who took it.
  const isNews = isEnd(event) || isFlowError(event) || answeredByIn(event) !== undefined;
  if (known && known !== "claimed" && !isNews) return true;
  return sql.commit(() => recordEvent(sql, key, event, settings.clock(), settings));
};
