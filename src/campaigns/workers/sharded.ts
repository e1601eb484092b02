import { refuse } from "../../rules/refuse.ts";
import type { Added } from "../contacts/add.ts";
import type { Contact } from "../contacts/contact.ts";
import { numbersIn } from "../contacts/numbers.ts";
import type { Disposition } from "../disposition.ts";
import type { Progress } from "../ledger/campaign/progress.ts";
import type { Result } from "../ledger/results.ts";
import { merged, type Sample } from "./progress/history.ts";
import { sumOf } from "./progress/sum.ts";
import { addTo } from "./sharding/add.ts";
import { shardOf } from "./sharding/number.ts";
import { linesIn } from "./wire/lines.ts";
import { ask, type ShardNamespace, send } from "./wire/namespace.ts";
import type { Answers, Asks } from "./wire/protocol.ts";

/**
 * A campaign whose contacts are in Durable Objects, each in the shard of its number. Whatever is asked
 * of it may be asked again after a failure: it is done once.
 */
export interface ShardedCampaign {
  /** How many shards there are, and 24 random digits. Whoever has it and the binding has the campaign. */
  readonly id: string;
  /** How many shards there are, for good. */
  readonly shards: number;
  /**
   * Adds contacts, also while calls go on; they are read as they are sent on, a thousand for each shard.
   *
   * @throws what the iterable throws, or the platform; what came before that is added
   */
  readonly add: (contacts: Iterable<Contact> | AsyncIterable<Contact>) => Promise<Added>;
  /** No further call begins until `resume`; those that live go on. */
  readonly pause: (reason?: string) => Promise<void>;
  /** Begins, or goes on after a pause. */
  readonly resume: () => Promise<void>;
  /** Ends who waits as `canceled`; for good. */
  readonly cancel: () => Promise<void>;
  /**
   * Puts numbers on the do-not-call list, at any time: who waits is skipped at once.
   *
   * @returns how many are new on it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number
   */
  readonly block: (numbers: string | Iterable<string>) => Promise<number>;
  /**
   * Takes people out of the ledger; their numbers are refused from then on, by an HMAC alone.
   *
   * @returns how many of them were in it
   * @throws {BadParametersException} (`placed: "no"`) when one is no E.164 number
   */
  readonly erase: (numbers: string | Iterable<string>) => Promise<number>;
  /** How many contacts stand where, over all shards. */
  readonly progress: () => Promise<Progress>;
  /** How far it had come, some seconds apart: what a plot shows. */
  readonly history: () => Promise<readonly Sample[]>;
  /** What became of each contact, or of those with one disposition: one shard after the other. */
  readonly results: (only?: Disposition) => AsyncIterable<Result>;
}

/** How many shards a campaign has: its id says so, and nobody needs to be asked. */
const shape = /^([1-9]\d{0,2})-[0-9a-f]{24}$/;

/** The numbers of each shard. */
const byShard = (
  numbers: string | Iterable<string>,
  shards: number,
): readonly (readonly [shard: number, numbers: readonly string[]])[] => {
  const groups = new Map<number, string[]>();
  for (const number of numbersIn(numbers)) {
    const shard = shardOf(number, shards);
    const group = groups.get(shard) ?? [];
    group.push(number);
    groups.set(shard, group);
  }
  return [...groups];
};

/**
 * Finds a campaign by its id.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param id - what `createCampaign` gave
 * @throws {BadParametersException} (`placed: "no"`) when it is no such id; whether there is a campaign of it is
 * told by what is asked of it then: `LedgerException`, `not_a_ledger`
 *
 * @example Pause a campaign
 * ```ts
 * import { campaignOf, type ShardNamespace } from "outdial/campaigns/workers";
 *
 * export const pause = async (SHARDS: ShardNamespace, id: string): Promise<number> => {
 *   const campaign = campaignOf(SHARDS, id);
 *   await campaign.pause("the office is closed");
 *   return (await campaign.progress()).waiting;
 * };
 * ```
 */
export const campaignOf = (namespace: ShardNamespace, id: string): ShardedCampaign => {
  const [, count] = shape.exec(id) ?? [];
  if (count === undefined) {
    return refuse("id", "must be the id of a campaign");
  }
  const shards = Number(count);
  const names = Array.from({ length: shards }, (_, shard) => `${id}/${shard}`);
  const all = <What extends keyof Asks>(
    what: What,
    body: Asks[What],
  ): Promise<readonly Answers[What][]> =>
    Promise.all(names.map((name) => ask(namespace, name, what, body)));
  const each = async (what: "block" | "erase", numbers: string | Iterable<string>) => {
    const counts = await Promise.all(
      byShard(numbers, shards).map(([shard, own]) => ask(namespace, `${id}/${shard}`, what, own)),
    );
    return counts.reduce((total, one) => total + one, 0);
  };
  async function* results(only?: Disposition): AsyncGenerator<Result, void> {
    for (const name of names) {
      yield* linesIn<Result>(await send(namespace, name, "results", { only }));
    }
  }
  return {
    id,
    shards,
    add: (contacts) =>
      addTo(contacts, shards, (shard, page) => ask(namespace, `${id}/${shard}`, "add", page)),
    pause: async (reason) => void (await all("pause", reason)),
    resume: async () => void (await all("resume", undefined)),
    cancel: async () => void (await all("cancel", undefined)),
    block: (numbers) => each("block", numbers),
    erase: (numbers) => each("erase", numbers),
    progress: async () => sumOf(await all("progress", undefined)),
    history: async () => merged(await all("history", undefined), sumOf),
    results,
  };
};
