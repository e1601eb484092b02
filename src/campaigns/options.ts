import { array, custom, type GenericSchema, is, optional, strictObject, union } from "valibot";
import { type Secret, secretRule, secretsOf } from "../callbacks/url/token.ts";
import type { Call } from "../calls/call.ts";
import { CallParams } from "../calls/params.ts";
import { presence } from "../rules/check.ts";
import { type Window, WindowSchema } from "./window/window.ts";

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
   * Seconds until a call of which nothing is heard any more frees its slot, and counts as `unknown`.
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

/** The options, checked and complete. */
export interface CampaignSettings {
  readonly from_number: string;
  readonly flow_url: string;
  readonly status_callback_url: string;
  readonly record?: boolean | undefined;
  readonly secret: Secret;
  readonly create: CampaignOptions["create"];
  readonly service: string;
  readonly rate: number;
  readonly concurrency?: number | undefined;
  readonly attempts?: number | undefined;
  readonly retryOn: readonly RetryReason[];
  readonly retryAfter: number;
  readonly window: CampaignOptions["window"];
  readonly until?: Date | undefined;
  readonly settle: number;
  readonly notified: boolean;
  readonly prefixes?: readonly string[] | undefined;
  readonly perDay?: number | undefined;
  readonly variables: readonly string[];
  readonly clock: () => number;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

const count = /* @__PURE__ */ custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  "must be a whole number from 1",
);

/** Leaves room for what a signature adds, and the most that a context takes. */
const longest = 600;

const signable = /* @__PURE__ */ custom<string>(
  (value) => is(CallParams.entries.flow_url, value) && String(value).length <= longest,
  `must be an https URL of at most ${longest} characters, without user and password`,
);

const seconds = /* @__PURE__ */ custom<number>(
  (value) => typeof value === "number" && value >= 0 && value < 2 ** 31,
  "must be 0 seconds or more",
);

const isTexts = (value: unknown, shape: RegExp): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && shape.test(each));

const retryReasons: readonly unknown[] = ["busy", "no_answer", "rejected", "unreachable"];

/** The rules of the options and their defaults, in the order in which they are told. */
export const CampaignSettingsSchema: GenericSchema<unknown, CampaignSettings> =
  /* @__PURE__ */ strictObject(
    {
      from_number: CallParams.entries.from_number,
      flow_url: signable,
      status_callback_url: signable,
      record: CallParams.entries.record,
      secret: /* @__PURE__ */ custom<Secret>((value) => secretsOf(value).length > 0, secretRule),
      create: /* @__PURE__ */ custom<CampaignOptions["create"]>(isFunction, "must be a function"),
      service: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<string>((value) => typeof value === "string", "must be a string"),
        "",
      ),
      rate: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<number>(
          (value) => typeof value === "number" && value > 0 && value <= 10_000,
          "must be above 0 and at most 10 000 calls a second",
        ),
        1,
      ),
      concurrency: /* @__PURE__ */ optional(count),
      attempts: /* @__PURE__ */ optional(count),
      retryOn: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<readonly RetryReason[]>(
          (value) => Array.isArray(value) && value.every((each) => retryReasons.includes(each)),
          "must be a list of busy, no_answer, rejected and unreachable",
        ),
        ["busy", "no_answer"] as const,
      ),
      retryAfter: /* @__PURE__ */ optional(seconds, 900),
      window: /* @__PURE__ */ union(
        [
          /* @__PURE__ */ custom<"always">((value) => value === "always"),
          WindowSchema,
          /* @__PURE__ */ array(WindowSchema),
        ],
        'must be "always", or windows such as { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" }',
      ),
      until: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<Date>(
          (value) => value instanceof Date && !Number.isNaN(value.getTime()),
          "must be a date",
        ),
      ),
      settle: /* @__PURE__ */ optional(seconds, 3_750),
      notified: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<boolean>(
          (value) => typeof value === "boolean",
          "must be true or false",
        ),
        true,
      ),
      prefixes: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<readonly string[]>(
          (value) => isTexts(value, /^\+[1-9]\d{0,14}$/),
          'must be a list of starts of E.164 numbers, such as "+49"',
        ),
      ),
      perDay: /* @__PURE__ */ optional(count),
      variables: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<readonly string[]>(
          (value) => isTexts(value, /./),
          "must be a list of names",
        ),
        [] as const,
      ),
      clock: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<() => number>(isFunction, "must be a function"),
        () => () => Date.now(),
      ),
    },
    presence,
  );
