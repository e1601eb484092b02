import { custom, type GenericSchema, optional, strictObject } from "valibot";
import type { CallParams } from "./calls/params.ts";
import type { EncodedCall, Fetch, OnAttempt } from "./http/post.ts";
import {
  check,
  fieldsOf,
  flag,
  isFunction,
  isKey,
  isPage,
  isRecord,
  isText,
  kindOf,
  presence,
  ruleSchema,
  withoutThrowing,
} from "./lib/check.ts";
import { urlRule } from "./lib/url.ts";

/** The account's key, or a function that returns it. */
export type ApiKey = string | (() => string | Promise<string>);

/** The URL of a service: one declaration, so that editors show its text whatever else the options have. */
export interface ServiceUrl {
  /**
   * The https URL of the service, with or without a path prefix or `/api/v1` at its end; http on loopback
   * hosts only. With a carrier it is that of the carrier's API, for a gateway or an emulator.
   *
   * @defaultValue none: it is required without `service`. With a carrier its own, for the region of its options
   */
  readonly baseUrl: string;
}

/** Where calls are placed: with a carrier, or at a service with outdial's own interface. */
export type Endpoint =
  | ((ServiceUrl | { readonly baseUrl?: undefined }) & {
      /** A carrier, made by a function of its own entry: `twilio({ … })` of `outdial/twilio`. */
      readonly service: CallService;
      /** A carrier has a path of its own. */
      readonly path?: undefined;
    })
  | (ServiceUrl & {
      /** None: the service speaks outdial's own interface. */
      readonly service?: undefined;
      /**
       * Which of the interface's two paths is used. `"auto"` tries the second when the first is absent
       * (404, 405 or 410, so nothing was dialled); a `Client` remembers which one answered.
       *
       * @defaultValue `"auto"`
       */
      readonly path?: "auto" | "calls" | "voice/calls" | undefined;
    });

/** The options of `calls.create` that do not depend on the service. */
export interface CallOptions {
  /**
   * The account's key, or a function that returns it (from a secrets manager, after a rotation).
   * The function is called once per call, and once more after a 403 (with a carrier also after its 401): only
   * if it then returns another key is the call tried again. A key of 8 characters or more is refused in a URL,
   * a parameter or another header. With a carrier the key is the carrier's own secret.
   */
  readonly apiKey: ApiKey;
  /**
   * Milliseconds for everything from the key to the checked response, or `false` for no deadline.
   *
   * @defaultValue 10 000, on every runtime
   */
  readonly timeout?: number | false | undefined;
  /**
   * Aborts the call: `create` rejects with the signal's reason, as fetch does, or with an `AbortError`
   * where the signal has none.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * No request is sent from then on, by the machine's clock, which is read directly before each one: past it the call
   * fails with a `TimeoutException`, and `placed` is `"no"`. A slow key, a busy process or a machine that slept then
   * rings nobody late.
   *
   * @defaultValue none
   */
  readonly notAfter?: Date | undefined;
  /**
   * Awaited directly before each request, once the key is known and the call is encoded: a program that limits how many
   * requests it sends in a second waits here. `notAfter` is looked at after it. When it rejects, nothing is sent, and the
   * call fails by that, or by the answer before it: a 429, or one after which a call may have been placed.
   *
   * @defaultValue none
   */
  readonly beforeSend?: (() => unknown) | undefined;
  /**
   * Sends the request. It is called without `this`, and must neither follow redirects when the request
   * has `redirect: "manual"`, nor send a request twice. When it fails, `placed` is `"maybe"`, even for
   * an error by which the platform's own `fetch` would show that it never connected.
   *
   * @defaultValue the platform's `fetch`, looked up at each call
   */
  readonly fetch?: Fetch | undefined;
  /**
   * How often a 429 (so nothing was dialled) is tried again, after its `Retry-After` (1 s when it
   * has none) and within the deadline.
   *
   * @defaultValue 0
   */
  readonly retries?: number | undefined;
  /**
   * Whether the service keeps `Idempotency-Key`, as docs/service.md says: the emulator does, no carrier. Each
   * `create` then sends a key of its own. After a lost answer, a 5xx, an unreadable 2xx, a 429, or a 409
   * `idempotency_in_progress` it sends the same POST again, to the same URL with the same key and body, until the deadline, with
   * growing pauses from 0.2 to 2 s or the service's `Retry-After`; one POST waits a third of `timeout` for its answer, 3 s
   * without one, and the last one until the deadline. Once a POST may have placed a call, `placed` stays `"maybe"`, until the id of the call comes. At a service
   * that does not keep keys each such POST is one more call.
   *
   * @defaultValue `false`: nothing that may have placed a call is sent twice
   */
  readonly idempotent?: boolean | undefined;
  /**
   * A key of your own, of one call, such as the id of a queue's message: 1 to 64 letters, digits, `_` and `-`. It implies
   * `idempotent`. A call that was already placed with the key and the same body is returned, for 24 hours.
   *
   * @defaultValue with `idempotent` a random one for each `create`
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Further request headers: none that holds the key, or describes the body or the connection.
   *
   * @defaultValue on servers a `User-Agent`, `outdial/` and the version
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Called with each POST once it is over: its method, URL without query, number, milliseconds, status,
   * request id and `placed`; never the key, a number or the body. For a log line, or a span. What it
   * throws is ignored, and its promise is not awaited.
   */
  readonly onAttempt?: OnAttempt | undefined;
  /**
   * Allows a key in a web page, where every visitor can read it.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** The options of `calls.create`. */
export type Options = CallOptions & Endpoint;

/** The options of one call, checked and with their defaults. */
export type Settings = Readonly<
  Omit<CallOptions, "dangerouslyAllowBrowser"> & {
    [Name in "timeout" | "retries" | "headers"]: NonNullable<CallOptions[Name]>;
  } & {
    baseUrl: string;
    /** Undefined with a carrier. */
    path?: "auto" | "calls" | "voice/calls" | undefined;
    service?: CallService | undefined;
  }
>;

type Checked = Settings & { readonly dangerouslyAllowBrowser: boolean };

const baseUrlRule = (value: unknown): string | undefined => {
  const rule = urlRule(value);
  if (rule) return rule;
  if (/[?#]/.test(String(value))) return "must be without a query and a fragment";
  const [endpoint] = /(\/api\/v1)?(\/voice)?(\/calls)?\/initiate\/*$/.exec(String(value)) ?? [];
  return endpoint && `must be without the endpoint: drop "${endpoint}", the client adds it`;
};

const timeoutRule = (value: unknown): string | undefined => {
  if (value === false) return;
  if (typeof value !== "number") {
    return `must be a number of milliseconds, not ${kindOf(value)}, or false`;
  }
  return value > 0 && value < 2 ** 31
    ? undefined
    : "must be above 0 ms and below 2 ** 31 ms, or false";
};

/** A header's name; not the client's own, nor one of the body or the connection. */
const headerName =
  /^(?!(x-api-key|idempotency-key|content-.*|host|connection|keep-alive|transfer-encoding|upgrade|expect|te|trailer)$)[\w!#$%&'*+.^`|~-]+$/i;

/** Whether headers are an object of names and texts, not a `Headers`, a `Map` or a list. */
const isPlain = (headers: unknown): headers is Readonly<Record<string, unknown>> =>
  isRecord(headers) && !(Symbol.iterator in headers);

export const isHeaders = (value: unknown): boolean =>
  isPlain(value) &&
  Object.entries(value).every(([name, text]) => headerName.test(name) && isKey(text));

export const isSignal = (value: unknown): value is AbortSignal => {
  const { addEventListener, removeEventListener } = fieldsOf(value);
  return isFunction(addEventListener) && isFunction(removeEventListener);
};

/** The rule and the default of each option, in the order in which broken rules are listed. */
export const entries: {
  readonly [Name in keyof Checked]-?: GenericSchema<unknown, Checked[Name]>;
} = {
  apiKey: custom<ApiKey>(
    (value) => isFunction(value) || isKey(value),
    "must be a legal header value, or a function: is the environment variable set?",
  ),
  baseUrl: ruleSchema<string>(baseUrlRule),
  timeout: optional(ruleSchema<number | false>(timeoutRule), 10_000),
  signal: optional(custom<AbortSignal>(isSignal, "must be an AbortSignal")),
  notAfter: optional(
    custom<Date>(
      (value) => value instanceof Date && !Number.isNaN(Number(value)),
      "must be a valid Date",
    ),
  ),
  beforeSend: optional(custom<() => unknown>(isFunction, "must be a function")),
  fetch: optional(custom<Fetch>(isFunction, "must be a function")),
  path: optional(
    custom<Settings["path"]>(
      (value) => value === "auto" || value === "calls" || value === "voice/calls",
      'must be "auto", "calls" or "voice/calls"',
    ),
    "auto",
  ),
  retries: optional(
    custom<number>(
      (value) => Number.isInteger(value) && Number(value) >= 0,
      "must be a whole number from 0",
    ),
    0,
  ),
  idempotent: optional(flag),
  idempotencyKey: optional(
    custom<string>(
      (value) => isText(value) && /^[\w-]{1,64}$/.test(value),
      'must be 1 to 64 letters, digits, "_" and "-"',
    ),
  ),
  headers: optional(
    custom<Settings["headers"]>(
      isHeaders,
      "must be legal and not X-API-Key, nor one of the body or the connection",
    ),
    {},
  ),
  onAttempt: optional(custom<OnAttempt>(isFunction, "must be a function")),
  dangerouslyAllowBrowser: optional(
    custom<boolean>(
      (value) => value === true || (value === false && !isPage()),
      "must be true in a web page, where everyone can read the key",
    ),
    false,
  ),
  service: optional(custom<undefined>(() => false, "must be made by twilio() or the like")),
};

const SettingsSchema: GenericSchema<unknown, Settings> = strictObject(entries, presence);

/**
 * The checked options of a call: a copy, with defaults.
 *
 * @param read - returns the options; a getter of the caller's may throw in it
 * @throws {BadParametersException} that names each option and its rule
 */
export const settingsOf = (read: () => { readonly service?: CallService | undefined }): Settings =>
  check(withoutThrowing(() => read().service?.client.settings) ?? SettingsSchema, () => {
    const options: Record<string, unknown> = { ...fieldsOf(read()) };
    // Each header is read once: a getter may return something else the next time.
    if (isPlain(options.headers)) options.headers = { ...options.headers };
    return options;
  });

/** The settings of each client, which have its key: nothing outside this package can read them. */
const clients = new WeakMap<object, () => Settings>();

/**
 * Keeps the settings of a client, for functions that take one in the place of options.
 *
 * @param settings - throws a `BadParametersException` once the client was disposed of
 */
export const keepClient = (client: object, settings: () => Settings): void => {
  clients.set(client, settings);
};

/** Whether a value is a client, and not its options. */
export const isKeptClient = (given: unknown): boolean => clients.has(Object(given));

/**
 * The settings of a client, or the checked options.
 *
 * @throws {BadParametersException} that names each option and its rule
 */
export const settingsOfEither = (
  given: { readonly service?: CallService | undefined } | object,
): Settings => clients.get(Object(given))?.() ?? settingsOf(() => given);

/** How calls are placed with a carrier. */
export interface CarrierClient {
  /**
   * The schema of the options of a call, with the carrier's own rules of `apiKey`, `baseUrl`, `path` and `headers`.
   */
  readonly settings: GenericSchema<unknown, Settings>;
  /** Converts a key, such as a PEM, into a header value; absent where every key is one. */
  readonly keyOf?: (given: unknown) => unknown;
  /**
   * Called once for each POST, before it is sent.
   *
   * @param baseUrl - the option, or the carrier's default
   * @throws {BadParametersException} for what the carrier can't do, by the field, and for a key that can't be
   * used: no call was placed. What else it throws becomes one that names `service`, without that error's text
   */
  readonly encodeCall: (
    params: CallParams,
    baseUrl: string,
    key: string,
  ) => EncodedCall | Promise<EncodedCall>;
}

/** What places calls with a carrier, without what answers its requests. */
export interface CallService {
  /** Its name, as errors, the command line and the dashboard show it: `"twilio"`. */
  readonly name: string;
  /** The account at the carrier, which is no secret: a ledger belongs to service and account. */
  readonly account: string;
  /** Calls per second that the account may begin: above it a carrier queues or refuses. */
  readonly callsPerSecond: number;
  /** How its calls are placed. */
  readonly client: CarrierClient;
}
