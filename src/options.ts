import { custom, type GenericSchema, optional, strictObject } from "valibot";
import type { OnAttempt } from "./request/attempt.ts";
import { check, presence } from "./rules/check.ts";
import { isKey } from "./rules/key.ts";
import { isFunction } from "./rules/kind.ts";
import { isPage } from "./rules/page.ts";
import { routeOf } from "./rules/url.ts";

/** What sends a request: the platform's `fetch`, or anything that answers as it does. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The key, or what gives it. */
export type ApiKey = string | (() => string | Promise<string>);

/**
 * What a caller may configure.
 */
export interface Options {
  /**
   * The account's key, or a function that gives it (out of a secrets manager, after a rotation).
   * The function is asked once a call, and once more after a 403: only if it then gives another key
   * is the call tried again.
   */
  readonly apiKey: ApiKey;
  /**
   * The service's https URL, with or without a path prefix or `/api/v1` at its end; http on loopback
   * hosts only. Required: there is no default service.
   */
  readonly baseUrl: string;
  /**
   * Milliseconds for everything from the key to the checked answer, or `false` for no deadline.
   *
   * @defaultValue 10 000, on every runtime
   */
  readonly timeout?: number | false | undefined;
  /** Ends the call early: `create` rejects with the signal's own reason, as fetch does. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Sends the request. It is called without `this`, and must neither follow redirects when the request
   * says `redirect: "manual"`, nor send a request twice. When it fails, `placed` is `"maybe"` even where
   * the platform's would be known never to have connected: what else it did can't be known.
   *
   * @defaultValue the platform's `fetch`, looked up at each call
   */
  readonly fetch?: Fetch | undefined;
  /**
   * Which of the interface's two paths is used. `"auto"` goes on to the second when the first is
   * absent (404 or 405, so nothing was dialled); a `Client` remembers which one answered.
   *
   * @defaultValue `"auto"`
   */
  readonly path?: "auto" | "calls" | "voice/calls" | undefined;
  /**
   * How often a 429 (so nothing was dialled) is tried again, after its `Retry-After` (1 s when it
   * has none) and within the deadline.
   *
   * @defaultValue 0
   */
  readonly retries?: number | undefined;
  /**
   * Further request headers: none that carries the key, or belongs to the body or the connection.
   *
   * @defaultValue on servers a `User-Agent`, `outdial/` and the version
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Hears of each POST once it is over: its method, URL without query, number, milliseconds, status,
   * request id and `placed`; never the key, a number or the body. For a log line, or a span. What it
   * throws is ignored, and a promise of it isn't waited for.
   */
  readonly onAttempt?: OnAttempt | undefined;
  /**
   * Allows a key in a web page, where every visitor can read it.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

/** The options of one call, checked and complete. */
export interface Settings {
  readonly apiKey: ApiKey;
  readonly baseUrl: string;
  readonly timeout: number | false;
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: Fetch | undefined;
  readonly path: "auto" | "calls" | "voice/calls";
  readonly retries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly onAttempt?: OnAttempt | undefined;
}

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;

/** The headers that are ours, the body's or the connection's. */
const reserved =
  /^(x-api-key|content-.*|host|connection|keep-alive|transfer-encoding|upgrade|expect|te|trailer)$/i;

const isHeaders = (value: unknown): boolean =>
  Object(value) === value &&
  !(Symbol.iterator in Object(value)) &&
  Object.entries(Object(value)).every(
    ([name, text]) => headerName.test(name) && !reserved.test(name) && isKey(text),
  );

/** The rules of the options and their defaults, in the order in which they are told. */
const SettingsSchema: GenericSchema<unknown, Settings> = /* @__PURE__ */ strictObject(
  {
    apiKey: /* @__PURE__ */ custom<ApiKey>(
      (value) => isFunction(value) || isKey(value),
      "must be a legal header value, or a function: is the environment variable set?",
    ),
    baseUrl: /* @__PURE__ */ custom<string>(
      (value) => !!routeOf(value) && !/[?#]|\/initiate\/*$/.test(String(value)),
      "must be an https URL without user, password, query, fragment and endpoint; http on loopback only",
    ),
    timeout: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<number | false>(
        (value) => value === false || (typeof value === "number" && value > 0 && value < 2 ** 31),
        "must be above 0 ms and below 2 ** 31 ms, or false",
      ),
      10_000,
    ),
    signal: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<AbortSignal>(
        (value) =>
          isFunction(Object(value).addEventListener) &&
          isFunction(Object(value).removeEventListener),
        "must be an AbortSignal",
      ),
    ),
    fetch: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<Fetch>(isFunction, "must be a function"),
    ),
    path: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<Settings["path"]>(
        (value) => value === "auto" || value === "calls" || value === "voice/calls",
        'must be "auto", "calls" or "voice/calls"',
      ),
      "auto",
    ),
    retries: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<number>(
        (value) => Number.isInteger(value) && Number(value) >= 0,
        "must be a whole number from 0",
      ),
      0,
    ),
    headers: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<Settings["headers"]>(
        isHeaders,
        "must be legal and not X-API-Key, nor one of the body or the connection",
      ),
      {},
    ),
    onAttempt: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<OnAttempt>(isFunction, "must be a function"),
    ),
    dangerouslyAllowBrowser: /* @__PURE__ */ optional(
      /* @__PURE__ */ custom<boolean>(
        (value) => value === true || (value === false && !isPage()),
        "must be true in a web page, where everyone can read the key",
      ),
      false,
    ),
  },
  presence,
);

/** A copy of what may be read only once: a getter may give something else the next time. */
const copied = (value: unknown): unknown =>
  Object(value) === value && !(Symbol.iterator in Object(value)) ? { ...Object(value) } : value;

/**
 * The checked options of a call: a copy, its defaults filled in.
 *
 * @param given - the options, and what they are to be put over
 * @throws {BadParametersException} (`placed: "no"`) naming each option and its rule
 */
export const settingsOf = (...given: readonly unknown[]): Settings =>
  check(SettingsSchema, () => {
    const { headers, ...options }: { headers?: unknown } = Object.assign({}, ...given);
    return headers === undefined ? options : { ...options, headers: copied(headers) };
  });
