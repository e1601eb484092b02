import {
  type CustomSchema,
  custom,
  type ErrorMessage,
  type GenericSchema,
  type OptionalSchema,
  optional,
  type StrictObjectIssue,
  type StrictObjectSchema,
  strictObject,
} from "valibot";
import { flag, isText, presence, ruleSchema } from "../lib/check.ts";
import { urlRule } from "../lib/url.ts";

/** An action that a call begins with, as a builder of `outdial/flows` makes it: the rest of it is in its builder's type. */
export interface CallFlow {
  /** `gather` is none: the answer needs a server. */
  readonly action: "say" | "play" | "dial" | "stream" | "hangup";
  /** None: a step needs a server. */
  readonly next?: undefined;
}

/** Who calls whom, and what the service does beside the call. */
export interface CallFields {
  /** Who calls: a number of the account's, in E.164: `+` and 7 to 15 digits. */
  readonly from_number: string;
  /** Who is called, in E.164: `+` and 7 to 15 digits. */
  readonly to_number: string;
  /**
   * Where the service sends notifications about the call: a URL by the rule of `flow_url`.
   *
   * @defaultValue none with a carrier: read the call by `get` or `ended`. Without `service` it is required
   */
  readonly status_callback_url?: string | undefined;
  /**
   * Whether the call is recorded.
   *
   * @defaultValue `true`, filled in by the service: a call is recorded unless you say so
   */
  readonly record?: boolean | undefined;
}

/** A call whose flow is at a URL. */
export interface FlowAtUrl {
  /**
   * Where the service asks what to do, once somebody has answered: an absolute `https:` URL of at most
   * 2083 characters, without user and password; `http:` on loopback only where `baseUrl` is, too.
   */
  readonly flow_url: string;
  /** None: the flow is at the URL. */
  readonly flow?: undefined;
}

/** A call whose flow is in the request. */
export interface FlowInRequest {
  /**
   * What the call does, once somebody has answered, in the place of `flow_url`: what `say`, `play` or another builder of
   * `outdial/flows` returned. It needs no server; what asks, continues at a step or branches does. With a carrier it needs the
   * whole service: `twilio({ … })`, not `twilioCalls({ … })`.
   */
  readonly flow: CallFlow;
  /** None: the flow is in the request. */
  readonly flow_url?: undefined;
}

/**
 * What `calls.create` takes: the parameters of a call, by the names that they have on the wire, with `flow_url` or `flow`.
 *
 * @see docs/flows.md
 */
export type CallParams = CallFields & (FlowAtUrl | FlowInRequest);

/** A call whose flow and notifications are at URLs, as a list places it. */
export interface CallAtUrls extends CallFields, FlowAtUrl {
  /** Where the service sends notifications about the call: a URL by the rule of `flow_url`. */
  readonly status_callback_url: string;
}

/** What a builder knows of its action for a request. */
export interface RequestFlow {
  /** What no exception may have of it: texts, and numbers as `+` and digits. */
  readonly secrets: readonly string[];
  /** Rejects with the refusal of a service with outdial's own interface: it may take no flow in the request. */
  readonly explain: (refusal: unknown) => Promise<never>;
  /** The action in outdial's own interface. */
  readonly toJSON: () => object;
}

/** The actions that builders have made. */
const built = new WeakMap<object, (params: Pick<CallParams, "flow_url">) => RequestFlow>();

/**
 * Keeps what a builder knows of its action, so that a request can have it, and a bundle that only places calls no schema.
 *
 * @param read - throws a `BadParametersException` for what can't be in a request
 */
export const keepBuilt = (
  action: object,
  read: (params: Pick<CallParams, "flow_url">) => RequestFlow,
): void => {
  built.set(action, read);
};

/** Whether a builder has made an action. */
export const isBuilt = (action: unknown): action is CallFlow => built.has(Object(action));

/** @throws {BadParametersException} for a flow that can't be in a request */
export const requestFlowOf = (
  params: Pick<CallParams, "flow" | "flow_url">,
): RequestFlow | undefined => params.flow && built.get(params.flow)?.(params);

const number: CustomSchema<string, string> = custom(
  (value) => isText(value) && /^\+[1-9]\d{6,14}$/.test(value),
  'must be an E.164 number: "+" and 7 to 15 digits',
);

const url: GenericSchema<string> = ruleSchema((value) => urlRule(value));

const flow: GenericSchema<CallFlow> = custom(isBuilt, "must be made by say() or the like");

/**
 * The parameters of a call, by the names they have on the wire. Unknown fields are refused: a typo
 * must not dial with a default.
 *
 * | field | shape | default |
 * |---|---|---|
 * | `from_number`, `to_number` | E.164: `+` and 7 to 15 digits | required |
 * | `flow_url`, `status_callback_url` | absolute `https:` URL of at most 2083 characters, without user and password; `http:` on loopback, which `create` takes only when `baseUrl` is itself on loopback | `create` requires `flow_url` or `flow`, and `status_callback_url` without `service` |
 * | `flow` | what a builder of `outdial/flows` returned | in the place of `flow_url` |
 * | `record` | boolean | `true`, filled in by the service |
 *
 * @example Check a field of a form before the call
 * ```ts
 * import { CallParams } from "outdial/calls";
 * import { is } from "valibot";
 *
 * console.log(is(CallParams.entries.to_number, "0170 123")); // false
 * ```
 */
export const CallParams: StrictObjectSchema<
  {
    readonly from_number: CustomSchema<string, string>;
    readonly to_number: CustomSchema<string, string>;
    readonly flow_url: OptionalSchema<GenericSchema<string>, undefined>;
    readonly flow: OptionalSchema<GenericSchema<CallFlow>, undefined>;
    readonly status_callback_url: OptionalSchema<GenericSchema<string>, undefined>;
    readonly record: OptionalSchema<GenericSchema<boolean>, undefined>;
  },
  ErrorMessage<StrictObjectIssue>
> = strictObject(
  {
    from_number: number,
    to_number: number,
    flow_url: optional(url),
    flow: optional(flow),
    status_callback_url: optional(url),
    record: optional(flag),
  },
  presence,
);
