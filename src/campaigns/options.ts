import type { Secret } from "../callbacks/url/token.ts";
import type { Call } from "../calls/call.ts";
import type { CallParams } from "../calls/params.ts";
import type { Window } from "./window/window.ts";

/** What a further attempt may follow on. */
export type RetryReason = "busy" | "no_answer" | "rejected" | "unreachable";

/** What a campaign is to do. All times are in seconds, but for `until`. */
export interface CampaignOptions {
  /** Who calls, in E.164. */
  readonly from_number: string;
  /** Where the service asks what to do. It is signed for each attempt. */
  readonly flow_url: string;
  /** Where the service tells what happens; give `note` what comes there. It is signed for each attempt. */
  readonly status_callback_url: string;
  /**
   * Whether calls are recorded: people must be told.
   *
   * @defaultValue left out, so the service's own: `true`
   */
  readonly record?: boolean | undefined;
  /** What the URLs are signed with, as for `signUrl`: at least 16 characters. It is kept nowhere. */
  readonly secret: Secret;
  /**
   * Places one call: `(params) => client.calls.create(params)`. What it throws says by `placed` whether
   * the contact may be called again; it must not retry by itself.
   */
  readonly create: (params: CallParams) => Promise<Call>;
  /**
   * The service's name, such as its base URL: a ledger is refused to another one.
   *
   * @defaultValue `""`
   */
  readonly service?: string | undefined;
  /**
   * Calls that begin in a second, at most; it may be less than one.
   *
   * @defaultValue 1
   */
  readonly rate?: number | undefined;
  /**
   * Calls that live at once, at most, by what the notifications tell.
   *
   * @defaultValue 10
   */
  readonly concurrency?: number | undefined;
  /**
   * Attempts for each contact, the first one included.
   *
   * @defaultValue 1
   */
  readonly attempts?: number | undefined;
  /**
   * What another attempt follows on, once a notification has told it.
   *
   * @defaultValue `["busy", "no_answer"]`
   */
  readonly retryOn?: readonly RetryReason[] | undefined;
  /**
   * Seconds between the end of an attempt and the next.
   *
   * @defaultValue 900
   */
  readonly retryAfter?: number | undefined;
  /** The hours in which calls may be placed: one window, several, or `"always"`. */
  readonly window: "always" | Window | readonly Window[];
  /**
   * No call begins from then on.
   *
   * @defaultValue none
   */
  readonly until?: Date | undefined;
  /**
   * Seconds from the beginning of a call until it frees its slot and counts as `unknown`, unless its end
   * was told: longer than the longest call.
   *
   * @defaultValue 3 750: half a minute of ringing, an hour's call, and the notifications' retries
   */
  readonly settle?: number | undefined;
  /**
   * Whether notifications come to `note`. Where somebody else receives them, contacts end as `placed`,
   * and neither `attempts` nor `concurrency` can be kept: both must be left out.
   *
   * @defaultValue `true`
   */
  readonly notified?: boolean | undefined;
  /**
   * Numbers may only begin with one of these, such as `["+49", "+1202"]`.
   *
   * @defaultValue any
   */
  readonly prefixes?: readonly string[] | undefined;
  /**
   * Calls a day at most, by the first window's clock (UTC with `"always"`).
   *
   * @defaultValue no limit
   */
  readonly perDay?: number | undefined;
  /**
   * The variables of a contact that its `flow_url` carries, signed: at most 700 bytes. Whatever is in a
   * URL gets into logs. No other variable is kept.
   *
   * @defaultValue none
   */
  readonly variables?: readonly string[] | undefined;
  /**
   * What time it is, in milliseconds since 1970.
   *
   * @defaultValue `Date.now`
   */
  readonly clock?: (() => number) | undefined;
}
