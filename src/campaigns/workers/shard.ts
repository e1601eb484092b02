import { fail } from "../../lib/check.ts";
import { answerNamesIn } from "../answers.ts";
import { signedUrls } from "../check.ts";
import { byState } from "../disposition.ts";
import { unblock } from "../do-not-call.ts";
import { type Opened, open } from "../engine.ts";
import { LedgerException } from "../errors.ts";
import { figuresOf } from "../figures.ts";
import { isEnd } from "../notifications.ts";
import { type CampaignOptions, type ServicesOptions, warningsOf } from "../options.ts";
import { isDone, type Progress, tallyOf } from "../progress.ts";
import { type DurableStorage, durableSql, type Sql } from "../sqlite.ts";
import { auditRows, factOf, prepareTables, setFact } from "../tables.ts";
import { type LastWork, loop } from "../wake-up.ts";
import {
  type Answer,
  type Body,
  linesOf,
  mostSamples,
  type Requests,
  refusalOf,
  type Sample,
  type ServicesShare,
  type Share,
  type ShareLimits,
  type Wanted,
  wantedIn,
} from "./rpc.ts";

/** What is used of a Durable Object's storage (`ctx.storage`), one with SQLite. */
export interface ShardStorage extends DurableStorage {
  /** When the object is woken next, in milliseconds since 1970. */
  getAlarm(): Promise<number | null>;
  /** Has the object woken then, once. */
  setAlarm(at: number): Promise<void>;
  /** Has it woken no more. */
  deleteAlarm(): Promise<void>;
}

/** What is used of a Durable Object's state (`ctx`). */
export interface ShardContext {
  /** The object's own SQLite, and its alarm. */
  readonly storage: ShardStorage;
  /** Lets no request in until the work is done. */
  blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T>;
}

/** When a killed runtime continues, in milliseconds: the alarm is set so before anything is done. */
const backAfter = 2_000;

/** How long one alarm works, in milliseconds: the platform ends what takes much longer. */
const longestAlarm = 20_000;

/**
 * How many requests wait for their answer at once, at most: the connections without response headers that the platform gives
 * an object, whose events share them. What is more waits in the platform's queue, past the last look at the calling hours.
 */
const mostRequests = 6;

/** How many requests one alarm makes, or a step more: platforms allow an invocation so many. */
const mostInAlarm = 500;

/** What is due later than that, in milliseconds, is left to another alarm. */
const nap = 1_000;

/** Milliseconds between samples: a row each, which costs next to nothing beside the calls. */
const sampleInterval = 5_000;

const prepareHistory = (sql: Sql): void => {
  sql.all(
    `create table if not exists outdial_sample
     (slot integer primary key, at integer not null, progress text not null) without rowid`,
  );
};

/** Keeps how far it has come, once in a few seconds, and its end. */
const sample = (sql: Sql, progress: () => Progress, now: number): void => {
  const [{ slot } = {}] = sql.all("select max(slot) as slot from outdial_sample");
  if (slot === Math.floor(now / sampleInterval) && !isDone(sql)) return;
  sql.all(
    `insert into outdial_sample values (?, ?, ?)
     on conflict (slot) do update set at = excluded.at, progress = excluded.progress`,
    Math.floor(now / sampleInterval),
    now,
    JSON.stringify(progress()),
  );
};

/** How many contacts wait for their first or their next attempt. */
const waitingIn = (sql: Sql): number => tallyOf(sql).waiting ?? 0;

/** What a sample of an older version lacks. */
const none = byState(() => 0);

/** How far it had come, in order of time. */
const historyOf = (sql: Sql): readonly Sample[] => {
  const [{ first, last } = {}] = sql.all(
    "select min(at) as first, max(at) as last from outdial_sample",
  );
  const step = Math.max(sampleInterval, Math.ceil((Number(last) - Number(first)) / mostSamples));
  return sql
    .all("select max(at) as at, progress from outdial_sample group by at / ? order by at", step)
    .map(({ at, progress }) => ({ ...none, ...JSON.parse(String(progress)), at: Number(at) }));
};

/** What a shard takes out of the Worker's environment for one of several services. */
export type ShardService = Pick<CampaignOptions, "create" | "account" | "get" | "end" | "service">;

/** What a shard takes out of the Worker's environment: none of it is stored. */
export type ShardOptions = Pick<CampaignOptions, "secret"> & ShardService;

/** The same where the plan has several services. */
export interface ShardServices extends Pick<CampaignOptions, "secret"> {
  /** Those of each service, by its name. */
  readonly services: Readonly<Record<string, ShardService>>;
}

/** The functions of each service, by its name; of a plan with one service that of `undefined`. */
const functionsOf = (
  options: ShardOptions | ShardServices,
): ReadonlyMap<string | undefined, ShardService> => {
  if ("services" in options) return new Map(Object.entries(options.services));
  const { secret: _, ...own } = options;
  return new Map([[undefined, own]]);
};

type Handlers = {
  readonly [What in keyof Requests]: (body: Body<What>) => Answer<What> | Promise<Answer<What>>;
};

const isRequest = (handlers: Handlers, what: string): what is keyof Handlers =>
  Object.hasOwn(handlers, what);

/** The share that the object keeps, if it has one. */
const shareIn = (sql: Sql): Share | ServicesShare | undefined => {
  const [{ there } = {}] = sql.all(
    "select count(*) as there from sqlite_master where name = 'outdial_fact'",
  );
  const share = there ? factOf(sql, "share") : null;
  return typeof share === "string" ? JSON.parse(share) : undefined;
};

/**
 * One shard of a campaign: the class of a Durable Object with SQLite. It keeps its contacts, dials
 * them by its own alarm, and comes back by itself after whatever has ended it; nobody is called twice by that.
 *
 * Extend it, and give what only the Worker's environment knows. Only the Worker's own code reaches it, by
 * `createCampaign`, `campaignOf` and `statusHandler`. With `get` no lost notification holds a slot, and with `end` the
 * campaign has `endCalls`.
 *
 * @example A Worker's shards
 * ```ts
 * import { end, get } from "outdial/calls";
 * import { CampaignShard, type ShardContext } from "outdial/campaigns/workers";
 * import { calls } from "outdial/fetch";
 *
 * interface Env {
 *   readonly OUTDIAL_API_KEY: string;
 *   readonly OUTDIAL_BASE_URL: string;
 *   readonly SECRET: string;
 * }
 *
 * export class Shard extends CampaignShard {
 *   constructor(ctx: ShardContext, env: Env) {
 *     const { OUTDIAL_API_KEY: apiKey, OUTDIAL_BASE_URL: baseUrl, SECRET: secret } = env;
 *     super(ctx, {
 *       secret,
 *       service: baseUrl,
 *       create: (params, options) => calls.create(params, { ...options, apiKey, baseUrl }),
 *       get: (id) => get(id, { apiKey, baseUrl }),
 *       end: (id) => end(id, { apiKey, baseUrl }),
 *     });
 *   }
 * }
 * ```
 * @see examples/campaign
 */
export class CampaignShard {
  readonly #storage: ShardStorage;
  readonly #sql: Sql;
  readonly #secret: ShardOptions["secret"];
  readonly #functions: ReadonlyMap<string | undefined, ShardService>;
  #opened: Opened | undefined;
  /** Why the ledger that is there can't be used, such as by another sender. */
  #refusal = new LedgerException("not_a_ledger");
  #requests = 0;
  #isAwake = false;

  /**
   * Opens the shard's ledger again, if it has one.
   *
   * @param ctx - as the platform gives it
   * @param options - how to place a call, at each of several services if the plan has them, and what URLs are signed with
   */
  constructor(ctx: ShardContext, options: ShardOptions | ShardServices) {
    this.#storage = ctx.storage;
    this.#sql = durableSql(ctx.storage);
    this.#secret = options.secret;
    this.#functions = functionsOf(options);
    ctx.blockConcurrencyWhile(async () => {
      const share = shareIn(this.#sql);
      if (!share) return;
      try {
        await this.#open(share);
      } catch (error) {
        if (!(error instanceof LedgerException)) throw error;
        this.#refusal = error; // Every request gets it, and nobody is called.
      }
    });
  }

  /** Answers `createCampaign`, `campaignOf` and `statusHandler`; a request that the Worker has forwarded gets a 404. */
  async fetch(request: Request): Promise<Response> {
    const what = wantedIn(request);
    if (what === undefined) return new Response(null, { status: 404 });
    const body = await request.json();
    try {
      if (what === "results") {
        const { only }: Wanted = body;
        return new Response(linesOf(this.#campaign.results(), only));
      }
      if (what === "audit") return new Response(linesOf(this.#read(auditRows)));
      if (!isRequest(this.#handlers, what)) return Response.json({}, { status: 404 });
      return Response.json(await this.#answer(what, body));
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Dials what is due, and sets the next alarm: the platform calls it. */
  async alarm(): Promise<void> {
    const opened = this.#opened;
    if (!opened) return;
    const { wakeUp } = opened.dialer;
    this.#isAwake = true;
    try {
      const { at, seen } = await this.#attend(opened);
      // From here on whatever happens sets the alarm itself; what happened meanwhile is due now.
      this.#isAwake = false;
      const next = wakeUp.count === seen ? at : Date.now();
      await (next === undefined ? this.#storage.deleteAlarm() : this.#storage.setAlarm(next));
    } finally {
      this.#isAwake = false;
    }
  }

  /**
   * Steps while something is due soon or a POST is under way.
   *
   * @returns when to come back, in milliseconds since 1970, by the announcements seen so far
   */
  async #attend({ campaign, dialer, settings }: Opened): Promise<LastWork> {
    const { wakeUp } = dialer;
    const { clock } = settings;
    const end = clock() + longestAlarm;
    const before = this.#requests;
    await this.#storage.setAlarm(clock() + backAfter);
    const step = async (): Promise<number | undefined> => {
      const at = await campaign.step();
      sample(this.#sql, campaign.progress, clock());
      return at;
    };
    const isSpent = (): boolean => clock() >= end || this.#requests - before >= mostInAlarm;
    const last = await loop({ wakeUp, clock }, step, ({ at = end + nap, seen }) => {
      const isIdle = dialer.underWay === 0 && wakeUp.count === seen;
      return isSpent() || (isIdle && at > clock() + nap);
    });
    if (!isSpent()) return last;
    // The platform drops what is under way once an alarm has ended.
    await campaign.idle();
    return { ...last, at: clock() };
  }

  readonly #handlers: Handlers = {
    open: async (share) => {
      const known = shareIn(this.#sql);
      if (known && JSON.stringify(known) !== JSON.stringify(share)) {
        throw new LedgerException("other_campaign");
      }
      if (known) return null;
      const campaign = await this.#open(share);
      for (const warning of warningsOf([...this.#functions.values()])) console.warn(warning);
      await campaign.pause("not begun yet");
      setFact(this.#sql, "share", JSON.stringify(share));
      return null;
    },
    add: (contacts) => this.#change((campaign) => campaign.add(contacts)),
    note: async (noted) => {
      const { campaign, dialer } = this.#whole;
      const before = waitingIn(this.#sql);
      const received = "given" in noted ? noted.given : noted;
      const isOurs = await campaign.note(received, "given" in noted ? noted.sender : undefined);
      const waiting = waitingIn(this.#sql);
      const hasEnded = "event" in received && isEnd(received.event);
      if (hasEnded) sample(this.#sql, campaign.progress, Date.now());
      // A slot is free and somebody waits for it, another attempt follows, or a call is to be ended whose id has come.
      const isDue = (hasEnded && waiting > 0) || waiting > before || dialer.ending.count > 0;
      await this.#wake(isDue ? Date.now() : dialer.nextPoll);
      return isOurs;
    },
    callBack: ({ to_number, at }) => this.#change((campaign) => campaign.callBack(to_number, at)),
    endCalls: async () => {
      // It is in the ledger by now, and the alarm goes on with it after a crash.
      const ended = this.#campaign.endCalls();
      const [result] = await Promise.all([ended, this.#wake()]);
      return result;
    },
    pause: async (reason) => {
      await this.#change((campaign) => campaign.pause(reason ?? undefined));
      return null;
    },
    resume: async () => {
      await this.#change((campaign) => campaign.resume());
      return null;
    },
    cancel: async () => {
      await this.#change((campaign) => campaign.cancel());
      return null;
    },
    block: (numbers) => this.#change((campaign) => campaign.block(numbers)),
    unblock: async ({ numbers, reason }) => {
      const { dialer, settings } = this.#whole;
      const removed = await unblock(this.#sql, numbers, reason, settings);
      dialer.wakeUp.announce();
      await this.#wake();
      return removed;
    },
    erase: (numbers) => this.#change((campaign) => campaign.erase(numbers)),
    signedUrls: () => signedUrls(this.#whole.dialer.services.all.map(({ settings }) => settings)),
    progress: () => this.#campaign.progress(),
    history: () => [...historyOf(this.#sql), { ...this.#campaign.progress(), at: Date.now() }],
    answerNames: () => this.#read(answerNamesIn),
    variableNames: () => this.#campaign.variableNames(),
    figures: ({ from }) => this.#read((sql) => figuresOf(sql, from)),
  };

  async #answer<What extends keyof Requests>(what: What, body: Body<What>): Promise<Answer<What>> {
    return this.#handlers[what](body);
  }

  /** @throws {LedgerException} when there is none, or it can't be used */
  get #whole(): Opened {
    if (!this.#opened) throw this.#refusal;
    return this.#opened;
  }

  /** @throws {LedgerException} when there is none, or it can't be used */
  #read<T>(read: (sql: Sql) => T): T {
    if (!this.#opened) throw this.#refusal;
    return read(this.#sql);
  }

  /** @throws {LedgerException} when there is none, or it can't be used */
  get #campaign(): Opened["campaign"] {
    return this.#whole.campaign;
  }

  /** The functions of a service, each request of which is counted. */
  #functionsOf(name: string | undefined): ShardService {
    const counting = <Args extends readonly unknown[], T>(request: (...args: Args) => T) => {
      const counted = (...args: Args): T => {
        this.#requests++;
        return request(...args);
      };
      // By its length a campaign knows a create that takes no options.
      return Object.defineProperty(counted, "length", { value: request.length });
    };
    const own = this.#functions.get(name);
    if (!own) fail("services", "must be those of the plan, by their names");
    const { create, get, end, ...rest } = own;
    return {
      ...rest,
      create: counting(create),
      ...(get && { get: counting(get) }),
      ...(end && { end: counting(end) }),
    };
  }

  /** @throws {BadParametersException} when the share breaks a rule */
  async #open(share: Share | ServicesShare): Promise<Opened["campaign"]> {
    const secret = this.#secret;
    const limits = new Map<string | undefined, ShareLimits>();
    const limited = <Of extends ShareLimits>(name: string | undefined, of: Of) => {
      const { wholeRate, pollsPerSecond, ...rest } = of;
      limits.set(name, { wholeRate, pollsPerSecond });
      return { ...rest, ...this.#functionsOf(name) };
    };
    const { id, until, ...rest } = share;
    const common = { secret, ...(until !== undefined && { until: new Date(until) }) };
    const options: CampaignOptions | ServicesOptions =
      "services" in rest
        ? {
            ...{ ...rest, ...common },
            services: rest.services.map((each) => limited(each.name, each)),
          }
        : { ...limited(undefined, rest), ...common };
    this.#opened = await open(this.#sql, options, prepareTables, {
      ...{ id, mostRequests },
      wholeRate: (name) => limits.get(name)?.wholeRate,
      pollsPerSecond: (name) => limits.get(name)?.pollsPerSecond,
    });
    prepareHistory(this.#sql);
    return this.#opened.campaign;
  }

  /** Changes something, after which there may be something to do. */
  async #change<T>(change: (campaign: Opened["campaign"]) => T): Promise<Awaited<T>> {
    const result = await change(this.#campaign);
    await this.#wake();
    return result;
  }

  /** Has the alarm fire at a time, or at once. One that is firing is woken by the campaign itself. */
  async #wake(at = Date.now()): Promise<void> {
    if (this.#isAwake || at === Number.POSITIVE_INFINITY) return;
    const next = await this.#storage.getAlarm();
    if (next === null || next > at) await this.#storage.setAlarm(at);
  }
}
