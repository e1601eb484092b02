import type { CallingHours } from "./calling-hours.ts";
import type { Row, Sql } from "./sqlite.ts";
import { type ContactRow, contactFieldsIn, textIn } from "./tables.ts";

/** The zones in which contacts wait; `""` is that of the windows. */
export const zonesOf = (sql: Sql): readonly string[] =>
  sql.all("select timezone from outdial_zone").map(({ timezone }) => String(timezone));

/** Somebody to be called now: what a call needs. */
export type DueContact = Pick<
  ContactRow,
  | ("contact" | "to_number" | "written" | "id" | "timezone" | "variables")
  | ("attempts" | "due" | "from_number" | "call_id")
>;

/** Only these: each further column costs as much as a small statement. */
const columns =
  "contact, to_number, written, id, timezone, variables, attempts, due, from_number, call_id";

const dueContactIn = (row: Row): DueContact => ({
  ...contactFieldsIn(row),
  id: textIn(row.id),
  variables: textIn(row.variables),
  call_id: textIn(row.call_id),
});

/** Where a contact stands among those of its group. */
type Place = Pick<ContactRow, "contact" | "due">;

const isBefore = (one: Place, other: Place): boolean =>
  one.due - other.due < 0 || (one.due === other.due && one.contact < other.contact);

/** Contacts of a zone by why they are due. */
interface Group {
  readonly condition: string;
  /** Which of the heads of a zone come before all of the group. */
  readonly heads: readonly number[];
}

const callBacks: Group = { condition: "call_for > attempts and due <= ?", heads: [0] };
const retries: Group = { condition: "call_for <= attempts and due > 0 and due <= ?", heads: [1] };
const fresh: Group = { condition: "call_for <= attempts and due = 0 and ? > 0", heads: [2] };

/** In the order in which they are called: a time that was agreed on is a promise to a person. */
const inOrder = [callBacks, retries, fresh];

const notDeferred = ({ condition, heads }: Group): Group => ({
  condition: `${condition} and deferrals = 0`,
  heads,
});

/** The same, where those that the service has asked to wait let the others pass. */
const othersFirst = [
  ...inOrder.map(notDeferred),
  { condition: "due > 0 and due <= ? and deferrals > 0", heads: [0, 1] },
];

/** Before every contact. */
const first: Place = { due: Number.NEGATIVE_INFINITY, contact: 0 };

/** After every contact. */
const none: Place = { due: Number.POSITIVE_INFINITY, contact: 0 };

/** What is known of the contacts of a time zone that wait. */
class Zone {
  readonly name: string;
  /** No contact of the group is before it: call-backs, retries and fresh contacts. */
  readonly heads = [first, first, first];
  isOpen = false;
  /** The last look ahead: from `from` to `at` it is closed. */
  #opening = { from: Number.POSITIVE_INFINITY, at: Number.NEGATIVE_INFINITY };

  constructor(name: string) {
    this.name = name;
  }

  headOf({ heads }: Group): Place {
    let head = none;
    for (const index of heads) {
      const other = this.heads[index];
      if (other && isBefore(other, head)) head = other;
    }
    return head;
  }

  /** No contact that waits is due before. */
  get due(): number {
    return Math.min(...this.heads.map(({ due }) => due));
  }

  /** Moves the heads on to a time: no contact is due before. */
  raise(due: number): void {
    for (const [index, head] of this.heads.entries()) {
      if (head.due < due) this.heads[index] = { due, contact: 0 };
    }
    if (due > 0) this.heads[2] = none;
  }

  forget(): void {
    this.heads.fill(first);
  }

  /** When somebody of the zone can be called who is due at a time. */
  opensAt(due: number, hours: CallingHours): number {
    const { from, at } = this.#opening;
    if (from <= due && due <= at) return at;
    this.#opening = { from: due, at: hours.opens(due, this.name) };
    return this.#opening.at;
  }
}

const touched = "outdial_touched";

/** Notes each zone in which a contact waits anew, or otherwise than before, by whichever statement. */
const triggersOf = (sql: Sql): readonly string[] => {
  const temporary = sql.hasTemporaryTables ? "temp" : "";
  return [
    `create ${temporary} table if not exists ${touched} (timezone text primary key) without rowid`,
    `create ${temporary} trigger if not exists outdial_touch
     after update of state, due, call_for, timezone on outdial_contact when new.state = 'waiting' begin
       insert or ignore into ${touched} values (new.timezone);
     end`,
  ];
};

/** New contacts whose zones are looked up; of more all zones are looked at anew. */
const mostNew = 5_000;

/**
 * Finds who is to be called next. It knows where the contacts of each zone begin, so that a step asks the ledger for a few
 * zones, however many there are.
 */
export class DueContacts {
  readonly #sql: Sql;
  readonly #hours: CallingHours;
  /** Hours of its own: they remember the last look ahead, and `#hours` the present. */
  readonly #ahead: CallingHours;
  readonly #zones = new Map<string, Zone>();
  /** When `isOpen` of the zones holds. */
  #present = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  #lastContact = -1;
  #otherWrites: unknown;

  constructor(sql: Sql, hours: CallingHours, ahead: CallingHours) {
    this.#sql = sql;
    this.#hours = hours;
    this.#ahead = ahead;
    for (const statement of triggersOf(sql)) sql.all(statement);
  }

  /**
   * The contacts that are due: those first that asked to be called at a time, then those that wait for another attempt,
   * of both the longest due first, and then those that were never called, in the order of the list. A few, however long
   * the list.
   *
   * @param deferredLast - whether those that the service has asked to wait come after all others
   */
  dueNow(now: number, most: number, deferredLast: boolean): readonly DueContact[] {
    this.#renew();
    this.#look(now);
    const all: DueContact[] = [];
    for (const group of deferredLast ? othersFirst : inOrder) {
      if (all.length < most) all.push(...this.#dueIn(group, now, most - all.length));
    }
    return all;
  }

  /** When the next contact is due: after its wait, in its hours. */
  nextDue(now: number): number {
    this.#renew();
    this.#look(now);
    const known = new Set<Zone>();
    for (;;) {
      let next: Zone | undefined;
      let at = Number.POSITIVE_INFINITY;
      for (const zone of this.#zones.values()) {
        const opens = this.#opensAt(zone, now);
        if (opens < at) [next, at] = [zone, opens];
        if (at <= now) break;
      }
      if (!next || known.has(next)) return at;
      known.add(next);
      const [{ due } = {}] = this.#sql.all(
        "select min(due) as due from outdial_contact where state = 'waiting' and timezone = ?",
        next.name,
      );
      next.raise(typeof due === "number" ? due : Number.POSITIVE_INFINITY);
    }
  }

  #opensAt(zone: Zone, now: number): number {
    const due = Math.max(now, zone.due);
    if (due === Number.POSITIVE_INFINITY || (due === now && zone.isOpen)) return due;
    return zone.opensAt(due, this.#ahead);
  }

  #dueIn(group: Group, now: number, limit: number): readonly DueContact[] {
    let found: readonly DueContact[] = [];
    const asked = new Set<Zone>();
    for (;;) {
      let next: Zone | undefined;
      let head = found[limit - 1] ?? none;
      for (const zone of this.#zones.values()) {
        if (!zone.isOpen || asked.has(zone)) continue;
        const its = zone.headOf(group);
        if (its.due <= now && isBefore(its, head)) [next, head] = [zone, its];
      }
      if (!next) return found;
      asked.add(next);
      const rows = this.#rowsOf(next, group, now, limit);
      found = [...found, ...rows]
        .sort((one, other) => (isBefore(one, other) ? -1 : 1))
        .slice(0, limit);
    }
  }

  #rowsOf(zone: Zone, group: Group, now: number, limit: number): readonly DueContact[] {
    // A part of the text: SQLite prepares a statement again for each value that a limit is bound to.
    const most = 2 ** Math.ceil(Math.log2(limit));
    const rows = this.#sql
      .all(
        `select ${columns} from outdial_contact
         where state = 'waiting' and timezone = ? and ${group.condition} order by due limit ${most}`,
        zone.name,
        now,
      )
      .map(dueContactIn);
    const index = inOrder.indexOf(group);
    if (index >= 0) zone.heads[index] = rows[0] ?? this.#after(zone, group, now);
    return rows;
  }

  /** What comes after the contacts of a zone that are due now. */
  #after(zone: Zone, group: Group, now: number): Place {
    if (group === fresh) return none;
    const [{ due } = {}] = this.#sql.all(
      "select min(due) as due from outdial_contact where state = 'waiting' and timezone = ? and due > ?",
      zone.name,
      now,
    );
    return typeof due === "number" ? { due, contact: 0 } : none;
  }

  /** Forgets what may hold no more. */
  #renew(): void {
    const sql = this.#sql;
    const otherWrites = sql.otherWrites();
    const [{ last, changed } = {}] = sql.all(
      `select max(contact) as last, exists (select 1 from ${touched}) as changed from outdial_contact`,
    );
    const lastContact = Number(last ?? 0);
    const before = this.#lastContact;
    const isAll = otherWrites !== this.#otherWrites || lastContact > before + mostNew;
    this.#otherWrites = otherWrites;
    this.#lastContact = lastContact;
    const names: Row[] = [];
    if (isAll) {
      for (const zone of this.#zones.values()) zone.forget();
      names.push(...sql.all("select timezone from outdial_zone"));
    } else if (lastContact > before) {
      names.push(
        ...sql.all("select distinct timezone from outdial_contact where contact > ?", before),
      );
    }
    if (changed === 1) {
      names.push(...sql.all(`select timezone from ${touched}`));
      sql.all(`delete from ${touched}`);
    }
    for (const { timezone } of names) this.#forget(String(timezone));
  }

  #forget(name: string): void {
    const zone = this.#zones.get(name);
    zone?.forget();
    if (zone) return;
    this.#zones.set(name, new Zone(name));
    this.#present = { from: Number.POSITIVE_INFINITY, until: Number.NEGATIVE_INFINITY };
  }

  /** Looks which zones are open, when that may have changed. */
  #look(now: number): void {
    if (this.#present.from <= now && now < this.#present.until) return;
    let until = Number.POSITIVE_INFINITY;
    for (const zone of this.#zones.values()) {
      const hours = this.#hours.at(now, zone.name);
      zone.isOpen = hours.open;
      until = Math.min(until, hours.until);
    }
    this.#present = { from: now, until };
  }
}
