import type { Attempt } from "./attempts.ts";
import type { CampaignSettings } from "./options.ts";
import { ruleOf } from "./retries.ts";
import type { Row, Sql } from "./sqlite.ts";
import {
  audit,
  type ContactRow,
  contactFieldsIn,
  contactOf,
  end,
  isAsked,
  isErased,
  move,
  numberIn,
  outcomeIn,
} from "./tables.ts";

/** A contact that waits: what decides whether its next attempt may be made. */
interface Candidate
  extends Pick<
    ContactRow,
    | ("contact" | "to_number" | "written" | "timezone" | "from_number" | "listed" | "outcome")
    | ("attempts" | "due" | "call_for" | "call_backs")
  > {
  /** Whether the number is on the do-not-call list. */
  readonly isBlocked: boolean;
}

const candidateIn = (row: Row): Candidate => ({
  ...contactFieldsIn(row),
  listed: row.listed === 1,
  outcome: outcomeIn(row.outcome),
  call_for: Number(row.call_for),
  call_backs: Number(row.call_backs),
  isBlocked: row.blocked === 1,
});

/** Those of some contacts that wait, as they are now, by their numbers in the ledger. */
export const candidatesOf = (
  sql: Sql,
  contacts: readonly number[],
): ReadonlyMap<number, Candidate> =>
  new Map(
    sql
      .all(
        `select contact, to_number, written, timezone, from_number, listed, outcome, attempts, due, call_for, call_backs,
           exists (select 1 from outdial_blocked b where b.to_number = c.to_number) as blocked
         from json_each(?) w cross join outdial_contact c where contact = w.value and state = 'waiting'`,
        JSON.stringify(contacts),
      )
      .map((row) => [Number(row.contact), candidateIn(row)]),
  );

/** What is claimed: the attempt of a contact after those it has had. */
export type Claim = Pick<ContactRow, "contact" | "attempts" | "from_number">;

/** When the final notification of an attempt came; `undefined` when none did. */
export const endedAt = (sql: Sql, { contact, attempt }: Attempt): number | undefined => {
  const [row] = sql.all(
    "select ended from outdial_attempt where contact = ? and attempt = ?",
    contact,
    attempt,
  );
  return numberIn(row?.ended);
};

/** Whether another attempt of a contact that waits may follow: if not now, it waits on, and if never, it ends. */
const mayFollow = (sql: Sql, row: Candidate, at: number, rules: RetrySettings): boolean => {
  const { contact, attempts, outcome, call_backs, listed } = row;
  const isFree = attempts === 0 || isAsked(row);
  const rule = isFree ? undefined : ruleOf(rules, outcome);
  const isRetried = !!rule && attempts < rule.attempts + call_backs;
  if (!listed || !(isFree || isRetried)) {
    const whole = contactOf(sql, contact);
    if (whole) end(sql, whole, listed ? "expired" : "canceled", { at });
    return false;
  }
  if (!rule) return true;
  // The process that ended the last attempt may have had a shorter delay.
  const ended = endedAt(sql, { contact, attempt: attempts });
  if (ended === undefined || ended > at || ended + rule.after <= at) return true;
  const due = "update outdial_contact set due = ?, wait = ? where contact = ?";
  sql.all(due, ended + rule.after, rule.after, contact);
  return false;
};

type RetrySettings = Pick<CampaignSettings, "retryOn" | "retryDelay" | "attempts">;

/**
 * Whether the next attempt of a contact that waits may be made, by what the ledger has of the contact. Who is never to be
 * called ends.
 *
 * @param signed - the contact when its request was signed: what was read then may have changed
 */
export const mayBeCalled = (
  sql: Sql,
  row: Candidate,
  signed: Claim & Pick<ContactRow, "timezone">,
  at: number,
  settings: RetrySettings & Pick<CampaignSettings, "prefixes">,
): boolean => {
  const { prefixes } = settings;
  const endAs = (state: "blocked" | "refused", reason: string): false => {
    const whole = contactOf(sql, row.contact);
    if (whole) move(sql, whole, state, { at, reason });
    return false;
  };
  // The time may have been agreed on anew, and the list have another zone or sender.
  if (row.attempts !== signed.attempts || row.due > at || isErased(row)) return false;
  if (row.timezone !== signed.timezone) return false;
  if (row.isBlocked) return endAs("blocked", "blocked");
  const isAllowed = !prefixes || prefixes.some((prefix) => row.written.startsWith(prefix));
  if (!isAllowed) return endAs("refused", "prefix");
  if ((row.from_number ?? signed.from_number) !== signed.from_number) return false;
  return mayFollow(sql, row, at, settings);
};

/**
 * Claims attempts, those that nobody has claimed. A claim without an outcome means that a telephone may have rung, from
 * now on and whatever happens to the process. Only `release` takes it back.
 *
 * @param settleBy - until when the calls that may follow hold their slots
 * @returns the contacts that the caller may POST for
 */
export const claim = (
  sql: Sql,
  claims: readonly Claim[],
  at: number,
  settleBy: number,
): ReadonlySet<number> => {
  if (claims.length === 0) return new Set();
  const attemptsOf = claims.map(({ contact, attempts }) => [contact, attempts + 1]);
  const claimed = new Set(
    sql
      .all(
        `insert into outdial_attempt (contact, attempt, state, claimed, settle_by)
         select cast(key as integer), value, 'claimed', ?, ? from json_each(?)
         where true on conflict do nothing returning contact`,
        at,
        settleBy,
        JSON.stringify(Object.fromEntries(attemptsOf)),
      )
      .map(({ contact }) => Number(contact)),
  );
  const own = claims.filter(({ contact }) => claimed.has(contact));
  const senders = own.map(({ contact, from_number = null }) => [contact, from_number]);
  // In one statement, as each pays for the tally's trigger. The id of the attempt before is none of this one's.
  sql.all(
    `update outdial_contact set state = 'calling', attempts = attempts + 1, from_number = w.value, call_id = null
     from json_each(?) w where contact = cast(w.key as integer)`,
    JSON.stringify(Object.fromEntries(senders)),
  );
  for (const { contact, attempts } of own) {
    audit(sql, { at, contact, attempt: attempts + 1, event: "claimed" });
  }
  return claimed;
};
