import {
  type CustomIssue,
  type CustomSchema,
  custom,
  type ErrorMessage,
  type ExactOptionalSchema,
  exactOptional,
  type ObjectEntries,
  type StrictObjectSchema,
  strictObject,
} from "valibot";
import { withDeadline } from "../http/deadline.ts";
import { readBody } from "../lib/body.ts";
import {
  fail,
  fieldsOf,
  isFunction,
  isRecord,
  presence,
  serviceRule,
  withoutThrowing,
} from "../lib/check.ts";
import { reporterOf } from "../lib/report.ts";
import type { Service } from "../service.ts";
import { RefusedException, refusedHeader, responseTo } from "./errors.ts";
import {
  isPublicUrl,
  publicUrlRule,
  type Secret,
  secretRule,
  secretsOf,
  type Token,
  tokenOf,
} from "./signed-url.ts";
import { verifyWebhook, webhookSecretsOf } from "./standard-webhooks.ts";

/** The ways to verify the sender of a request. All that are given must succeed. */
export interface Checks {
  /** Verifies the URL's token: the secret that was given to `signUrl`, or a list of secrets to accept. */
  readonly secret?: Secret;
  /**
   * Verifies the Standard Webhooks signature: a secret of the form `whsec_` and base64, or a list of
   * secrets to accept. A message is valid for 5 minutes.
   */
  readonly webhookSecret?: Secret;
  /**
   * Your own check, for a service that signs in another way. It receives the request, whose body was
   * already read, and the raw body. `timestampedHmac` creates such a check. The request is refused unless
   * the check returns `true`, and also if it throws a `RefusedException`. Any other exception is a
   * failure, not a refusal. Reading the body and this check have 10 s together (8 s in `flowHandler`).
   * A timeout is a failure too (a `TimeoutError`).
   */
  readonly verify?: (request: Request, body: Uint8Array<ArrayBuffer>) => boolean | Promise<boolean>;
  /**
   * The carrier whose requests these are, such as `twilio({ … })`: they are read in its form. If it has the secret that
   * it needs, the carrier's own signature is verified, and counts as a check.
   *
   * @defaultValue none: requests have the form of outdial's own interface
   */
  readonly service?: Service | undefined;
  /**
   * The URL that the service calls, if a proxy changes it on the way: its origin replaces that of the request, and so
   * does its path, so that the handler serves one path. The query is always that of the request. `secret` covers the
   * path, and a carrier's signature the whole URL.
   *
   * @defaultValue the URL of the request
   */
  readonly publicUrl?: string;
  /**
   * Allows that no check is given. Anybody who finds the URL can then send requests.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowUnverified?: boolean;
}

/**
 * At least one check, or the explicit permission to have none. `secret` is the last member, because
 * TypeScript's error names the last one when all are missing.
 */
export type Verification = Checks &
  (
    | { readonly dangerouslyAllowUnverified: true }
    | Required<Pick<Checks, "verify">>
    | Required<Pick<Checks, "webhookSecret">>
    | Required<Pick<Checks, "service">>
    | Required<Pick<Checks, "secret">>
  );

/** The message of the rule for functions. */
export const functionRule = "must be a function";

type Rule<T> = ExactOptionalSchema<
  CustomSchema<T, ErrorMessage<CustomIssue> | undefined>,
  undefined
>;

type Rules = { readonly [Name in keyof Checks]-?: Rule<NonNullable<Checks[Name]>> };

/** The rule of a function that may be left out. */
export const hook = <T>(): Rule<T | undefined> =>
  exactOptional(custom((value) => value === undefined || isFunction(value), functionRule));

/** A rule that an explicit `undefined` breaks, too: an environment variable that is not set would silently remove it. */
const checkRule = <T>(isKept: (value: unknown) => boolean, rule: string): Rule<T> =>
  exactOptional(
    custom<T>(isKept, ({ input }) =>
      input === undefined
        ? "is undefined: leave it out, as an unset variable must not switch a check off"
        : rule,
    ),
  );

/** The rules of the checks. */
const rules: Rules = {
  secret: checkRule((value) => !!secretsOf(value).length, secretRule),
  webhookSecret: checkRule(
    (value) => !!webhookSecretsOf(value).length,
    "must be whsec_ and base64 of 16 bytes or more, or a list of such",
  ),
  verify: checkRule(isFunction, functionRule),
  service: exactOptional(
    custom<Service>(
      (value) => value === undefined || isRecord(fieldsOf(value).application),
      serviceRule,
    ),
  ),
  publicUrl: checkRule(isPublicUrl, publicUrlRule),
  dangerouslyAllowUnverified: exactOptional(
    custom<boolean>((value) => typeof value === "boolean", "must be true or false"),
  ),
};

/** The schema of a function's options: the checks, and its own. */
export const withChecks = <Own extends ObjectEntries>(
  own: Own,
): StrictObjectSchema<Rules & Own, typeof presence> => strictObject({ ...rules, ...own }, presence);

/** @throws {BadParametersException} when no check is given, without the permission to have none */
export const requireCheck = (given: Checks): void => {
  const { secret, webhookSecret, verify, service, dangerouslyAllowUnverified } = given;
  const isVerified = secret || webhookSecret || verify || service?.application.verify;
  if (isVerified || dangerouslyAllowUnverified) return;
  fail("secret", "is missing, as are webhookSecret and verify");
};

/** The time for reading and verifying a request, in milliseconds: the service waits 10 s. */
export const readTimeout = 10_000;

/** The maximum size of a body, in bytes. */
const limit = 65_536;

/** What a handler waits for: the sender's body, or a function of the application. */
export interface Waiting {
  readonly signal: AbortSignal;
  /**
   * Names the function that is waited for next: a timeout is then the application's error, not the sender's. Throws once
   * the time is over: the sender has its response, so no further function runs.
   */
  readonly waitFor: (step: string) => void;
}

/**
 * Reads and handles a request within some milliseconds.
 *
 * @throws {RefusedException} `too_slow`, when the time passes while the body is read
 * @throws a `TimeoutError` (a `DOMException`), when it passes while a function of the application runs
 */
export const withinTime = <T>(
  timeout: number,
  work: (waiting: Waiting) => Promise<T>,
): Promise<T> => {
  let name = "";
  const late = (): Error =>
    name
      ? new DOMException(
          `${name} gave no answer within ${timeout} ms of the request`,
          "TimeoutError",
        )
      : new RefusedException("too_slow");
  return withDeadline(timeout, undefined, late, (signal, requireOpen) =>
    work({
      signal,
      waitFor: (step) => {
        requireOpen();
        name = step;
      },
    }),
  );
};

const wholeBodyOf = async (request: Request, signal: AbortSignal) => {
  const isTooLarge = Number(request.headers.get("content-length")) > limit;
  const { bytes, isWhole } = await readBody(request, isTooLarge ? -1 : limit, signal);
  if (!isWhole) throw new RefusedException("too_large");
  return bytes;
};

/** The bodies that were read, by their requests. */
const bodies = new WeakMap<WeakKey, Uint8Array>();

/**
 * The call that a request is about, as its sender says, who may be anybody; `undefined` where the body wasn't read or names
 * none. What has no letter is none: it may be a telephone number.
 */
export const claimedCall = (request: Request): string | undefined =>
  /\b(?:call_id|CallSid|uuid)"?\s*[:=]\s*"?(?=[\d:.~-]*[a-z])([\w:.~-]{1,100})/i.exec(
    new TextDecoder().decode(bodies.get(request)).replaceAll("%3A", ":"),
  )?.[1];

/**
 * The raw body of a POST from the service, and the token of its URL. The token is verified first. If it
 * is not valid, the body is not read.
 *
 * @throws {RefusedException}
 * @throws {BadParametersException} when it is not a `Request`, or its body was read already. That is a
 * failure of the application: the service should deliver again
 * @throws what `verify` throws, and {TypeError} when the body is not bytes
 */
export const verified = async (
  request: Request,
  { secret, webhookSecret, verify, service, publicUrl }: Checks,
  { signal, waitFor }: Waiting,
): Promise<{ readonly body: Uint8Array; readonly token: Token | undefined }> => {
  const { method, url, headers, bodyUsed } = fieldsOf(request);
  if (!isFunction(fieldsOf(headers).get)) fail("request", "must be a Request");
  if (method !== "POST") throw new RefusedException("wrong_method");
  const token = secret ? await tokenOf(String(url), secretsOf(secret), publicUrl) : undefined;
  if (bodyUsed || request.body?.locked) fail("request", "has a body that was read before");
  const body = await wholeBodyOf(request, signal);
  bodies.set(request, body);
  if (webhookSecret) await verifyWebhook(request, body, webhookSecretsOf(webhookSecret));
  waitFor("verify");
  const refused = await service?.application.verify?.(request, body, publicUrl);
  if (refused) throw new RefusedException(...refused);
  if (verify && (await verify(request, body)) !== true) throw new RefusedException("not_verified");
  return { body, token };
};

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (!levels || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/**
 * The message in the raw body of a verified request.
 *
 * @param read - returns the message, or `undefined` if the value is not a message
 * @param decode - of a service whose bodies are no JSON of outdial's
 * @throws {RefusedException} `not_utf8`, `not_json`, `too_deep` or `wrong_shape`
 */
export const messageIn = <T>(
  body: Uint8Array,
  read: (value: unknown) => T | undefined,
  decode: (text: string) => unknown = JSON.parse,
): T => {
  let step: "not_utf8" | "not_json" | "too_deep" | "wrong_shape" = "not_utf8";
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
    step = "not_json";
    const value = decode(text);
    step = "too_deep";
    if (!isDeeper(value, 32)) {
      step = "wrong_shape";
      const message = read(value);
      if (message) return message;
    }
  } catch {
    // The parsers' own errors quote the body, so they are dropped.
  }
  throw new RefusedException(step);
};

/**
 * Called with each refusal of a sender, and with each error that your own functions throw.
 *
 * @param call_id - the call that the request is about, once its sender is verified
 */
export type OnError = (error: unknown, request: Request, call_id?: string) => unknown;

/** What a handler does with a request. */
interface Handling {
  readonly work: (request: Request, steps: HandlingSteps) => Promise<Response>;
  /** The response to a failure, before or after the message was accepted. */
  readonly failed: (isAccepted: boolean, error: unknown) => Response | Promise<Response>;
  readonly onError: OnError | undefined;
  /** The name of what made the handler, for what is printed. */
  readonly name: string;
  /** What a probe is checked by. */
  readonly checks: Pick<Checks, "secret" | "publicUrl">;
}

interface HandlingSteps {
  /**
   * Called after the sender was verified and the message read. From then on a `RefusedException` is a failure, and
   * errors name the call.
   */
  readonly accept: (call_id: string | null) => void;
  /** Reports an error that does not change the response. */
  readonly report: (error: unknown) => void;
}

/** How long refusals are counted before one is printed again, in milliseconds. */
const printInterval = 60_000;

/** The refusals that are not printed yet, by handler and reason: a platform may make a handler for each request. */
const unprinted = new Map<string, { count: number; from: number }>();

/** Prints the first refusal, and then one a minute with their count: anybody can cause them. */
const printRefusal = (name: string, error: unknown, response: Response, request: Request): void =>
  withoutThrowing(() => {
    const key = `${name} ${response.headers.get(refusedHeader)}`;
    const refusals = unprinted.get(key) ?? { count: 0, from: 0 };
    const now = Date.now();
    refusals.count++;
    unprinted.set(key, refusals);
    // A clock may be set back.
    if (now < refusals.from && refusals.from <= now + printInterval) return;
    const call = claimedCall(request);
    const text = `outdial: ${name} refused a request${call ? ` about the call ${call}` : ""}: ${fieldsOf(error).message}`;
    console.error(refusals.count > 1 ? `${text} (${refusals.count} since the last line)` : text);
    refusals.count = 0;
    refusals.from = now + printInterval;
  });

/**
 * A handler that never rejects. A refusal's response has its status and its sentence. A failure's response
 * is that of `failed`. `onError` receives both. Without `onError` they are printed: of the refusals one a minute.
 *
 * `HEAD` and `OPTIONS` ask whether the token of their URL is valid. They call nothing, and are reported nowhere.
 */
export const handlerOf =
  ({ work, failed, onError, name, checks: { secret, publicUrl } }: Handling) =>
  async (request: Request): Promise<Response> => {
    let isAccepted = false;
    let call: string | undefined;
    const accept: HandlingSteps["accept"] = (call_id) => {
      isAccepted = true;
      call = call_id ?? undefined;
    };
    const { report } = reporterOf(
      onError &&
        ((error) => (call === undefined ? onError(error, request) : onError(error, request, call))),
    );
    const print = (error: unknown): void =>
      withoutThrowing(() =>
        call === undefined
          ? console.error(error)
          : console.error(`outdial: ${name}, call ${JSON.stringify(call)}:`, error),
      );
    const thrown = onError ? report : print;
    // What is given for a request may be anything: its fields may throw.
    const method = withoutThrowing(() => request.method);
    const isProbe = !!secret && (method === "HEAD" || method === "OPTIONS");
    try {
      if (!isProbe) return await work(request, { accept, report: thrown });
      await tokenOf(request.url, secretsOf(secret), publicUrl);
      return new Response(null, { status: 204 });
    } catch (error) {
      const refused = !isAccepted && responseTo(error);
      if (!refused) thrown(error);
      else if (onError && !isProbe) report(error);
      else if (!isProbe) printRefusal(name, error, refused, request);
      return refused || failed(isAccepted, error);
    }
  };
