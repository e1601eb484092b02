import { isFinal } from "../../../callbacks/lifecycle.ts";
import { type Campaign, openCampaign } from "../../campaign.ts";
import { factOf, setFact } from "../../ledger/campaign/facts.ts";
import { LedgerException } from "../../ledger-exception.ts";
import type { CampaignOptions } from "../../options.ts";
import { durableSql } from "../../sql/durable.ts";
import type { Sql } from "../../sql/sql.ts";
import { historyOf, prepareHistory, sample } from "../progress/history.ts";
import type { Share } from "../sharding/share.ts";
import { type Answers, type Asks, isDeed } from "../wire/protocol.ts";
import { refusalOf } from "../wire/refusal.ts";
import { attend } from "./attend.ts";
import { Bell } from "./bell.ts";
import type { ShardContext, ShardStorage } from "./context.ts";
import { resultLines } from "./results.ts";

/** What a shard takes out of the Worker's environment: none of it is stored. */
export type ShardOptions = Pick<CampaignOptions, "secret" | "create" | "service">;

type Deed<What extends keyof Asks> = Answers[What] | Promise<Answers[What]>;

type Deeds = { readonly [What in keyof Asks]: (body: Asks[What]) => Deed<What> };

/** The share that the object keeps, if it has one. */
const shareIn = (sql: Sql): Share | undefined => {
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
 * `createCampaign`, `campaignOf` and `statusHandler`.
 *
 * @example A Worker's shards
 * ```ts
 * import { calls } from "outdial/fetch";
 * import { CampaignShard, type ShardContext } from "outdial/campaigns/workers";
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
 *       create: (params) => calls.create(params, { apiKey, baseUrl }),
 *     });
 *   }
 * }
 * ```
 * @see examples/campaign
 */
export class CampaignShard {
  readonly #storage: ShardStorage;
  readonly #sql: Sql;
  readonly #options: ShardOptions;
  readonly #bell = new Bell();
  #campaign: Campaign | undefined;
  /** Why the ledger that is there can't be used, such as by another sender. */
  #refusal = new LedgerException("not_a_ledger");
  #posts = 0;
  #underWay = 0;
  #attended = false;

  /**
   * Opens the shard's ledger again, if it has one.
   *
   * @param ctx - as the platform gives it
   * @param options - how to place a call, and what URLs are signed with
   */
  constructor(ctx: ShardContext, options: ShardOptions) {
    this.#storage = ctx.storage;
    this.#sql = durableSql(ctx.storage);
    this.#options = options;
    ctx.blockConcurrencyWhile(async () => {
      const share = shareIn(this.#sql);
      if (!share) return;
      try {
        await this.#open(share);
      } catch (error) {
        if (!(error instanceof LedgerException)) throw error;
        this.#refusal = error; // Whoever asks is told, and nobody is called.
      }
    });
  }

  /** Answers the Worker. */
  async fetch(request: Request): Promise<Response> {
    const what = new URL(request.url).pathname.slice(1);
    const body = await request.json();
    try {
      if (what === "results") return new Response(resultLines(this.#mine.results(), body));
      if (!isDeed(what)) return new Response(null, { status: 404 });
      return Response.json((await this.#do(what, body)) ?? null);
    } catch (error) {
      return refusalOf(error);
    }
  }

  /** Dials what is due, and says when to be woken again: the platform calls it. */
  async alarm(): Promise<void> {
    const campaign = this.#campaign;
    if (!campaign) return;
    this.#attended = true;
    try {
      const wake = await attend(campaign, this.#storage, this.#bell, {
        underWay: () => this.#underWay,
        posts: () => this.#posts,
        onStep: () => sample(this.#sql, campaign.progress(), Date.now()),
      });
      // From here on whatever happens sets the alarm itself.
      this.#attended = false;
      await (wake === undefined ? this.#storage.deleteAlarm() : this.#storage.setAlarm(wake));
    } finally {
      this.#attended = false;
    }
  }

  readonly #deeds: Deeds = {
    open: async (share) => {
      const known = shareIn(this.#sql);
      if (known && JSON.stringify(known) !== JSON.stringify(share)) {
        throw new LedgerException("other_campaign");
      }
      if (known) return;
      const campaign = await this.#open(share);
      campaign.pause("not begun yet");
      setFact(this.#sql, "share", JSON.stringify(share));
    },
    add: (contacts) => this.#changing((campaign) => campaign.add(contacts)),
    note: async (received) => {
      const isOurs = this.#mine.note(received);
      if (!isFinal(received.event)) return isOurs;
      const progress = this.#mine.progress();
      sample(this.#sql, progress, Date.now());
      // A slot is free: is there anybody for it?
      if (progress.waiting > 0) await this.#rouse();
      return isOurs;
    },
    pause: (reason) => this.#changing((campaign) => campaign.pause(reason ?? undefined)),
    resume: () => this.#changing((campaign) => campaign.resume()),
    cancel: () => this.#changing((campaign) => campaign.cancel()),
    block: (numbers) => this.#changing((campaign) => campaign.block(numbers)),
    erase: (numbers) => this.#changing((campaign) => campaign.erase(numbers)),
    progress: () => this.#mine.progress(),
    history: () => {
      const { progress } = this.#mine;
      return [...historyOf(this.#sql), { ...progress(), at: Date.now() }];
    },
  };

  #do<What extends keyof Asks>(what: What, body: Asks[What]): Deed<What> {
    return this.#deeds[what](body);
  }

  /** @throws {LedgerException} when there is none, or it can't be used */
  get #mine(): Campaign {
    if (!this.#campaign) throw this.#refusal;
    return this.#campaign;
  }

  /** @throws {BadParametersException} when the share breaks a rule */
  async #open(share: Share): Promise<Campaign> {
    const { until, ...rest } = share;
    const { create, ...own } = this.#options;
    this.#campaign = await openCampaign(this.#storage, {
      ...rest,
      ...own,
      ...(until && { until: new Date(until) }),
      create: async (params) => {
        this.#posts++;
        this.#underWay++;
        try {
          return await create(params);
        } finally {
          this.#underWay--;
          // A moment later the ledger has the answer.
          setTimeout(() => this.#bell.ring(), 0);
        }
      },
    });
    prepareHistory(this.#sql);
    return this.#campaign;
  }

  /** Changes something, after which there may be something to do. */
  async #changing<T>(change: (campaign: Campaign) => T): Promise<Awaited<T>> {
    const done = await change(this.#mine);
    await this.#rouse();
    return done;
  }

  /** Has the alarm look at once, whether it sleeps or not. */
  async #rouse(): Promise<void> {
    if (this.#attended) return this.#bell.ring();
    const now = Date.now();
    const next = await this.#storage.getAlarm();
    if (next === null || next > now) await this.#storage.setAlarm(now);
  }
}
