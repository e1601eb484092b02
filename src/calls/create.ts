import { type InferOutput, safeParse } from "valibot";
import {
  BadParametersException,
  type ExceptionFacts,
  ServiceException,
  TimeoutException,
} from "../errors.ts";
import { pause, type RequireOpen, withDeadline } from "../http/deadline.ts";
import { type EncodedCall, initOf, measured, type Send, sendsOnce } from "../http/post.ts";
import { holdsKey, redactor } from "../http/redact.ts";
import {
  headOf,
  networkException,
  readText,
  requestIdOf,
  responseException,
} from "../http/response.ts";
import { check, fail, fieldsOf, isKey, withoutThrowing } from "../lib/check.ts";
import { apiOf, isLoopback } from "../lib/url.ts";
import { type CarrierClient, type Options, type Settings, settingsOf } from "../options.ts";
import { Call } from "./call.ts";
import { CallParams, requestFlowOf } from "./params.ts";

/** What a client remembers between calls. */
export interface Memory {
  /** The path at which the service last responded. */
  path?: Settings["path"];
}

/** The settings that attempts need: of a carrier, only how a request is encoded. */
export type PlacingSettings = Omit<Settings, "service"> & {
  readonly service?: { readonly client: Pick<CarrierClient, "encodeCall" | "keyOf"> } | undefined;
};

/** What all attempts of a call share. */
export interface Placing {
  readonly settings: PlacingSettings;
  readonly params: CallParams;
  /** The telephone numbers, and the texts of a flow, that no exception may have. */
  readonly numbers: readonly string[];
  readonly json: string;
  readonly send: Send;
  readonly signal: AbortSignal;
  readonly requireOpen: RequireOpen;
  /** When the deadline passes, by `performance.now()`. */
  readonly ends: number;
  readonly progress: Progress;
}

/** How far a call has come. Before the first request, `placed` is `"no"`. */
export interface Progress {
  facts: ExceptionFacts;
  posts: number;
  /** With it what may have placed a call is sent again; dropped after an answer of another host or about another call. */
  idempotencyKey?: string | false | undefined;
  /** When the first POST was sent, by the machine's clock, which goes on while the machine sleeps. */
  began?: number;
  /** The keys and other secrets, and the pieces of secrets, of all POSTs. */
  readonly secrets: string[];
  readonly pieces: string[];
}

/** For how many milliseconds since its first POST a call is asked for: a service keeps a key for twice as long. */
const askedFor = 12 * 3_600_000;

/** What the next attempt uses. */
interface Plan {
  /** The paths to try, the next one first. */
  readonly paths: Settings["path"][];
  /** Absent before the account's key was asked for. */
  key?: string | undefined;
  /** Whether the account's key was asked for again. */
  isOtherKey?: true;
  retries: number;
}

/** An error before a POST, as the exception that also says that no call was placed. */
const refusalOf = (error: unknown): BadParametersException => {
  // The text of an error of the caller's own service may hold the key.
  const issues = [{ param: "service", message: "could not encode the call" }];
  return new BadParametersException(
    error instanceof BadParametersException ? error.issues : issues,
    "no",
  );
};

/** Runs a check of `create`'s input. */
const inCall = <T>(check: () => T): T => {
  try {
    return check();
  } catch (error) {
    throw refusalOf(error);
  }
};

/** What the schema of the parameters returns. */
type CheckedParams = InferOutput<typeof CallParams>;

/**
 * Checks the fields whose rules need other fields and the options.
 *
 * @throws {BadParametersException} that names a field
 */
function checkTogether(
  params: CheckedParams,
  { baseUrl, service }: Settings,
): asserts params is CallParams {
  for (const [param, instead] of [
    ["flow_url", params.flow],
    ["status_callback_url", service],
  ] as const) {
    const url = params[param];
    if (!(url || instead)) fail(param, "is missing");
    if (/^http:/i.test(`${url}`) && !isLoopback(baseUrl)) {
      fail(param, "must be https, as baseUrl is remote");
    }
  }
}

/**
 * The key: the option `apiKey`, or the result of that function. It must be a legal header value, and must not occur
 * anywhere else in the request.
 */
const keyFor = async ({ settings, json, progress }: Placing): Promise<string> => {
  const { apiKey, baseUrl, headers, service } = settings;
  let key: unknown = apiKey;
  try {
    if (typeof apiKey === "function") key = await apiKey();
    key = service?.client.keyOf?.(key) ?? key;
  } catch {
    key = undefined; // The error may name the secret that was looked up.
  }
  if (!isKey(key)) return fail("apiKey", "must give a legal header value");
  if (
    holdsKey(key, [baseUrl, json, progress.idempotencyKey, ...Object.values(headers)].join("\n"))
  ) {
    fail("apiKey", "must not be in a URL, a parameter or another header");
  }
  progress.secrets.push(key);
  return key;
};

/** The call in outdial's own response: the object in `data`, or the body itself. */
const callIn = (body: unknown): unknown => {
  const { data, ...rest } = fieldsOf(body);
  return fieldsOf(data).id ? { ...rest, ...fieldsOf(data) } : body;
};

/** Makes the exception for a deadline that has passed. */
const lateAfter = (timeout: number | false, progress: Progress) => () =>
  new TimeoutException(`No answer within ${timeout} ms`, progress.facts);

/** The request for a call in outdial's own interface, as `encodeCall` of a service makes it in the carrier's. */
export const encodeCall = (params: CallParams, baseUrl: string, key: string): EncodedCall => ({
  url: `${apiOf(baseUrl)}/calls/initiate`,
  headers: { "X-API-Key": key, "Content-Type": "application/json" },
  body: JSON.stringify({ ...params, flow: requestFlowOf(params) }),
});

/** The request of the next attempt. */
const encode = async (placing: Placing, plan: Plan): Promise<EncodedCall> => {
  const { settings, params, json, progress } = placing;
  const { baseUrl, service } = settings;
  plan.key ??= await keyFor(placing);
  if (!service) {
    // As `encodeCall`, which would cost each bundle some bytes here.
    return {
      url: `${apiOf(baseUrl)}/${plan.paths[0]}/initiate`,
      headers: {
        "X-API-Key": plan.key,
        "Content-Type": "application/json",
        ...(progress.idempotencyKey && { "Idempotency-Key": progress.idempotencyKey }),
      },
      body: json,
    };
  }
  const encoded = await service.client.encodeCall(params, baseUrl, plan.key);
  // A token of an earlier POST is still valid.
  progress.secrets.push(...(encoded.secrets ?? []));
  progress.pieces.push(...(encoded.pieces ?? []));
  return encoded;
};

/** Sends one POST. Returns the call that it placed, or the exception. */
const attempt = async (
  { settings, numbers, send, signal, progress, requireOpen }: Placing,
  encoded: EncodedCall,
): Promise<Call | ServiceException> => {
  const { fetch, headers, notAfter, onAttempt, service } = settings;
  const { url } = encoded;
  const { placed: before } = progress.facts;
  const learn = (facts: ExceptionFacts, isForeign?: unknown): void => {
    // What comes after this POST's time is not about the next one.
    if (signal.aborted) return;
    // What an earlier POST may have placed, no refusal of a later one takes back.
    progress.facts = before === "no" ? facts : { ...facts, placed: before };
    if (isForeign) progress.idempotencyKey = "";
  };
  const redaction = () => redactor(progress.secrets, numbers, progress.pieces);
  let reportAttempt: ReturnType<typeof measured> | undefined;
  let isSingle: ReturnType<typeof sendsOnce> | undefined;
  const begin = (): Promise<Response> => {
    const init = initOf(encoded, headers, signal);
    const now = Date.now();
    progress.began ??= now;
    const late =
      progress.idempotencyKey && now - progress.began >= askedFor
        ? "The key is too old to ask again"
        : now >= Number(notAfter) && "notAfter has passed";
    requireOpen(late && new TimeoutException(late, { placed: before }));
    isSingle = sendsOnce(fetch);
    progress.facts = { placed: "maybe" };
    progress.posts++;
    if (onAttempt) {
      reportAttempt = measured(onAttempt, url, progress);
      signal.addEventListener("abort", () => reportAttempt?.());
    }
    return (fetch ?? globalThis.fetch)(url, init);
  };
  try {
    const head = (encoded.headOf ?? headOf)(await send(url, begin), url, signal);
    const { status: code, placed, ok } = head;
    const requestId = !ok || onAttempt ? requestIdOf(head, redaction()) : undefined;
    learn({ code, placed, requestId }, head.isMoved);
    const read = readText(head, signal);
    const text = await (ok ? read : read.catch(() => ""));
    const body: unknown = withoutThrowing(() => JSON.parse(text));
    const call = safeParse(Call, service ? body : callIn(body));
    if (!ok) {
      // A carrier's refusal that has the id of a call contradicts itself: nothing may follow it.
      if (service && call.success) learn({ ...progress.facts, placed: "maybe" });
      return responseException(progress.facts, head, text, redaction());
    }
    const { from_number, to_number } = fieldsOf(call.output);
    const isForeign =
      progress.idempotencyKey &&
      ((from_number ?? numbers[0]) !== numbers[0] || (to_number ?? numbers[1]) !== numbers[1]);
    if (call.success && !isForeign) {
      reportAttempt?.("yes");
      return call.output;
    }
    learn(progress.facts, isForeign);
    return new ServiceException(`HTTP ${code} without the id of a call`, progress.facts);
  } catch (error) {
    // The error may be of any class, also of this package: the caller's `fetch` may throw anything.
    const isUnanswered = before === "no" && !progress.facts.code;
    const lost = networkException(error, redaction(), isUnanswered && !!isSingle?.());
    learn({ ...progress.facts, placed: lost.placed });
    return lost;
  } finally {
    reportAttempt?.();
  }
};

/** Prepares the next attempt after a response that placed no call. False: there is none. */
type Repeat = (
  plan: Plan,
  failed: ServiceException,
  placing: Placing,
) => boolean | Promise<boolean>;

const onOtherPath: Repeat = ({ paths }) => {
  paths.shift();
  return paths.length > 0;
};

const withOtherKey: Repeat = async (plan, _, placing) => {
  const { key: old, isOtherKey } = plan;
  if (isOtherKey) return false;
  placing.requireOpen();
  plan.key = await keyFor(placing).catch(() => old);
  plan.isOtherKey = true;
  return plan.key !== old;
};

/** The shortest pause after so many POSTs with a key, in seconds. */
const pauseAfter = (posts: number): number => Math.min(2 ** posts / 10, 2);

const afterPause: Repeat = async (plan, { retryAfter }, { ends, signal, progress }) => {
  const least = progress.idempotencyKey ? pauseAfter(progress.posts) : 0;
  const wait = Math.max(retryAfter ?? Number(!least), least) * 1000;
  // With a key only the deadline ends the asking.
  const isLast = !least && plan.retries-- < 1;
  if (isLast || performance.now() + wait >= ends) return false;
  if (wait >= (least ? askedFor : 2 ** 31)) return false;
  await pause(wait, signal);
  return true;
};

/** The HTTP statuses after which a repetition is safe, as the service has placed no call. No others are. */
const repeats: Readonly<Record<number, Repeat>> = {
  403: withOtherKey,
  404: onOtherPath,
  405: onOtherPath,
  410: onOtherPath,
  429: afterPause,
};

/**
 * The outcomes after which a service that keeps the key is asked again, as status and reason: it can say what became of
 * the call. In the place of a status that never came is what may have been placed.
 */
const unsettled = /^(maybe|[25]..|429|409 idempotency_in_progress$)/;

/** Repeats attempts until a call is placed, or until no repetition is safe. */
export const attempts = async (placing: Placing, memory: Memory): Promise<Call> => {
  const { progress, ends } = placing;
  const { path, retries, service, timeout } = placing.settings;
  const paths: Settings["path"][] = path === "auto" ? ["calls", "voice/calls"] : [path];
  if (memory.path === paths[1]) paths.reverse();
  const plan: Plan = { paths, retries };
  let last: ServiceException | undefined;
  for (;;) {
    const encoded = await encode(placing, plan).catch((error) => {
      // Another key that can't be used: the refusal of the first one is of more use.
      throw last ?? refusalOf(error);
    });
    try {
      await placing.settings.beforeSend?.();
    } catch (error) {
      // After a 429 the error by itself wouldn't say that nothing was placed.
      throw progress.facts.placed === "no" && last?.code !== 429 ? error : last;
    }
    // One of several POSTs waits a third of the time, so that something is left to ask again with; the last one waits for all of it.
    const limit = Math.ceil((timeout || 9_000) / 3);
    const next = performance.now() + limit + pauseAfter(progress.posts + 1) * 1000;
    const outcome = await (progress.idempotencyKey
      ? withDeadline(next < ends && limit, placing.signal, lateAfter(limit, progress), (signal) =>
          attempt({ ...placing, signal }, encoded),
        ).catch((error) => error)
      : attempt(placing, encoded));
    if (!(outcome instanceof ServiceException)) {
      memory.path = paths[0];
      return outcome;
    }
    const { code, placed, reason } = outcome;
    const isAsked = progress.idempotencyKey && unsettled.test(`${code ?? placed} ${reason}`);
    // A carrier refuses a key with 401, too.
    const refusal = placed === "no" && (code === 401 && service ? 403 : code);
    const repeat = isAsked ? afterPause : repeats[refusal || 0];
    if (code && repeat !== onOtherPath) memory.path = paths[0];
    if (!(await repeat?.(plan, outcome, placing))) throw outcome;
    last = outcome;
  }
};

/** A random key of 36 characters: `crypto.randomUUID`, which takes a tenth of the time, is absent in a page without https. */
const randomKey = (): string =>
  crypto.randomUUID?.() ??
  crypto
    .getRandomValues(new Uint8Array(36))
    .map((byte) => byte % 10)
    .join("");

/**
 * Places a call.
 *
 * @param given - the parameters, unchecked
 * @param settingsOfCall - returns the checked options
 * @param memory - what the client remembers
 */
export const place = async (
  given: CallParams,
  settingsOfCall: () => Settings,
  memory: Memory,
  send: Send,
): Promise<Call> => {
  const [params, settings, flow] = inCall(() => {
    const checked: CheckedParams = check(CallParams, () => given, "params");
    const options = settingsOfCall();
    checkTogether(checked, options);
    return [checked, options, requestFlowOf(checked)] as const;
  });
  const { timeout, signal: caller, idempotent } = settings;
  // No request of a service of the caller's own has the key.
  const idempotencyKey =
    !settings.service && (settings.idempotencyKey ?? (idempotent && randomKey()));
  const progress: Progress = {
    facts: { placed: "no" },
    ...{ posts: 0, idempotencyKey, secrets: [], pieces: [] },
  };
  const call = withDeadline(
    timeout,
    caller,
    lateAfter(timeout, progress),
    (signal, requireOpen, ends) =>
      attempts(
        {
          numbers: [params.from_number, params.to_number, ...(flow?.secrets ?? [])],
          json: JSON.stringify({ ...params, flow }),
          ...{ settings, params, progress, send, signal, requireOpen, ends },
        },
        memory,
      ),
  );
  return flow && !settings.service ? call.catch(flow.explain) : call;
};

/** Makes the function `create` of an entry, which needs no client. */
export const creator =
  (send: Send) =>
  (params: CallParams, options: Options): Promise<Call> =>
    place(params, () => settingsOf(() => options), {}, send);
