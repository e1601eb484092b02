import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { CallEvent } from "../../../src/callbacks/event.ts";
import type { Received } from "../../../src/callbacks/handler.ts";
import { verifyUrl } from "../../../src/callbacks/signed-url.ts";
import type { Call } from "../../../src/calls/call.ts";
import type { CallParams } from "../../../src/calls/params.ts";
import {
  type CallInput,
  type Campaign,
  openCampaign,
  type Storage,
} from "../../../src/campaigns/index.ts";
import type { CampaignOptions } from "../../../src/campaigns/options.ts";

export const secret = "a secret that was made at random";

/** A Wednesday, noon in Berlin. */
export const noon = Date.parse("2026-06-03T10:00:00Z");

export const numberOf = (index: number): string => `+1202555${String(index).padStart(4, "0")}`;

/** Contacts, each with a telephone of its own. */
export const people = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ to_number: numberOf(index) }));

/** A campaign on a clock that stands still, and a service that answers as a test says. */
export interface Stage {
  readonly campaign: Campaign;
  readonly database: Storage;
  /** Every POST, in order. */
  readonly posts: CallParams[];
  /** What a service answers; throws what `create` throws. */
  answer: (params: CallParams) => Promise<Call> | Call;
  now: number;
  /** The notification of a POST, as it arrives. */
  readonly received: (post: number, type: string, reason?: string) => Promise<Received>;
  /** It arrives, and is taken in. */
  readonly tell: (post: number, type: string, reason?: string) => Promise<boolean>;
  /** A notification with further fields arrives. */
  readonly tellMore: (post: number, type: string, data: object) => Promise<boolean>;
  /** The flow of a call has learned something, as `onInput` gets it. */
  readonly hear: (post: number, input: Partial<CallInput>) => Promise<boolean>;
  /** Steps until nothing is due within so many milliseconds, and every answer is written down. */
  readonly play: (milliseconds?: number) => Promise<void>;
  /** Opens the same ledger again, as after a crash. */
  readonly reopen: (options?: Partial<CampaignOptions>) => Promise<Stage>;
}

const open = async (
  database: Storage,
  options: Partial<CampaignOptions>,
  start: number,
): Promise<Stage> => {
  const posts: CallParams[] = [];
  const eventOf = async (post: number, type: string, data: object): Promise<Received> => {
    const url = posts[post]?.status_callback_url ?? "";
    const context = await verifyUrl(url, { secret });
    return { context, event: parse(CallEvent, { type, call_id: `cs_${post}`, data }) };
  };
  const received = (post: number, type: string, reason?: string): Promise<Received> =>
    eventOf(post, type, reason === undefined ? {} : { reason });
  const line: Pick<Stage, "now" | "answer"> = {
    now: start,
    answer: () => ({ id: `cs_${posts.length - 1}` }),
  };
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    secret,
    create: async (params, _options) => {
      posts.push(params);
      return line.answer(params);
    },
    window: "always",
    rate: 1000,
    concurrency: 1000,
    clock: () => line.now,
    ...options,
  });
  return {
    get now() {
      return line.now;
    },
    set now(now) {
      line.now = now;
    },
    get answer() {
      return line.answer;
    },
    set answer(answer) {
      line.answer = answer;
    },
    campaign,
    database,
    posts,
    received,
    tell: async (post, type, reason) => campaign.note(await received(post, type, reason)),
    tellMore: async (post, type, data) => campaign.note(await eventOf(post, type, data)),
    hear: async (post, input) => {
      const context = await verifyUrl(posts[post]?.flow_url ?? "", { secret });
      return campaign.note({ call: { call_id: `cs_${post}` }, context, answers: {}, ...input });
    },
    play: async (milliseconds = 1_000) => {
      const end = line.now + milliseconds;
      for (let seen = -1, rounds = 0; ; rounds++) {
        if (rounds > 20_000) throw new Error("the steps come to no end");
        const wake = (await campaign.step()) ?? Number.POSITIVE_INFINITY;
        await campaign.idle();
        if (wake > end && posts.length === seen) break;
        seen = posts.length;
        if (wake <= end) line.now = Math.max(line.now, wake);
      }
      line.now = end;
    },
    reopen: (more = {}) => open(database, { ...options, ...more }, line.now),
  };
};

/** A campaign of its own in memory. */
export const stageOf = (
  options: Partial<CampaignOptions> = {},
  database: Storage = new DatabaseSync(":memory:"),
): Promise<Stage> => open(database, options, noon);
