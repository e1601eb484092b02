/**
 * A contact is a row, and its telephone is there once. A claim is a row of `outdial_attempt`, and its
 * primary key is why there can't be a second one. The next contact to dial and the next attempt to give
 * up are found by indexes that hold nothing else, so neither costs more in a long list. A trigger keeps
 * the tally.
 *
 * `listed`: whether the contact is in the list of the last `sync`; if not, no attempt follows.
 * `list`: which `add` or `sync` wrote the row. `wait`: milliseconds from the last event until `due`.
 * `outcome`: how the last attempt ended.
 *
 * Since version 5: `call_at`: when the contact asked to be called, or the list has it, and `call_for`: by which attempt;
 * a contact that waits is called for it if that is the next one. `call_backs`: how many attempts such wishes added.
 * `poll_at` of an attempt (`ask_at` before version 8): when the service is asked what became of the call; it isn't given up then.
 * Since version 6: `cost` and `currency` of an attempt, as the carrier reported them.
 * Since version 7 an attempt keeps the facts of which its end follows (`Facts` in facts.ts), and a claim that was released is kept
 * as well (`post` is `no`). `state`, `outcome`, `reason`, `due`, `wait` of a contact, and `state`, `answerer` of an attempt
 * follow from them.
 * Since version 9 `idempotency_key`, `signed` and `body` of an attempt: what its request is sent again with (`Sent` in repeats.ts).
 * Since version 10 the recordings that flows have made, by the service's ids: no URL of one is kept.
 * Since version 11 `service` of an attempt: the name of the service that it is at, where the campaign has several, and
 * `refused_by`: the names of those that have refused it. `outdial_service` has the names to which the ledger belongs.
 */
const firstTables = [
  "create table outdial_fact (name text primary key, value) without rowid",
  `create table outdial_contact (
    contact integer primary key,
    to_number text not null unique,
    id text,
    timezone text not null,
    variables text,
    line integer not null,
    list integer not null,
    listed integer not null default 1,
    added integer not null,
    state text not null,
    outcome text,
    reason text,
    attempts integer not null default 0,
    deferrals integer not null default 0,
    due integer not null default 0,
    wait integer not null default 0,
    call_id text
  )`,
  "create index outdial_due on outdial_contact (timezone, due) where state = 'waiting'",
  "create table outdial_zone (timezone text primary key) without rowid",
  `create table outdial_attempt (
    contact integer not null,
    attempt integer not null,
    state text not null,
    claimed integer not null,
    settle_by integer not null,
    ended integer,
    duration integer,
    detail text,
    primary key (contact, attempt)
  ) without rowid`,
  "create index outdial_open on outdial_attempt (settle_by) where state <> 'settled'",
  "create table outdial_blocked (to_number text primary key) without rowid",
  `create table outdial_audit (
    entry integer primary key,
    at integer not null,
    contact integer,
    attempt integer,
    event text not null,
    detail text
  )`,
  "create table outdial_tally (state text primary key, contacts integer not null) without rowid",
  `create trigger outdial_count after update of state on outdial_contact
   when old.state <> new.state begin
     update outdial_tally set contacts = contacts - 1 where state = old.state;
     insert into outdial_tally values (new.state, 1)
       on conflict (state) do update set contacts = contacts + 1;
   end`,
];

/** A statement, or a column that is added unless it is there. */
export type Step =
  | string
  | { readonly table: string; readonly column: string; readonly type: string };

/** How the older versions have found out who took a call. */
const wasMachine = `(person = 0 and (message = 1
  or coalesce(answered_by, '') glob 'machine*' or coalesce(answered_by, '') glob 'fax*'))`;
const wasAnswered = `(duration is not null or person = 1 or answered_by is not null
  or coalesce(ended_as, '') = 'completed')`;

const unanswered = "'canceled', 'rejected', 'busy', 'no_answer'";

const attemptColumn = (column: string, type: string): Step => ({
  ...{ table: "outdial_attempt", column, type },
});

/**
 * What brings a ledger from each version to the next. A new ledger takes every step, too, so that its tables are those
 * of an older one. A step never changes once it is released; a new state of a contact needs one as well, which may be
 * empty, so that no older version reads it.
 */
export const steps: readonly (readonly Step[])[] = [
  firstTables,
  // A contact that may have been called is `unclear`, and no more `calling`.
  [
    `update outdial_contact set state = 'unclear' where state = 'calling' and exists (
       select 1 from outdial_attempt
       where outdial_attempt.contact = outdial_contact.contact and attempt = attempts
       and outdial_attempt.state = 'claimed')`,
  ],
  // By which secrets the people who were erased can be recognized.
  ["create table outdial_erasure_secret (digest text primary key) without rowid"],
  // Two spellings of a mobile are one telephone: `to_number` is that by which it is known, and `written` another one.
  [
    "alter table outdial_contact add column written text",
    ...["+521[2-9]", "+549[1-8]"].flatMap((start) => {
      const isLong = `to_number glob '${start}?????????'`;
      const short = `'${start.slice(0, 3)}' || substr(to_number, 5)`;
      return [
        `update or ignore outdial_contact set written = to_number, to_number = ${short} where ${isLong}`,
        // Both are in the list, and one is called.
        `update outdial_contact set state = 'refused', reason = 'the same telephone as another contact'
         where state = 'waiting' and ${isLong}`,
        `update or ignore outdial_blocked set to_number = ${short} where ${isLong}`,
      ];
    }),
    `update outdial_contact set state = 'blocked', reason = 'blocked' where state = 'waiting'
     and exists (select 1 from outdial_blocked b where b.to_number = outdial_contact.to_number)`,
  ],
  // Call-backs, several senders, what answered and what was answered, and calls that the service is asked about.
  [
    "alter table outdial_contact add column call_at integer",
    "alter table outdial_contact add column call_for integer not null default 0",
    "alter table outdial_contact add column call_backs integer not null default 0",
    "alter table outdial_contact add column from_number text",
    `create index outdial_call_back on outdial_contact (timezone, due)
     where state = 'waiting' and call_for > attempts`,
    "alter table outdial_attempt add column answered_by text",
    "alter table outdial_attempt add column person integer not null default 0",
    "alter table outdial_attempt add column message integer not null default 0",
    "alter table outdial_attempt add column failed integer not null default 0",
    `update outdial_attempt set failed = 1 where state <> 'settled' and exists (
       select 1 from outdial_contact c
       where c.contact = outdial_attempt.contact and attempts = attempt and outcome = 'flow_error')`,
    "alter table outdial_attempt add column ask_at integer",
    "alter table outdial_attempt add column asks integer not null default 0",
    "create index outdial_ask on outdial_attempt (ask_at) where ask_at is not null",
    `create table outdial_answer (
      contact integer not null,
      attempt integer not null,
      name text not null,
      value text not null,
      at integer not null,
      primary key (contact, attempt, name)
    ) without rowid`,
    `create table outdial_answer_name
     (place integer primary key, name text not null unique, at integer not null)`,
  ],
  // What carriers charge.
  [
    "alter table outdial_attempt add column cost text",
    "alter table outdial_attempt add column currency text",
  ],
  // The facts of attempts. Of those before the last one little is known.
  [
    attemptColumn("post", "text"),
    attemptColumn("answered", "integer"),
    attemptColumn("failure", "text"),
    attemptColumn("ended_as", "text"),
    attemptColumn("end_reason", "text"),
    attemptColumn("answerer", "text"),
    // What an older version has concluded of the last attempt whose end it knows becomes a fact of it.
    `update outdial_attempt set
       ended_as = case when outcome in (${unanswered}, 'unreachable') then outcome else 'completed' end,
       failed = case outcome when 'flow_error' then 1 when 'completed' then 0 else failed end,
       failure = case when outcome = 'flow_error' and c.state = outcome then reason end,
       end_reason = case when outcome in (${unanswered}) then outcome
         when outcome <> 'flow_error' and c.state = outcome then reason end
     from outdial_contact c where c.contact = outdial_attempt.contact and outcome is not null and ended_as is null
       and attempt = (select max(attempt) from outdial_attempt e where e.contact = c.contact and ended is not null)`,
    `update outdial_attempt set
       post = case when detail is not null or c.state = 'unclear' then 'maybe'
         when outdial_attempt.state = 'placed' then 'placed' end,
       ended_as = case when c.state in ('unknown', 'placed') and outdial_attempt.state = 'settled' then c.state end,
       failure = case failed when 1 then reason end
     from outdial_contact c where c.contact = outdial_attempt.contact and attempts = attempt
       and post is null and ended_as is null`,
    `update outdial_attempt set answerer = case when ${wasMachine} then 'machine' when ${wasAnswered} then 'person' end
     where answerer is null`,
    // The audit log has the claims that were released, which were deleted.
    `insert into outdial_attempt (contact, attempt, state, claimed, settle_by, post)
       select l.contact, l.attempt, 'settled', max(l.at), max(l.at), 'no'
       from outdial_audit l join outdial_contact c on c.contact = l.contact and c.attempts = l.attempt - 1
       where l.event = 'released' group by l.contact, l.attempt
       on conflict do nothing`,
  ],
  // Other names. Claims without an answer are `lost`; the call of an older version whose id is known was placed.
  [
    "alter table outdial_attempt rename column ask_at to poll_at",
    "alter table outdial_attempt rename column asks to polls",
    "drop index outdial_ask",
    "create index outdial_poll on outdial_attempt (poll_at) where poll_at is not null",
    "update outdial_fact set name = 'last_poll' where name = 'last_ask'",
    `update outdial_attempt set post = 'lost' where post = 'maybe' and detail is null and exists (
       select 1 from outdial_contact c where c.contact = outdial_attempt.contact and c.to_number not glob '#*')`,
    `update outdial_attempt set post = 'placed' where post is null and state = 'settled' and exists (
       select 1 from outdial_contact c
       where c.contact = outdial_attempt.contact and attempts = attempt and call_id is not null)`,
  ],
  // What a request is sent again with.
  [
    attemptColumn("idempotency_key", "text"),
    attemptColumn("signed", "integer"),
    attemptColumn("body", "text"),
  ],
  // Which recordings the service has of the calls.
  [
    `create table outdial_recording (
      contact integer not null,
      attempt integer not null,
      recording_id text not null,
      name text,
      at integer not null,
      primary key (contact, attempt, recording_id)
    ) without rowid`,
  ],
  // Several services.
  [
    attemptColumn("service", "text"),
    attemptColumn("refused_by", "text"),
    "create table outdial_service (name text primary key, identity text not null) without rowid",
    `create index outdial_at_service on outdial_attempt (service)
     where service is not null and state <> 'settled'`,
  ],
];
