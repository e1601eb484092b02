import {
  array,
  custom,
  type GenericSchema,
  is,
  lazy,
  type OptionalSchema,
  optional,
  strictObject,
} from "valibot";
import { type Secret, secretRule, secretsOf } from "../callbacks/signed-url.ts";
import type { Call, LiveCall } from "../calls/call.ts";
import { type CallAtUrls, CallParams } from "../calls/params.ts";
import {
  check,
  fail,
  fieldsOf,
  flag,
  isFunction,
  isText,
  presence,
  withoutThrowing,
} from "../lib/check.ts";
import type { CallOptions } from "../options.ts";
import type { Service } from "../service.ts";
import { type Window, WindowSchema } from "./calling-hours.ts";
import { isRetryReason, type RetryReason, retryReasons } from "./disposition.ts";
import type { RetryRules } from "./next-step.ts";

/** What a campaign knows of a carrier. */
export type CampaignService = Pick<Service, "name" | "account" | "callsPerSecond">;

/** What a campaign reads of a call: a `LiveCall` of `outdial/calls` has it. */
export type CallState = Pick<
  LiveCall,
  "state" | "reason" | "duration" | "answered_by" | "cost" | "currency"
>;

/** The options of a campaign. Durations are in milliseconds. */
export interface CampaignOptions {
  /**
   * Who calls, in E.164. Of several numbers each contact gets one, by a hash of its own number, and keeps it at each
   * attempt, also when the list of numbers changes.
   */
  readonly from_number: string | readonly string[];
  /** Where the service asks what to do. It is signed for each attempt. */
  readonly flow_url: string;
  /**
   * The name by which the ledger knows the flow, where its URL may change, such as that of a tunnel. A ledger is refused
   * to another flow.
   *
   * @defaultValue `flow_url`
   */
  readonly flowName?: string | undefined;
  /** Where the service sends notifications; pass them to `note`. It is signed for each attempt. */
  readonly status_callback_url: string;
  /**
   * Whether calls are recorded: people must be informed.
   *
   * @defaultValue left out, so the service's own: `true`
   */
  readonly record?: boolean | undefined;
  /**
   * What the URLs are signed with, as for `signUrl`: at least 16 characters. It is kept nowhere. The ledger has a digest
   * of each secret under which somebody was erased, and is refused without them: after a change, keep the old ones in
   * the list, after the new one.
   */
  readonly secret: Secret;
  /**
   * Places one call: `(params, options) => client.calls.create(params, options)`. The `placed` of what it throws decides
   * whether the contact may be called again; it must not retry by itself. Its second argument has `notAfter`: when the
   * contact's calling hours or the campaign end; and `beforeSend`, by which a POST waits while `rate` others were sent
   * within a second. A `create` that drops it may ring after the hours and exceed the rate, and is a warning in the plan of
   * `sync`.
   */
  readonly create: (
    params: CallAtUrls,
    options: Pick<CallOptions, "notAfter" | "beforeSend" | "idempotencyKey">,
  ) => Promise<Call>;
  /**
   * Whether the service keeps `Idempotency-Key`, as docs/service.md says; no carrier does. `create` then gets `idempotencyKey`
   * beside `notAfter`, and must pass it on. An attempt whose answer was lost is asked for again with its key and the same
   * body, within 10 minutes of its claim, with `account` also after a restart; never after a notification of it, nor where
   * hours, `until`, a block or a pause forbid a call.
   *
   * @defaultValue `false`: no attempt is asked for again
   */
  readonly idempotent?: boolean | undefined;
  /**
   * Which account `create` calls with, for `idempotent`: a text that is another one for another account or service, such as
   * base URL and API key. A service keeps keys for each account, so an attempt that was claimed with another text is not
   * asked for again. The ledger has only an HMAC of it with each attempt, by `secret`. Where `apiKey` is a function, give the
   * account's id: the keys that it returns must be of that account while the campaign is open.
   *
   * @defaultValue unknown: no attempt is asked for again after a restart
   */
  readonly account?: string | undefined;
  /**
   * Reads a call: `(id) => get(id, options)` with `get` of `outdial/calls`. A call whose final notification hasn't come 90 s
   * after it was placed is asked for, again and again at growing intervals, and its end counts as a notified one: no
   * lost notification holds its slot, and no call whose id is known ends as `unknown`. At most `concurrency / 60` calls are
   * asked for in a second, or one. An answer that doesn't come within 30 s is no longer waited for, and the call is asked
   * for again.
   *
   * @defaultValue none: only notifications end a call
   */
  readonly get?: ((id: string) => Promise<CallState>) | undefined;
  /**
   * Ends a call: `(id) => end(id, options)` with `end` of `outdial/calls`. `endCalls` needs it.
   *
   * @defaultValue none
   */
  readonly end?: ((id: string) => Promise<unknown>) | undefined;
  /**
   * The carrier, such as `twilio({ … })`, or a name of the service, such as its base URL: a ledger is refused to another
   * one, and with a carrier to another account. A `rate` above the carrier's `callsPerSecond` is refused: a call that
   * the carrier queues may ring outside the window.
   *
   * @defaultValue `""`
   */
  readonly service?: string | CampaignService | undefined;
  /**
   * POSTs that are sent in a second, at most, also where the key takes its time; it may be less than one. The network and
   * the service may bring them closer together.
   *
   * @defaultValue 1
   */
  readonly rate?: number | undefined;
  /**
   * Calls that are live at once, at most, by their notifications.
   *
   * @defaultValue 10
   */
  readonly concurrency?: number | undefined;
  /**
   * Attempts for each contact, the first one included; at most 100. With an object as `retryOn` it is an upper limit
   * for each reason.
   *
   * @defaultValue 1; with an object as `retryOn`, none
   */
  readonly attempts?: number | undefined;
  /**
   * The reasons in a final notification that another attempt follows: a list, or an object in which each reason has its
   * own delay and number of attempts, such as
   * `{ busy: { after: 300_000, attempts: 3 }, no_answer: { after: 7_200_000 } }`.
   *
   * @defaultValue `["busy", "no_answer"]`
   */
  readonly retryOn?: readonly RetryReason[] | RetryRules | undefined;
  /**
   * Milliseconds between the end of an attempt and the next, where `retryOn` is a list. When a ledger is opened again with another
   * delay, it counts for the contacts that wait already.
   *
   * @defaultValue 900 000 (15 minutes)
   */
  readonly retryDelay?: number | undefined;
  /**
   * Attempts that `callBack` adds for a contact, at most; from 0 to 100.
   *
   * @defaultValue 1
   */
  readonly callBacks?: number | undefined;
  /** The hours in which calls may be placed: one window, several, or `"always"`. */
  readonly window: "always" | Window | readonly Window[];
  /**
   * No call begins from then on.
   *
   * @defaultValue none
   */
  readonly until?: Date | undefined;
  /**
   * Milliseconds from the start of a call until it frees its slot and counts as `unknown`, unless a final
   * notification came: longer than the longest call; at least 1 000.
   *
   * @defaultValue 3 750 000: half a minute of ringing, an hour's call, and the notifications' retries
   */
  readonly settleTimeout?: number | undefined;
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
   * The variables of a contact that its `flow_url` carries, signed: at most 50 names and 700
   * bytes. Whatever is in a URL gets into logs. No other variable is kept.
   *
   * @defaultValue none
   */
  readonly variables?: readonly string[] | undefined;
  /**
   * What time it is, in milliseconds since 1970. With a clock of `virtualClock` of `outdial/testing` nothing waits in real
   * time.
   *
   * @defaultValue `Date.now`
   */
  readonly clock?: (() => number) | undefined;
}

/** The options that each of several services has of its own. */
const ownOptions = [
  "from_number",
  "flow_url",
  "status_callback_url",
  "create",
  "account",
  "get",
  "end",
  "service",
  "rate",
  "concurrency",
] as const;

type OwnOption = (typeof ownOptions)[number];

const isOwn = (option: string): boolean => ownOptions.some((own) => own === option);

/** One of several services that a campaign calls by: its options are those of a campaign with one. */
export interface NamedService
  extends Pick<
    CampaignOptions,
    | ("from_number" | "flow_url" | "status_callback_url" | "create" | "account" | "get")
    | ("end" | "service" | "rate" | "concurrency")
  > {
  /**
   * What the ledger, `results` and `note` know it by: a lowercase letter, and then at most 31 of them, digits, `_` and `-`.
   * A ledger belongs to the names: one may be added, and one that has live calls must stay.
   */
  readonly name: string;
}

/**
 * The options of a campaign that calls by several services. A contact is claimed for one that has a free slot; a service
 * that can't be reached, or refuses every call, pauses alone, and the others go on.
 */
export interface ServicesOptions
  extends Omit<
    CampaignOptions,
    | ("from_number" | "flow_url" | "status_callback_url" | "create" | "account" | "get")
    | ("end" | "service" | "rate" | "concurrency")
  > {
  /** The services, in the order in which they are asked for a free slot. */
  readonly services: readonly NamedService[];
}

/** The options that have a default. */
type Defaulted =
  | ("account" | "service" | "rate" | "retryOn" | "retryDelay" | "callBacks" | "settleTimeout")
  | ("notified" | "variables" | "clock");

/** The options, checked and complete. */
export type CampaignSettings = Omit<CampaignOptions, Defaulted> & {
  readonly [Name in Defaulted]-?: NonNullable<CampaignOptions[Name]>;
};

/** What holds for the whole list, whichever service calls. */
export type ListSettings = Omit<CampaignSettings, OwnOption>;

/** What holds for the calls of one service: the list's settings, with its own. */
export interface ServiceSettings extends CampaignSettings {
  /** Its name, where there may be others. */
  readonly name?: string | undefined;
}

const wholeNumber = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  custom<number>(
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
    `must be a whole number from ${least}${most < Number.MAX_SAFE_INTEGER ? ` to ${most}` : ""}`,
  );

const count = wholeNumber(1);

const mostAttempts = 100;

const attempts = wholeNumber(1, mostAttempts);

const someText = custom<string>((value) => isText(value) && value !== "", "must be a text");

const callable = <T>() => custom<T>(isFunction, "must be a function");

const mostNames = 50;

/** The longest URL, in characters: it leaves room for a signature and the longest context. */
const maxUrl = 600;

const signable = custom<string>(
  (value) =>
    is(CallParams.entries.flow_url.wrapped, value) && new URL(String(value)).href.length <= maxUrl,
  `must be an https URL of at most ${maxUrl} characters, as it is sent, without user and password`,
);

const milliseconds = (least: number) =>
  custom<number>(
    (value) => typeof value === "number" && value >= least && value < 1000 * 2 ** 31,
    `must be a number of milliseconds, ${least} or more`,
  );

/** The rule of the retries, by the kind of the value: an issue names the field that is wrong. */
const retryRules = (value: unknown): GenericSchema<unknown, CampaignSettings["retryOn"]> => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return custom<readonly RetryReason[]>(
      (list) => Array.isArray(list) && list.every(isRetryReason),
      `must be a list of some of ${retryReasons.join(", ")}, or an object of them`,
    );
  }
  const rule = strictObject({ after: milliseconds(0), attempts: optional(attempts) }, presence);
  return strictObject(
    Object.fromEntries(retryReasons.map((reason) => [reason, optional(rule)])),
    presence,
  );
};

/** The rule of the senders, by the kind of the value. */
const senderRules = (value: unknown): GenericSchema<unknown, string | readonly string[]> => {
  const { from_number } = CallParams.entries;
  if (!Array.isArray(value)) return from_number;
  return value.length > 0
    ? array(from_number)
    : custom<never>(() => false, "must be one number or more");
};

/** The rule of the hours, by the kind of the value: an issue names the field that is wrong. */
const windowRules = (value: unknown): GenericSchema<unknown, CampaignOptions["window"]> => {
  if (Array.isArray(value)) {
    return value.length > 0
      ? array(WindowSchema)
      : custom<never>(() => false, "must be one window or more");
  }
  if (typeof value === "object" && value !== null) return WindowSchema;
  return custom<"always">(
    () => value === "always",
    'must be "always", or windows such as { days: "mon-fri", from: "09:00", to: "20:00", timezone: "Europe/Berlin" }',
  );
};

const isService = (value: unknown): boolean => {
  const { name, account, callsPerSecond } = fieldsOf(value);
  return isText(value) || (isText(name) && isText(account) && Number(callsPerSecond) > 0);
};

const isTexts = (value: unknown, shape: RegExp): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string" && shape.test(each));

/** Calls a second. */
export const defaultRate = 1;

/** Calls that are live at once. */
export const defaultConcurrency = 10;

/** The rule of `secret`. */
export const secretOption: GenericSchema<unknown, Secret> = custom<Secret>(
  (value) => secretsOf(value).length > 0,
  secretRule,
);

/** The rule of `clock`, and its default, which is looked up at each call. */
export const clockOption: OptionalSchema<
  GenericSchema<unknown, () => number>,
  () => () => number
> = optional(callable<() => number>(), () => () => Date.now());

/** How long an attempt holds its slot without a final notification, in milliseconds. */
export const defaultSettleTimeout = 3_750_000;

/** The rules of the options and their defaults, in the order of their issues. */
const schema = strictObject(
  {
    from_number: lazy(senderRules),
    flow_url: signable,
    flowName: optional(someText),
    status_callback_url: signable,
    record: CallParams.entries.record,
    secret: secretOption,
    create: callable<CampaignOptions["create"]>(),
    idempotent: optional(flag),
    // Another one each time it is opened: what was claimed before may be of another account.
    account: optional(someText, () => crypto.randomUUID()),
    get: optional(callable<NonNullable<CampaignOptions["get"]>>()),
    end: optional(callable<NonNullable<CampaignOptions["end"]>>()),
    service: optional(
      custom<string | CampaignService>(isService, "must be a carrier, or a string"),
      "",
    ),
    rate: optional(
      custom<number>(
        (value) => typeof value === "number" && value > 0 && value <= 10_000,
        "must be above 0 and at most 10 000 calls a second",
      ),
      defaultRate,
    ),
    concurrency: optional(count),
    attempts: optional(attempts),
    retryOn: optional(lazy(retryRules), ["busy", "no_answer"] as const),
    retryDelay: optional(milliseconds(0), 900_000),
    callBacks: optional(wholeNumber(0, mostAttempts), 1),
    window: lazy(windowRules),
    until: optional(
      custom<Date>(
        (value) => value instanceof Date && !Number.isNaN(value.getTime()),
        "must be a date",
      ),
    ),
    settleTimeout: optional(milliseconds(1_000), defaultSettleTimeout),
    notified: optional(
      custom<boolean>((value) => typeof value === "boolean", "must be true or false"),
      true,
    ),
    prefixes: optional(
      custom<readonly string[]>(
        (value) => isTexts(value, /^\+[1-9]\d{0,14}$/) && value.length > 0,
        'must be a list of one or more starts of E.164 numbers, such as "+49"',
      ),
    ),
    perDay: optional(count),
    variables: optional(
      custom<readonly string[]>(
        (value) => isTexts(value, /./) && value.length <= mostNames,
        `must be a list of at most ${mostNames} names`,
      ),
      [] as const,
    ),
    clock: clockOption,
  },
  presence,
);

const nameShape =
  'such as "main": a lowercase letter, and then at most 31 of them, digits, "_" and "-"';

/** The rule of the name of a service, if a value breaks it. */
export const serviceNameRule = (name: unknown): string | undefined =>
  isText(name) && /^[a-z][a-z\d_-]{0,31}$/.test(name) ? undefined : `must be a name, ${nameShape}`;

/** The rule of the names of services. */
const nameRule = `must have names of their own, ${nameShape}`;

const ownRule = "is each service's own: give it in services";

/**
 * The settings of each service: of one without a name, or of several.
 *
 * @throws {BadParametersException}
 */
export const servicesOf = (
  options: CampaignOptions | ServicesOptions,
): readonly [ServiceSettings, ...ServiceSettings[]] => {
  const given = withoutThrowing(() => fieldsOf(options).services);
  if (given === undefined) return [check(schema, () => options)];
  const names = new Set<unknown>();
  const all = [given].flat().map((each): ServiceSettings => {
    const { name, ...own } = fieldsOf(each);
    if (!isText(name) || serviceNameRule(name) || names.has(name)) fail("services", nameRule);
    names.add(name);
    const { services: _, ...list } = fieldsOf(options);
    for (const option of Object.keys(own)) if (!isOwn(option)) fail(option, "is unknown");
    for (const option of ownOptions) if (option in list) fail(option, ownRule);
    return { ...check(schema, () => ({ ...list, ...own })), name };
  });
  const [first, ...others] = all;
  return first ? [first, ...others] : fail("services", nameRule);
};

/** What is allowed, and probably not meant. */
export const warningsOf = (
  services: readonly Pick<CampaignOptions, "create">[],
): readonly string[] =>
  services.some(({ create }) => create.length < 2)
    ? [
        "create takes one parameter, so a call may begin after the calling hours: write create: (params, options) => client.calls.create(params, options)",
      ]
    : [];
