import { type CallbackOptions, callbackHandler, type Received } from "../../callbacks/handler.ts";
import type { Context } from "../../callbacks/signed-url.ts";
import type { RecordingInput } from "../../flows/recorded.ts";
import { fail } from "../../lib/check.ts";
import { fnv1a, utf8 } from "../../lib/encoding.ts";
import type { CallInput, CallOutcome } from "../answers.ts";
import type { Sender } from "../campaign.ts";
import { type CheckOptions, checkUrls, type UrlCheck } from "../check.ts";
import type { Added, Contact, RefusedContact } from "../contacts.ts";
import { type Disposition, isDisposition } from "../disposition.ts";
import { numbersIn, telephoneOf } from "../do-not-call.ts";
import type { EndedCalls } from "../ending.ts";
import { type Figures, sumOfFigures } from "../figures.ts";
import type { Result } from "../ledger.ts";
import { countsOf, type Progress } from "../progress.ts";
import { type AuditEntry, auditEntryOf } from "../tables.ts";
import {
  type Answer,
  ask,
  askLines,
  type Body,
  mostSamples,
  type Requests,
  type Sample,
  type ShardNamespace,
} from "./rpc.ts";

/**
 * Returns the shard of a telephone number. Both spellings of a mobile have the same. It never changes, so one shard has all claims of the number. It
 * is FNV-1a over the number's bytes, modulo the number of shards.
 *
 * @param to_number - E.164
 * @param shards - the number of shards
 * @returns the index of the shard, from 0
 *
 * @example Find the shard of a telephone number
 * ```ts
 * import { shardOf } from "outdial/campaigns/workers";
 *
 * console.log(shardOf("+12025550100", 4)); // 3
 * ```
 */
export const shardOf = (to_number: string, shards: number): number =>
  fnv1a(utf8(telephoneOf(to_number))) % shards;

/** How many contacts one request to a shard contains. */
const most = 1_000;

/** Sends each contact to the shard of its number, in pages: the whole list is never in memory. */
export const addTo = async (
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  shards: number,
  send: (shard: number, page: readonly Contact[]) => Promise<Added>,
): Promise<Added> => {
  const pages: Contact[][] = Array.from({ length: shards }, () => []);
  const refused: RefusedContact[] = [];
  let added = 0;
  let duplicate = 0;
  let count = 0;
  const flush = async (shard: number): Promise<void> => {
    const page = pages[shard]?.splice(0) ?? [];
    if (page.length === 0) return;
    const answer = await send(shard, page);
    added += answer.added;
    duplicate += answer.duplicate;
    refused.push(...answer.refused);
  };
  try {
    for await (const contact of contacts) {
      const { to_number, line = ++count } = contact;
      const shard = shardOf(String(to_number), shards);
      const page = pages[shard];
      page?.push({ ...contact, line });
      if (page && page.length >= most) await flush(shard);
    }
  } finally {
    // If the list throws, the contacts before that are sent too.
    await Promise.all(pages.map((_, shard) => flush(shard)));
  }
  return { added, duplicate, refused: refused.sort((one, other) => one.line - other.line) };
};

/** If shards differ, the campaign has the first of these states that one of them has: a pause must be seen. */
const states = ["paused", "running", "canceled"] as const;

/** Computes the progress of a campaign from the progress of its shards. */
export const sumOf = (parts: readonly Progress[]): Progress => {
  const reason = parts.find((each) => each.reason !== undefined)?.reason;
  const since = parts.flatMap(({ callingSince }) => callingSince ?? []);
  const until = parts.flatMap(({ unclearUntil }) => unclearUntil ?? []);
  return {
    state: states.find((state) => parts.some((each) => each.state === state)) ?? "running",
    ...(reason !== undefined && { reason }),
    ...countsOf((state) => parts.reduce((total, each) => total + each[state], 0)),
    ...(since.length > 0 && { callingSince: Math.min(...since) }),
    ...(until.length > 0 && { unclearUntil: Math.max(...until) }),
  };
};

/** Merges the samples of all shards. At each time, every shard counts with its latest sample. */
export const merged = (histories: readonly (readonly Sample[])[]): readonly Sample[] => {
  const times = [...new Set(histories.flatMap((each) => each.map(({ at }) => at)))];
  const step = Math.ceil(times.length / mostSamples);
  return times
    .sort((one, other) => one - other)
    .filter((_, index) => (times.length - 1 - index) % step === 0)
    .map((at) => {
      const known = histories.flatMap((each) => each.findLast((one) => one.at <= at) ?? []);
      return { ...sumOf(known), at };
    });
};

/** One thing that happened in a shard. */
export interface ShardAuditEntry extends AuditEntry {
  /** The shard, from 0: `contact` is a number in its ledger. */
  readonly shard: number;
}

/**
 * A campaign whose contacts are in Durable Objects, each in the shard of its number. Every method can be
 * called again after a failure: a repetition has no further effect.
 */
export interface ShardedCampaign {
  /** The number of shards, and 24 random hexadecimal digits. The id and the binding give full access. */
  readonly id: string;
  /** The number of shards. It never changes. */
  readonly shards: number;
  /**
   * Adds contacts, also while the campaign runs. Each shard receives pages of at most 1,000 contacts.
   *
   * @throws what the iterable or the platform throws; the contacts before that were added
   */
  readonly add: (contacts: Iterable<Contact> | AsyncIterable<Contact>) => Promise<Added>;
  /**
   * Asks the handlers at `flow_url` and `status_callback_url` whether they verify by the shards' secret, as `check` of a campaign in
   * a file does: a `HEAD` to each, at a URL that is signed for 60 s and names no contact. Platforms may refuse that a Worker
   * fetches its own address: give a `fetch` that calls its handlers then.
   *
   * @returns what each answered. `refused` means that every call would fail
   * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
   * @throws the reason of `signal`
   */
  readonly check: (options: CheckOptions) => Promise<readonly UrlCheck[]>;
  /**
   * Records what a flow has learned, as `onInput` of `flowHandler` gets it, or a verified notification. The context of its
   * signed URL names the shard.
   *
   * @param sender - `service`: the name of the service whose handler has verified it, where the plan has several
   * @returns whether it was about an attempt of this campaign, once that is durable
   * @throws {BadParametersException} (`placed: "no"`) when an answer is no text or longer than 1,000 characters, or `service` is the
   * name of none of them
   */
  readonly note: (
    given: Received | CallInput | CallOutcome | RecordingInput,
    sender?: Sender,
  ) => Promise<boolean>;
  /**
   * Calls a contact at a time that it asked for, within the calling hours or at their next opening, as `callBack` of a
   * campaign in a file does.
   *
   * @param to_number - E.164
   * @param at - a `Date`, ISO 8601, or local time such as `"2026-06-03 15:00"` in the contact's time zone
   * @returns whether it will be called then
   * @throws {BadParametersException} (`placed: "no"`) when the number or the time breaks its rule
   */
  readonly callBack: (to_number: string, at: Date | string) => Promise<boolean>;
  /** No further call begins until `resume`. Live calls continue. */
  readonly pause: (reason?: string) => Promise<void>;
  /** Starts the campaign, or resumes it after a pause. */
  readonly resume: () => Promise<void>;
  /**
   * Begins no further call, as `pause`, and ends every live call by the shards' option `end`: one that is being placed as
   * soon as its id is known, also after this has returned. `resume` takes it back.
   *
   * @returns what became of them, once each was tried
   * @throws {BadParametersException} (`placed: "no"`) when the shards have no option `end`
   */
  readonly endCalls: () => Promise<EndedCalls>;
  /** Ends all waiting contacts as `canceled`. This cannot be undone. */
  readonly cancel: () => Promise<void>;
  /**
   * Adds numbers to the do-not-call list, at any time. Waiting contacts are blocked at once.
   *
   * @returns how many of them were not on it
   * @throws {BadParametersException} (`placed: "no"`) when one is not an E.164 number
   */
  readonly block: (numbers: string | Iterable<string>) => Promise<number>;
  /**
   * Takes numbers off the do-not-call list. A contact that was never called waits again; one that was keeps its disposition.
   * The reason is in the audit log.
   *
   * @param numbers - E.164
   * @param reason - such as `"asked to be called again"`, at most 200 characters
   * @returns how many of them were on it
   * @throws {BadParametersException} (`placed: "no"`) when one is not an E.164 number, or the reason breaks its rule; none is
   * unblocked then
   * @throws {LedgerException} `erased`, when one of them was erased: none of its shard is unblocked then, and those of other
   * shards may be
   */
  readonly unblock: (numbers: string | Iterable<string>, reason: string) => Promise<number>;
  /**
   * Erases contacts from the ledger. It keeps only an HMAC of each number, and refuses the number from then on.
   *
   * @returns how many of them were in it
   * @throws {BadParametersException} (`placed: "no"`) when one is not an E.164 number
   */
  readonly erase: (numbers: string | Iterable<string>) => Promise<number>;
  /** The number of contacts in each state, over all shards. */
  readonly progress: () => Promise<Progress>;
  /** The progress over time, as samples some seconds apart, for a plot. */
  readonly history: () => Promise<readonly Sample[]>;
  /** The results of all contacts, or of those with one disposition, shard by shard. */
  readonly results: (only?: Disposition) => AsyncIterable<Result>;
  /** Every change of state with its time, in order, shard by shard, read as it arrives. */
  readonly audit: () => AsyncIterable<ShardAuditEntry>;
  /** The names of all answers and of named recordings, in the order in which they first came up: the columns of a table. */
  readonly answerNames: () => Promise<readonly string[]>;
  /** The names of all variables that contacts have. It reads the whole list. */
  readonly variableNames: () => Promise<readonly string[]>;
  /**
   * The figures of a report: calls and answer rate over time, answers, call-backs and attempts. Each shard reads its whole
   * ledger: ask once a minute, not once a second.
   *
   * @param options - `from`: calls that began before that time, in milliseconds since 1970, are not in `quarters`
   */
  readonly figures: (options?: { readonly from?: number | undefined }) => Promise<Figures>;
}

/** A campaign's id, and a shard. It starts with the number of shards, so no request is needed. */
const shape = /^(([1-9]\d{0,2})-[0-9a-f]{24})(?:\/(\d+))?$/;

/** The shard of a campaign that the context of a signed URL names, if it does. */
const shardIn = ({ campaign }: Context, id: string): number | undefined => {
  const [, known, , shard] = shape.exec(String(campaign)) ?? [];
  return known === id && shard !== undefined ? Number(shard) : undefined;
};

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

const shardedCampaign = (
  namespace: ShardNamespace,
  id: string,
  shards: number,
): ShardedCampaign => {
  const names = Array.from({ length: shards }, (_, shard) => `${id}/${shard}`);
  const atShard = <What extends keyof Requests>(
    shard: number,
    what: What,
    body: Body<What>,
  ): Promise<Answer<What>> => ask(namespace, `${id}/${shard}`, what, body);
  const all = <What extends keyof Requests>(
    what: What,
    body: Body<What>,
  ): Promise<readonly Answer<What>[]> =>
    Promise.all(names.map((name) => ask(namespace, name, what, body)));
  const each = async (
    numbers: string | Iterable<string>,
    send: (shard: number, own: readonly string[]) => Promise<number>,
  ): Promise<number> => {
    const counts = await Promise.all(
      byShard(numbers, shards).map(([shard, own]) => send(shard, own)),
    );
    return counts.reduce((total, one) => total + one, 0);
  };
  const answerNames = async (): Promise<readonly string[]> => {
    const names = (await all("answerNames", null)).flat();
    names.sort((one, other) => one.at - other.at);
    return [...new Set(names.map(({ name }) => name))];
  };
  async function* results(only?: Disposition): AsyncGenerator<Result, void> {
    if (only !== undefined && !isDisposition(only)) fail("only", "must be a disposition");
    for (const name of names) yield* askLines(namespace, name, "results", { only });
  }
  async function* audit(): AsyncGenerator<ShardAuditEntry, void> {
    for (const [shard, name] of names.entries()) {
      for await (const row of askLines(namespace, name, "audit", {})) {
        yield { shard, ...auditEntryOf(row) };
      }
    }
  }
  return {
    id,
    shards,
    add: (contacts) => addTo(contacts, shards, (shard, page) => atShard(shard, "add", page)),
    check: (options) => checkUrls(options, () => atShard(0, "signedUrls", null)),
    note: async (given, sender) => {
      const shard = shardIn(given.context, id);
      return (
        shard !== undefined && (await atShard(shard, "note", sender ? { given, sender } : given))
      );
    },
    callBack: async (to_number, at) => {
      const time = at instanceof Date ? (at.toJSON() ?? fail("at", "must be a valid Date")) : at;
      return atShard(shardOf(String(to_number), shards), "callBack", { to_number, at: time });
    },
    endCalls: async () => {
      const parts = await all("endCalls", null);
      return {
        ended: parts.reduce((total, { ended }) => total + ended, 0),
        failed: parts.flatMap(({ failed }) => failed),
        unclear: parts.flatMap(({ unclear }) => unclear),
      };
    },
    pause: async (reason) => void (await all("pause", reason ?? null)),
    resume: async () => void (await all("resume", null)),
    cancel: async () => void (await all("cancel", null)),
    block: (numbers) => each(numbers, (shard, own) => atShard(shard, "block", own)),
    unblock: (numbers, reason) =>
      each(numbers, (shard, own) => atShard(shard, "unblock", { numbers: own, reason })),
    erase: (numbers) => each(numbers, (shard, own) => atShard(shard, "erase", own)),
    progress: async () => sumOf(await all("progress", null)),
    history: async () => merged(await all("history", null)),
    results,
    audit,
    answerNames,
    figures: async ({ from } = {}) =>
      sumOfFigures(await all("figures", { from }), await answerNames()),
    variableNames: async () => [...new Set((await all("variableNames", null)).flat())],
  };
};

/**
 * Finds a campaign by its id.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param id - the id that `createCampaign` returned, or `campaign` of the context of a signed URL, such as in a step of a flow
 * @throws {BadParametersException} (`placed: "no"`) when the id has the wrong form. If no campaign has this id, its
 * methods reject with a `LedgerException`, `not_a_ledger`
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
  const [, own = "", count] = shape.exec(id) ?? [];
  return count === undefined
    ? fail("id", "must be the id of a campaign")
    : shardedCampaign(namespace, own, Number(count));
};

/**
 * Creates the handler for a sharded campaign's notifications, at `<status_callback_url>/<id>/<shard>`.
 * The path is signed, so a notification reaches the shard that placed the call and no other.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param options - how to verify the sender, as for `callbackHandler`. The `secret` is that of the shards.
 * `onError` is called with refusals and failures. `serviceName`: where the plan has several services, the name of the one whose
 * notifications this handler gets, at its own `status_callback_url`
 * @returns a function that returns the response to a request: 204, a refusal, or 500, after which the
 * service delivers again
 *
 * @example Receive the notifications of the calls
 * ```ts
 * import { type ShardNamespace, statusHandler } from "outdial/campaigns/workers";
 *
 * export default {
 *   fetch: (request: Request, env: { SHARDS: ShardNamespace; SECRET: string }): Promise<Response> =>
 *     statusHandler(env.SHARDS, { secret: env.SECRET, onError: console.error })(request),
 * };
 * ```
 */
export const statusHandler =
  (
    namespace: ShardNamespace,
    {
      serviceName: service,
      ...options
    }: Omit<CallbackOptions, "onEvent"> &
      Required<Pick<CallbackOptions, "secret">> & { readonly serviceName?: string | undefined },
  ): ((request: Request) => Promise<Response>) =>
  (request) => {
    const [shard, id] = new URL(request.url).pathname.split("/").reverse();
    const name = `${id}/${shard}`;
    return callbackHandler({
      ...options,
      onEvent: (given) =>
        ask(
          namespace,
          name,
          "note",
          service === undefined ? given : { given, sender: { service } },
        ),
    })(request);
  };
