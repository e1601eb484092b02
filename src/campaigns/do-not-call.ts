import { is } from "valibot";
import { type Secret, secretsOf } from "../callbacks/signed-url.ts";
import { CallParams } from "../calls/params.ts";
import { fail, isText } from "../lib/check.ts";
import { hex, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import { end, move } from "./contact-state.ts";
import { LedgerException } from "./errors.ts";
import type { CampaignSettings } from "./options.ts";
import { otherNumbersOf } from "./people.ts";
import { isBusyError, patience, type Sql, whileBusy, yieldToOthers } from "./sqlite.ts";
import { audit, contactIn } from "./tables.ts";

/** Countries whose mobiles have a second spelling, with a digit after the country's code that no other number has. */
const mobiles: readonly (readonly [long: RegExp, short: string])[] = [
  [/^\+521(?=[2-9]\d{9}$)/, "+52"], // Mexico
  [/^\+549(?=[1-8]\d{9}$)/, "+54"], // Argentina
];

/**
 * The one spelling by which a telephone is known: two numbers with the same are the same telephone. It is compared, not
 * called: which of the two spellings rings depends on the service.
 */
export const telephoneOf = (to_number: string): string => {
  for (const [long, short] of mobiles) {
    if (long.test(to_number)) return to_number.replace(long, short);
  }
  return to_number;
};

/**
 * Numbers one after the other, each of them E.164, in the spelling by which the telephone is known.
 *
 * @param param - what they are called in the exception
 * @throws {BadParametersException} when one isn't
 */
export function* numbersIn(
  numbers: string | Iterable<string>,
  param = "to_number",
): Generator<string, void> {
  for (const number of typeof numbers === "string" ? [numbers] : numbers) {
    if (!is(CallParams.entries.to_number, number)) {
      fail(param, CallParams.entries.to_number.message);
    }
    yield telephoneOf(number);
  }
}

/** How many numbers are checked, or written in one transaction, before other work goes on: it takes some 20 ms. */
const page = 1_000;

/**
 * The same numbers in an array. Other work goes on while a long list is checked.
 *
 * @throws {BadParametersException} when one isn't E.164
 */
export const checkedNumbers = async (
  numbers: string | Iterable<string>,
): Promise<readonly string[]> => {
  const checked: string[] = [];
  for (const number of numbersIn(numbers)) {
    if (checked.push(number) % page === 0) await yieldToOthers();
  }
  return checked;
};

/** Whether a number is on the do-not-call list. */
export const isBlocked = (sql: Sql, to_number: string): boolean =>
  sql.all("select 1 from outdial_blocked where to_number = ?", to_number).length > 0;

/** Whether any number is on the list. */
export const hasBlocked = (sql: Sql): boolean =>
  sql.all("select 1 from outdial_blocked limit 1").length > 0;

/**
 * Puts numbers on the do-not-call list, and the other numbers of the same people; nothing, when numbers were erased and there are no
 * marks to compare.
 *
 * @returns how many of the numbers are new on it
 */
export const block = (
  sql: Sql,
  numbers: readonly string[],
  marks: readonly (readonly string[])[] | undefined,
  at: number,
): number | undefined => {
  if (!marks && hasErased(sql)) return;
  let added = 0;
  // The others are those of contacts that are in the ledger, so none of them was erased.
  for (const [index, number] of [...numbers, ...otherNumbersOf(sql, numbers)].entries()) {
    if (marks?.[index]?.some((mark) => isBlocked(sql, mark))) continue;
    const isNew = sql.all(
      "insert into outdial_blocked values (?) on conflict do nothing returning 1 as one",
      number,
    ).length;
    if (!isNew) continue;
    if (index < numbers.length) added++;
    const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
    if (!row) continue;
    const contact = contactIn(row);
    audit(sql, { at, contact: contact.contact, event: "blocked" });
    if (contact.state === "waiting") end(sql, contact, "blocked", { at, reason: "blocked" });
  }
  return added;
};

/**
 * What is kept of an erased number, one HMAC for each of the secrets; the first one is stored. It is on
 * the do-not-call list, where no telephone number begins with a `#`.
 */
export const erasedMarksOf = (secret: Secret, to_number: string): Promise<readonly string[]> =>
  Promise.all(
    secretsOf(secret).map(
      async (each) => `#${hex(await macOf(each, utf8(`erased:${to_number}`)))}`,
    ),
  );

/** What is kept of a secret under which somebody was erased. */
const digestOf = async (secret: string): Promise<string> =>
  hex(await macOf(secret, utf8("outdial erasure secret")));

/**
 * Makes sure that everybody who was erased can be recognized.
 *
 * @throws {LedgerException} `missing_secret`
 */
export const requireErasureSecrets = async (sql: Sql, secret: Secret): Promise<void> => {
  const rows = sql.all("select digest from outdial_erasure_secret");
  if (rows.length === 0) return;
  const given = new Set<unknown>(await Promise.all(secretsOf(secret).map(digestOf)));
  if (rows.some(({ digest }) => !given.has(digest))) throw new LedgerException("missing_secret");
};

/** Whether any contact was erased. */
export const hasErased = (sql: Sql): boolean =>
  sql.all("select 1 from outdial_blocked where to_number >= '#' and to_number < '$' limit 1")
    .length > 0;

/** The marks by which each of the numbers would be known if it was erased; `undefined` while nobody was. */
const marksOf = async (
  sql: Sql,
  numbers: readonly string[],
  secret: Secret | undefined,
): Promise<readonly (readonly string[])[] | undefined> => {
  if (secret === undefined) return [];
  await requireErasureSecrets(sql, secret);
  if (!hasErased(sql)) return;
  return Promise.all(numbers.map((number) => erasedMarksOf(secret, number)));
};

/** How work waits for a file that another program holds, and whether calls begin meanwhile. */
export interface Waiting {
  readonly whileBusy: <T>(work: () => Promise<T> | T) => Promise<T>;
  /** The same, and no call begins until the work is done. */
  readonly holdWhile: <T>(work: () => Promise<T> | T) => Promise<T>;
}

const notWaiting: Waiting = {
  whileBusy: async (work) => work(),
  holdWhile: async (work) => work(),
};

/**
 * Puts numbers on the do-not-call list, a page at a time. Contacts that wait are blocked with their page. A number
 * that was erased is on it already, and is not written again.
 *
 * @param secret - recognizes erased numbers; without it they are written as they are given
 * @returns how many are new on it
 * @throws {LedgerException} `missing_secret`
 */
export const blockAll = async (
  sql: Sql,
  numbers: readonly string[],
  secret: Secret | undefined,
  at: number,
  waiting: Waiting = notWaiting,
): Promise<number> => {
  let added = 0;
  for (let from = 0; from === 0 || from < numbers.length; from += page) {
    const some = numbers.slice(from, from + page);
    const marks = () => marksOf(sql, some, secret);
    // In the transaction of the insert: somebody may have been erased a moment ago.
    const write = (known: Awaited<ReturnType<typeof marks>>) =>
      sql.transaction(() => block(sql, some, known, at));
    let known: Awaited<ReturnType<typeof marks>>;
    if (from > 0) {
      await yieldToOthers();
      // Before the hold: a step of the dialer takes longer than the pause between two pages.
      known = await waiting.whileBusy(marks);
    }
    added += await waiting.holdWhile(
      async () => write(known ?? (await marks())) ?? write(await marks()) ?? 0,
    );
  }
  return added;
};

/** The longest reason of an entry, in characters. */
const longestReason = 200;

/** A text on one line, without a number that would stay in the ledger. */
const isReason = (reason: string): boolean =>
  isText(reason) &&
  reason.length <= longestReason &&
  /^\P{C}+$/u.test(reason) &&
  !/\+\d{7}/.test(reason);

/**
 * Takes numbers off the do-not-call list, and the other numbers of the same people. Contacts that were never called wait again.
 *
 * @returns how many of the numbers were on it
 * @throws {LedgerException} `erased` or `missing_secret`
 */
export const unblock = async (
  sql: Sql,
  numbers: readonly string[],
  reason: string,
  { secret, clock }: Pick<CampaignSettings, "clock"> & { readonly secret?: Secret | undefined },
): Promise<number> => {
  if (!isReason(reason)) {
    fail(
      "reason",
      `must be a line of 1 to ${longestReason} characters, without a telephone number`,
    );
  }
  if (secret === undefined && hasErased(sql)) throw new LedgerException("missing_secret");
  const marks = await marksOf(sql, numbers, secret);
  const at = clock();
  return sql.transaction(() => {
    // Somebody may have been erased a moment ago.
    if (!marks && hasErased(sql)) throw new LedgerException("busy");
    if (marks?.flat().some((mark) => isBlocked(sql, mark))) throw new LedgerException("erased");
    let removed = 0;
    for (const [index, number] of [...numbers, ...otherNumbersOf(sql, numbers)].entries()) {
      if (!isBlocked(sql, number)) continue;
      if (index < numbers.length) removed++;
      sql.all("delete from outdial_blocked where to_number = ?", number);
      const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
      const contact = row && contactIn(row);
      audit(sql, { at, contact: contact?.contact, event: "unblocked", detail: reason });
      // Who was called before keeps the end that the list knows.
      const isWaiting = contact?.state === "blocked" && contact.attempts === 0;
      if (isWaiting) move(sql, contact, "waiting", { at });
    }
    return removed;
  });
};

/** Whether the contact with a number was erased. */
export const wasErased = async (sql: Sql, secret: Secret, to_number: string): Promise<boolean> => {
  if (!hasErased(sql)) return false;
  const marks = await erasedMarksOf(secret, to_number);
  return marks.some((mark) => isBlocked(sql, mark));
};

/** Why a row is refused whose number was erased. */
export const erasedReason = "to_number was erased";

/**
 * Deletes the data of contacts. An HMAC of the number stays on the do-not-call list, so the number is
 * refused from then on. The end of a live call is still counted.
 *
 * @returns how many were erased
 */
export const erase = async (
  sql: Sql,
  numbers: Iterable<string>,
  { secret, settleTimeout, clock }: Pick<CampaignSettings, "secret" | "settleTimeout" | "clock">,
): Promise<number> => {
  const at = clock();
  let erased = 0;
  const isTooLong = (triedFor: number): boolean => triedFor > patience;
  const [first = ""] = secretsOf(secret);
  const digest = await digestOf(first);
  // All are read before any is erased: a list with a mistake in it erases nobody.
  for (const number of [...numbers]) {
    const marks = await erasedMarksOf(secret, number);
    const [mark = ""] = marks;
    const write = (): void => {
      sql.all("delete from outdial_blocked where to_number = ?", number);
      if (!marks.some((known) => isBlocked(sql, known))) {
        sql.all("insert into outdial_blocked values (?)", mark);
        sql.all("insert into outdial_erasure_secret values (?) on conflict do nothing", digest);
      }
      const [row] = sql.all("select * from outdial_contact where to_number = ?", number);
      if (!row) return;
      const contact = contactIn(row);
      sql.all(
        `update outdial_contact set to_number = '#' || contact, written = null, id = null, variables = null,
         call_id = null, reason = null, timezone = '' where contact = ?`,
        contact.contact,
      );
      sql.all("delete from outdial_answer where contact = ?", contact.contact);
      sql.all("delete from outdial_recording where contact = ?", contact.contact);
      sql.all(
        "update outdial_contact set call_at = null, call_for = 0 where contact = ?",
        contact.contact,
      );
      // Nobody asks for a call without its id.
      sql.all(
        `update outdial_attempt set poll_at = null, settle_by = min(settle_by, ?)
         where contact = ? and poll_at is not null`,
        at + settleTimeout,
        contact.contact,
      );
      // The service's words may name the person.
      sql.all("update outdial_audit set detail = null where contact = ?", contact.contact);
      sql.all(
        "update outdial_attempt set detail = null, failure = null, end_reason = null where contact = ?",
        contact.contact,
      );
      if (contact.state === "waiting") end(sql, contact, "blocked", { at, reason: "erased" });
      audit(sql, { at, contact: contact.contact, event: "erased" });
      erased++;
    };
    await whileBusy(() => sql.commit(write), isTooLong);
  }
  try {
    await whileBusy(() => sql.compact(), isTooLong);
  } catch (error) {
    throw isBusyError(error) ? new LedgerException("erase_incomplete") : error;
  }
  return erased;
};
