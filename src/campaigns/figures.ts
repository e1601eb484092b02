import { answerNamesIn } from "./answers.ts";
import { serviceNamesIn } from "./services.ts";
import type { Row, Sql } from "./sqlite.ts";

/** Calls that began within a quarter of an hour, which every time zone can be made of. */
export interface QuarterFigures {
  /** When it begins, in milliseconds since 1970. */
  readonly at: number;
  /**
   * Attempts: POSTs that placed a call, or may have by their answer. One of which nothing is known is none, such as where the process
   * was killed before the answer, and no notification came.
   */
  readonly calls: number;
  /** Those that a person answered, or somebody who was not detected as a machine. */
  readonly people: number;
  /** Those that a machine answered. */
  readonly machines: number;
}

/** What was answered to a question. */
export interface AnswerFigures {
  /** The name of the question (`as`). */
  readonly name: string;
  /** The contacts that answered it. */
  readonly contacts: number;
  /** The most frequent answers first, at most 50 of them. */
  readonly values: readonly {
    readonly value: string;
    readonly contacts: number;
    /** How many of them the flow put on the do-not-call list after this answer, in the same call; absent for none. */
    readonly optedOut?: number | undefined;
  }[];
}

/** What the carrier charged in one currency, as far as it reported it. */
export interface CostFigures {
  /** ISO 4217; absent where the carrier names none. */
  readonly currency?: string | undefined;
  /** The sum of the reported amounts. */
  readonly sum: number;
  /** The calls that it is the sum of: a cost was reported for them. */
  readonly calls: number;
}

/** Calls by one of several services. */
export interface ServiceFigures extends Omit<QuarterFigures, "at"> {
  /** Its name. */
  readonly name: string;
}

/** The figures of a campaign, for a report. */
export interface Figures {
  /** In order of time; without those in which no call began. */
  readonly quarters: readonly QuarterFigures[];
  /** In the order in which the questions first came up. */
  readonly answers: readonly AnswerFigures[];
  /** Contacts that wait for a time that was agreed on, by `callBack` or `call_at`. */
  readonly callBacks: {
    readonly waiting: number;
    /** When the first of them is due, in milliseconds since 1970; it may be past, outside the calling hours. */
    readonly next?: number | undefined;
  };
  /** How many contacts had one attempt that counts as a call, two, and so on. */
  readonly attempts: readonly number[];
  /** One for each currency; empty where the carrier reports no cost. */
  readonly costs: readonly CostFigures[];
  /** One for each service that has placed a call, where the campaign has several; absent otherwise. */
  readonly services?: readonly ServiceFigures[] | undefined;
}

const quarter = 900_000;

/** How many answers to a question are counted apart. */
const mostValues = 50;

/** Whether an attempt is a call, as far as is known: of one that was claimed, and no more, nobody knows whether its POST was sent. */
const isCall = "(post in ('placed', 'maybe') or answered is not null or ended is not null)";

const counts = `count(*) as calls, sum(answerer is 'person') as people, sum(answerer is 'machine') as machines`;

const countsIn = ({ calls, people, machines }: Row): Omit<QuarterFigures, "at"> => ({
  calls: Number(calls),
  people: Number(people),
  machines: Number(machines),
});

const servicesIn = (sql: Sql): readonly ServiceFigures[] =>
  sql
    .all(
      `select service, ${counts} from outdial_attempt
       where service is not null and ${isCall} group by service order by service`,
    )
    .map((row) => ({ name: String(row.service), ...countsIn(row) }));

const quartersIn = (sql: Sql, from: number): Figures["quarters"] =>
  sql
    .all(
      `select claimed / ${quarter} as slot, ${counts} from outdial_attempt
       where claimed >= ? and ${isCall} group by slot order by slot`,
      from,
    )
    .map((row) => ({ at: Number(row.slot) * quarter, ...countsIn(row) }));

/** Whether the flow blocked the contact of an answer `a` after it, and no other answer came before that. */
const isOptOut = `exists (
  select 1 from blocked t join outdial_attempt e on e.contact = a.contact and e.attempt = a.attempt
  where t.contact = a.contact and t.at >= a.at and (e.ended is null or t.at <= e.ended) and not exists (
    select 1 from outdial_answer n where n.contact = a.contact and n.attempt = a.attempt
    and n.name <> a.name and n.at > a.at and n.at <= t.at))`;

/** Of a contact that answered a question in several attempts the last answer counts. */
const answersIn = (sql: Sql): readonly AnswerFigures[] =>
  answerNamesIn(sql).flatMap(({ name }) => {
    const rows = sql.all(
      `with blocked as materialized (
         select contact, max(at) as at from outdial_audit where event = 'blocked' and contact is not null group by contact)
       select value, count(*) as contacts, sum(${isOptOut}) as opted_out, sum(count(*)) over () as total
       from outdial_answer a
       where name = ? and not exists (
         select 1 from outdial_answer b
         where b.contact = a.contact and b.attempt > a.attempt and b.name = a.name)
       group by value order by count(*) desc, value limit ${mostValues}`,
      name,
    );
    const values = rows.map((row) => ({
      value: String(row.value),
      contacts: Number(row.contacts),
      ...(Number(row.opted_out) > 0 && { optedOut: Number(row.opted_out) }),
    }));
    return rows.length > 0 ? [{ name, contacts: Number(rows[0]?.total), values }] : [];
  });

const callBacksIn = (sql: Sql): Figures["callBacks"] => {
  const [{ waiting, next } = {}] = sql.all(
    `select count(*) as waiting, min(due) as next from outdial_contact
     where state = 'waiting' and call_for > attempts`,
  );
  return { waiting: Number(waiting), ...(typeof next === "number" && { next }) };
};

const attemptsIn = (sql: Sql): readonly number[] => {
  const counts: number[] = [];
  const rows = sql.all(
    `select attempts, count(*) as contacts
     from (select count(*) as attempts from outdial_attempt where ${isCall} group by contact) group by attempts`,
  );
  for (const { attempts, contacts } of rows) counts[Number(attempts)] = Number(contacts);
  return Array.from(counts, (count = 0) => count).slice(1);
};

/** Without the digits that adding fractions in binary brings. */
const rounded = (sum: number): number => Number(sum.toFixed(8));

const costsIn = (sql: Sql): Figures["costs"] =>
  sql
    .all(
      `select currency, sum(cost) as sum, count(*) as calls from outdial_attempt
       where cost is not null group by currency order by currency`,
    )
    .map(({ currency, sum, calls }) => ({
      ...(typeof currency === "string" && { currency }),
      sum: rounded(Number(sum)),
      calls: Number(calls),
    }));

/**
 * Computes the figures of a ledger. It reads all of it.
 *
 * @param from - calls that began before are not in `quarters`
 */
export const figuresOf = (sql: Sql, from = 0): Figures => ({
  quarters: quartersIn(sql, from),
  answers: answersIn(sql),
  callBacks: callBacksIn(sql),
  attempts: attemptsIn(sql),
  costs: costsIn(sql),
  ...(serviceNamesIn(sql).length > 0 && { services: servicesIn(sql) }),
});

const sumBy = <T>(
  all: readonly T[],
  key: (each: T) => number | string,
  add: (one: T, other: T) => T,
) => {
  const sums = new Map<number | string, T>();
  for (const each of all) {
    const sum = sums.get(key(each));
    sums.set(key(each), sum === undefined ? each : add(sum, each));
  }
  return [...sums.values()];
};

type Counts = Omit<QuarterFigures, "at">;

const sumOfCounts = (one: Counts, other: Counts): Counts => ({
  calls: one.calls + other.calls,
  people: one.people + other.people,
  machines: one.machines + other.machines,
});

type Value = AnswerFigures["values"][number];

/** The most frequent first, and then by the alphabet, as SQLite orders texts. */
const byContacts = (one: Value, other: Value): number =>
  other.contacts - one.contacts || (one.value < other.value ? -1 : 1);

/** The figures of a campaign whose contacts are in several ledgers. */
export const sumOfFigures = (parts: readonly Figures[], names: readonly string[]): Figures => {
  const next = parts.flatMap(({ callBacks }) => callBacks.next ?? []);
  const answers = sumBy(
    parts.flatMap((part) => part.answers),
    ({ name }) => name,
    (one, other) => ({
      name: one.name,
      contacts: one.contacts + other.contacts,
      values: sumBy(
        [...one.values, ...other.values],
        ({ value }) => value,
        (first, second) => ({
          ...first,
          contacts: first.contacts + second.contacts,
          optedOut: (first.optedOut ?? 0) + (second.optedOut ?? 0) || undefined,
        }),
      )
        .sort(byContacts)
        .slice(0, mostValues),
    }),
  );
  const quarters = sumBy(
    parts.flatMap((part) => part.quarters),
    ({ at }) => at,
    (one, other) => ({ at: one.at, ...sumOfCounts(one, other) }),
  );
  const services = sumBy(
    parts.flatMap((part) => part.services ?? []),
    ({ name }) => name,
    (one, other) => ({ name: one.name, ...sumOfCounts(one, other) }),
  );
  const costs = sumBy(
    parts.flatMap((part) => part.costs),
    ({ currency = "" }) => currency,
    (one, other) => ({
      ...one,
      sum: rounded(one.sum + other.sum),
      calls: one.calls + other.calls,
    }),
  );
  const longest = Math.max(0, ...parts.map(({ attempts }) => attempts.length));
  return {
    quarters: quarters.sort((one, other) => one.at - other.at),
    answers: answers.sort((one, other) => names.indexOf(one.name) - names.indexOf(other.name)),
    callBacks: {
      waiting: parts.reduce((total, { callBacks }) => total + callBacks.waiting, 0),
      ...(next.length > 0 && { next: Math.min(...next) }),
    },
    attempts: Array.from({ length: longest }, (_, index) =>
      parts.reduce((total, { attempts }) => total + (attempts[index] ?? 0), 0),
    ),
    costs: costs.sort((one, other) => ((one.currency ?? "") < (other.currency ?? "") ? -1 : 1)),
    ...(parts.some((part) => part.services) && {
      services: services.sort((one, other) => (one.name < other.name ? -1 : 1)),
    }),
  };
};
