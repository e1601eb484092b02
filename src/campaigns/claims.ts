import { attemptsOf } from "./attempt-facts.ts";
import { end, type FollowSettings, follow, move, writeClaimed } from "./contact-state.ts";
import type { CampaignSettings } from "./options.ts";
import { leastWait, refusalsOf, type Services } from "./services.ts";
import type { Row, Sql } from "./sqlite.ts";
import { audit, type ContactRow, contactFieldsIn, contactOf, isErased } from "./tables.ts";

/** A contact that waits: what decides whether its next attempt may be made. */
interface Candidate
  extends Pick<
    ContactRow,
    | ("contact" | "to_number" | "written" | "timezone" | "from_number")
    | ("listed" | "attempts" | "due")
  > {
  /** Whether the number is on the do-not-call list. */
  readonly isBlocked: boolean;
}

const candidateIn = (row: Row): Candidate => ({
  ...contactFieldsIn(row),
  listed: row.listed === 1,
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
        `select contact, to_number, written, timezone, from_number, listed, attempts, due,
           exists (select 1 from outdial_blocked b where b.to_number = c.to_number) as blocked
         from json_each(?) w cross join outdial_contact c where contact = w.value and state = 'waiting'`,
        JSON.stringify(contacts),
      )
      .map((row) => [Number(row.contact), candidateIn(row)]),
  );

/** What is claimed: the attempt of a contact after those it has had. */
export type Claim = Pick<ContactRow, "contact" | "attempts" | "from_number">;

/** Whether another attempt of a contact that waits may follow: if not now, it waits on, and if never, it ends. */
const mayFollow = (sql: Sql, row: Candidate, at: number, settings: FollowSettings): boolean => {
  if (row.listed && row.attempts === 0) return true;
  const contact = contactOf(sql, row.contact);
  if (!contact) return false;
  if (!row.listed) {
    end(sql, contact, "canceled", { at });
    return false;
  }
  // The process that ended the last attempt may have had other rules, and a shorter delay.
  const facts = attemptsOf(sql, row.contact);
  const step = follow(sql, contact, facts, at, settings);
  if (step.type !== "attempt") return false;
  const ended = facts.get(row.attempts)?.ended;
  if (step.due <= at || ended === undefined || ended > at) return true;
  const due = "update outdial_contact set due = ?, wait = ? where contact = ?";
  sql.all(due, step.due, step.wait, row.contact);
  return false;
};

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
  settings: FollowSettings & Pick<CampaignSettings, "prefixes">,
): boolean => {
  const { prefixes } = settings;
  const endAs = (state: "blocked" | "refused", reason: string): false => {
    const whole = contactOf(sql, row.contact);
    if (whole && state === "blocked") end(sql, whole, state, { at, reason });
    else if (whole) move(sql, whole, "refused", { at, reason });
    return false;
  };
  // The time may have been agreed on anew, and the list have another zone or sender.
  if (row.attempts !== signed.attempts || row.due > at || isErased(row)) return false;
  if (row.timezone !== signed.timezone) return false;
  if (row.isBlocked) return endAs("blocked", "blocked");
  const isAllowed = !prefixes || prefixes.some((prefix) => row.written.startsWith(prefix));
  if (!isAllowed) return endAs("refused", "prefix");
  if (row.from_number !== signed.from_number) return false;
  return mayFollow(sql, row, at, settings);
};

/** The longest time for which a contact is set aside, in milliseconds. */
const longestAside = 60_000;

/**
 * Sets contacts aside that no service may call now: those that have not refused them are busy. Who was refused by all of them
 * ends.
 */
export const setAside = (
  sql: Sql,
  contacts: readonly Pick<ContactRow, "contact" | "attempts">[],
  services: Services,
  at: number,
): void => {
  const refusals = refusalsOf(sql, contacts);
  for (const { contact, attempts } of contacts) {
    const row = contactOf(sql, contact);
    if (row?.state !== "waiting" || row.due > at || row.attempts !== attempts) continue;
    if (!services.isLeft(refusals.get(contact) ?? [])) {
      const reason = attemptsOf(sql, contact).get(attempts + 1)?.detail;
      move(sql, row, "refused", { at, reason });
      continue;
    }
    // Longer each time: they must not be looked at before all others in every step.
    sql.all(
      `update outdial_contact set wait = min(${longestAside}, max(${leastWait}, 2 * wait)),
         due = ? + min(${longestAside}, max(${leastWait}, 2 * wait)) where contact = ?`,
      at,
      contact,
    );
  }
};

/**
 * Claims attempts, those that nobody has claimed, or that were released. A claim without an outcome means that a telephone may have rung, from
 * now on and whatever happens to the process. Only `release` takes it back.
 *
 * @param settleBy - until when the calls that may follow hold their slots
 * @param service - the name of the service that they stay at, where the campaign has several
 * @returns the contacts that the caller may POST for
 */
export const claim = (
  sql: Sql,
  claims: readonly Claim[],
  at: number,
  settleBy: number,
  service?: string | undefined,
): ReadonlySet<number> => {
  if (claims.length === 0) return new Set();
  const attemptsOf = claims.map(({ contact, attempts }) => [contact, attempts + 1]);
  const claimed = new Set(
    sql
      .all(
        `insert into outdial_attempt (contact, attempt, state, claimed, settle_by, service)
         select cast(key as integer), value, 'claimed', ?, ?, ? from json_each(?)
         where true on conflict do update set state = 'claimed', claimed = excluded.claimed,
           settle_by = excluded.settle_by, service = excluded.service,
           post = null, detail = null, idempotency_key = null
         where post = 'no' returning contact`,
        at,
        settleBy,
        service ?? null,
        JSON.stringify(Object.fromEntries(attemptsOf)),
      )
      .map(({ contact }) => Number(contact)),
  );
  const own = claims.filter(({ contact }) => claimed.has(contact));
  writeClaimed(sql, own);
  for (const { contact, attempts } of own) {
    audit(sql, { at, contact, attempt: attempts + 1, event: "claimed" });
  }
  return claimed;
};
