import { secretsOf } from "../callbacks/signed-url.ts";
import type { CallAtUrls } from "../calls/params.ts";
import { isException } from "../errors.ts";
import { base64url, utf8 } from "../lib/encoding.ts";
import { macOf } from "../lib/hmac.ts";
import type { Attempt } from "./attempt-facts.ts";
import type { DueContact } from "./due-contacts.ts";
import type { CampaignOptions, CampaignSettings } from "./options.ts";
import { paramsOf } from "./request.ts";
import type { Row, Sql } from "./sqlite.ts";
import { contactFieldsIn, factOf, textIn } from "./tables.ts";

type CreateOptions = Parameters<CampaignOptions["create"]>[1];

/** How long after its claim an attempt is asked for again, in milliseconds by the ledger's clock. */
export const repeatedFor = 600_000;

/** The pauses between two requests for an attempt, in milliseconds: this at first, and twice as long each time. */
const firstPause = 10_000;

const longestPause = 120_000;

/** How many attempts are asked for again at once. */
const mostAtOnce = 4;

/** What the request of an attempt was sent with, so that it can be sent again. */
export interface Sent {
  /** The `Idempotency-Key`. */
  readonly key: string;
  /** When its URLs were signed, by the machine's clock. */
  readonly signed: number;
  /**
   * An HMAC of its body, byte for byte, and of the account, by the secret that signed its URLs: at another account the key
   * is one more call.
   */
  readonly body: string;
}

const digestOf = async (params: CallAtUrls, account: string, secret: string): Promise<string> =>
  base64url(await macOf(secret, utf8(JSON.stringify([params, account]))));

/** What an attempt is claimed with. */
export const sentOf = async (
  params: CallAtUrls,
  signed: number,
  { account, secret }: Pick<CampaignSettings, "account" | "secret">,
): Promise<Sent> => ({
  key: crypto.randomUUID(),
  signed,
  body: await digestOf(params, account, secretsOf(secret)[0] ?? ""),
});

/** Keeps what the request of a claimed attempt is sent with. */
export const keepSent = (sql: Sql, { contact, attempt }: Attempt, sent: Sent | undefined): void => {
  sql.all(
    `update outdial_attempt set idempotency_key = ?, signed = ?, body = ?
     where contact = ? and attempt = ?`,
    sent?.key ?? null,
    sent?.signed ?? null,
    sent?.body ?? null,
    contact,
    attempt,
  );
};

/** An attempt whose answer was lost, and its contact as it is now. */
export interface LostAttempt extends Attempt, Sent {
  readonly claimed: number;
  /** As before the attempt. */
  readonly row: DueContact;
  /** The name of the service that it stays at; `undefined` where the campaign has no others. */
  readonly service: string | undefined;
}

/**
 * Of which claims the request may be sent again: nothing has been notified of them, as the first notification makes them
 * `placed`, and nobody has forbidden the call.
 */
const repeatable = `a.state <> 'settled' and a.state = 'claimed' and a.idempotency_key is not null
  and c.listed = 1 and c.to_number not glob '#*'
  and not exists (select 1 from outdial_blocked b where b.to_number = c.to_number)
  and a.claimed <= ? and a.claimed > ?`;

const lost = `select a.attempt, a.claimed, a.idempotency_key, a.signed, a.body, a.service, c.contact, c.to_number, c.written, c.id,
    c.timezone, c.variables, c.attempts, c.due, c.from_number
  from outdial_attempt a join outdial_contact c on c.contact = a.contact and c.attempts = a.attempt
  where a.post in ('maybe', 'lost') and ${repeatable}`;

const lostIn = (row: Row): LostAttempt => ({
  contact: Number(row.contact),
  attempt: Number(row.attempt),
  claimed: Number(row.claimed),
  key: String(row.idempotency_key),
  signed: Number(row.signed),
  body: String(row.body),
  service: textIn(row.service),
  row: {
    ...contactFieldsIn(row),
    attempts: Number(row.attempts) - 1,
    id: textIn(row.id),
    variables: textIn(row.variables),
    call_id: undefined,
  },
});

/**
 * The attempts that may be asked for again: by all that the ledger has of them, at this moment.
 *
 * @param latest - the latest time that is known, as of `LatestTime`
 */
export const lostAttempts = (
  sql: Sql,
  at: number,
  latest: number,
  { prefixes }: Pick<CampaignSettings, "prefixes">,
): readonly LostAttempt[] =>
  sql
    .all(lost, at, latest - repeatedFor)
    .map(lostIn)
    .filter(({ row }) => !prefixes || prefixes.some((prefix) => row.written.startsWith(prefix)));

/** Whether the request of a claimed attempt may be sent again, by all that the ledger has of it at this moment. */
export const isRepeatable = (
  sql: Sql,
  { contact, attempt }: Attempt,
  at: number,
  latest: number,
): boolean =>
  sql.all(
    `select 1 from outdial_attempt a join outdial_contact c on c.contact = a.contact and c.attempts = a.attempt
     where a.contact = ? and a.attempt = ? and ${repeatable}`,
    contact,
    attempt,
    at,
    latest - repeatedFor,
  ).length > 0;

/**
 * The latest time that the ledger or this process has seen. A clock that was set back brings no attempt back for which the
 * time was over: the service may have forgotten its key.
 */
export class LatestTime {
  readonly #sql: Sql;
  #latest: number | undefined;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** @param at - what the clock shows now */
  at(at: number): number {
    // The ledger is read once: the log of a long list is long.
    this.#latest ??= Number(this.#sql.all("select max(at) as at from outdial_audit")[0]?.at ?? 0);
    this.#latest = Math.max(this.#latest, at);
    return this.#latest;
  }
}

/** The options of `create` with a key, and whether it has read the key: one that drops it would call twice. */
export const keyedOptions = (
  options: CreateOptions,
  key: string | undefined,
): { readonly options: CreateOptions; readonly isPassedOn: () => boolean } => {
  let isRead = false;
  const keyed = {
    ...options,
    get idempotencyKey() {
      isRead = true;
      return key;
    },
  };
  return { options: key === undefined ? options : keyed, isPassedOn: () => isRead };
};

/** Whether an attempt isn't asked for any more after what `create` threw: the service has refused the same request. */
export const endsAsking = (error: unknown): boolean => {
  if (!isException(error) || error.code === undefined) return false;
  const { code, reason } = error;
  return code >= 300 && code < 500 && code !== 429 && reason !== "idempotency_in_progress";
};

/**
 * Makes the request of an attempt again.
 *
 * @returns the same, byte for byte; `undefined` where that can't be made any more, or the account is another
 */
export const paramsAgain = async (
  sql: Sql,
  { row, signed, body }: LostAttempt,
  settings: CampaignSettings,
): Promise<CallAtUrls | undefined> => {
  const campaign = String(factOf(sql, "id"));
  for (const secret of secretsOf(settings.secret)) {
    const params = await paramsOf(row, campaign, { ...settings, secret }, signed).catch(() => {});
    if (params && (await digestOf(params, settings.account, secret)) === body) return params;
  }
  return;
};

/** When each attempt is asked for again. */
export class Repeats {
  readonly #next = new Map<string, { at: number; pause: number }>();
  readonly #inFlight = new Set<string>();

  /**
   * The attempts to ask for now.
   *
   * @param lost - those whose answers were lost
   */
  due(lost: readonly LostAttempt[], at: number): readonly LostAttempt[] {
    return lost
      .filter((each) => this.#nextOf(each, at) <= at)
      .slice(0, Math.max(0, mostAtOnce - this.#inFlight.size));
  }

  /** When the next one is asked for, in milliseconds since 1970; `Infinity` when none is. */
  wake(lost: readonly LostAttempt[], at: number): number {
    return Math.min(...lost.map((each) => this.#nextOf(each, at)), Number.POSITIVE_INFINITY);
  }

  /** Has an attempt be asked for no more while this process lives. */
  never({ key }: Pick<Sent, "key">): void {
    this.#next.set(key, { at: Number.POSITIVE_INFINITY, pause: 0 });
  }

  /** Does the work of asking for an attempt, which isn't due meanwhile. */
  async during<T>({ key }: Sent, clock: () => number, work: () => Promise<T>): Promise<T> {
    this.#inFlight.add(key);
    try {
      return await work();
    } finally {
      this.#inFlight.delete(key);
      const { at, pause } = this.#next.get(key) ?? { at: 0, pause: firstPause };
      if (at < Number.POSITIVE_INFINITY)
        this.#next.set(key, { at: clock() + pause, pause: Math.min(2 * pause, longestPause) });
    }
  }

  #nextOf({ key }: Sent, at: number): number {
    if (this.#inFlight.has(key)) return Number.POSITIVE_INFINITY;
    const { at: next, pause } = this.#next.get(key) ?? { at, pause: firstPause };
    // A clock that was set back holds nobody up.
    return next === Number.POSITIVE_INFINITY ? next : Math.min(next, at + pause);
  }
}
