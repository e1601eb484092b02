import {
  array,
  custom,
  type GenericSchema,
  is,
  minLength,
  optional,
  pipe,
  strictObject,
  union,
} from "valibot";
import { type Secret, secretRule, secretsOf } from "../callbacks/url/token.ts";
import { CallParams } from "../calls/params.ts";
import { presence } from "../rules/check.ts";
import { isFunction } from "../rules/kind.ts";
import type { CampaignOptions, RetryReason } from "./options.ts";
import { WindowSchema } from "./window/window.ts";

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

const count = /* @__PURE__ */ custom<number>(
  (value) => Number.isSafeInteger(value) && Number(value) > 0,
  "must be a whole number from 1",
);

/** Leaves room for what a signature adds, and the most that a context takes. */
const longest = 600;

const signable = /* @__PURE__ */ custom<string>(
  (value) =>
    is(CallParams.entries.flow_url, value) && new URL(String(value)).href.length <= longest,
  `must be an https URL of at most ${longest} characters, as it is sent, without user and password`,
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
          /* @__PURE__ */ pipe(
            /* @__PURE__ */ array(WindowSchema),
            /* @__PURE__ */ minLength(1, "must be one window or more"),
          ),
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
