import { safeParse } from "valibot";
import {
  BadParametersException,
  type ExceptionFacts,
  ServiceException,
  TimeoutException,
} from "../errors.ts";
import { type Options, type Settings, SettingsSchema } from "../options.ts";
import { pause, withDeadline } from "../request/deadline.ts";
import { redactor } from "../request/redact.ts";
import { factsOf, refusal } from "../request/refusal.ts";
import { post, readText } from "../request/transport.ts";
import { check } from "../rules/check.ts";
import { isKey } from "../rules/key.ts";
import { isLoopback, routeOf } from "../rules/url.ts";
import { Call } from "./call.ts";
import { CallParams } from "./params.ts";

/** What a client keeps from one call for the next. */
export interface Memory {
  /** The path that answered. */
  path?: string | undefined;
}

const checkParams = (params: unknown, { baseUrl }: Settings): CallParams => {
  const checked = check(CallParams, () => params);
  for (const param of ["flow_url", "status_callback_url"] as const) {
    if (routeOf(checked[param]) === "loopback" && !isLoopback(baseUrl)) {
      throw new BadParametersException([{ param, message: "must be https, as baseUrl is remote" }]);
    }
  }
  return checked;
};

const askForKey = async (apiKey: Settings["apiKey"]): Promise<string> => {
  let key: unknown = apiKey;
  try {
    if (typeof apiKey === "function") key = await apiKey();
  } catch {
    key = undefined; // The error may name the secret it was after.
  }
  if (isKey(key)) return key;
  throw new BadParametersException([
    { param: "apiKey", message: "must give a string that is a legal header value" },
  ]);
};

/** The call in either form of the answer: under `data`, or bare. */
const callIn = (text: string): unknown => {
  try {
    const answer = JSON.parse(text);
    const { data, ...rest } = answer;
    return data?.id ? { ...rest, ...data } : answer;
  } catch {
    return;
  }
};

/** `create`, with options that are checked already, and with what a client remembers. */
export const place = async (
  params: CallParams,
  settings: Settings,
  memory: Memory,
): Promise<Call> => {
  const { apiKey, timeout, path, fetch = globalThis.fetch, signal: caller } = settings;
  const checked = checkParams(params, settings);
  const json = JSON.stringify(checked);
  const base = `${settings.baseUrl.replace(/\/*(\/api\/v1)?\/*$/, "")}/api/v1`;
  const ends = timeout ? Date.now() + timeout : Number.POSITIVE_INFINITY;
  let facts: ExceptionFacts = { placed: "no" };

  const work = async (signal: AbortSignal): Promise<Call> => {
    let key = await askForKey(apiKey);
    const secrets = [key, checked.from_number, checked.to_number];
    let { retries } = settings;
    let askAgain = true; // A key that is a string gives itself again.
    const paths = path === "auto" ? ["calls", "voice/calls"] : [path];
    if (memory.path === paths[1]) paths.reverse();
    for (;;) {
      const redact = redactor(...secrets);
      const headers = { ...settings.headers, "X-API-Key": key, "Content-Type": "application/json" };
      facts = { placed: "maybe" };
      // Deno's fetch sends a POST again, when a kept connection dies under it, if it can copy the
      // body. A Blob it can't; elsewhere one only costs, a sixth of the call on Node.
      const body = "Deno" in globalThis ? new Blob([json]) : json;
      const init = { headers, body, signal };
      const response = await post(`${base}/${paths[0]}/initiate`, init, fetch, redact);
      facts = factsOf(response);
      const { ok, status, redirected } = response;
      const absent = status === 404 || status === 405;
      if (!absent) memory.path = paths[0];
      if (ok && !redirected) {
        const call = safeParse(Call, callIn(await readText(response, signal, redact)));
        if (call.success) return call.output;
        throw new ServiceException(`HTTP ${status} without the id of a call`, facts);
      }
      const text = await readText(response, signal, redact).catch(() => "");
      const refused = refusal(response, text, redact);
      // What follows is safe to repeat, since nothing was placed.
      if (absent && paths.length > 1) {
        paths.shift();
      } else if (status === 403 && askAgain) {
        askAgain = false;
        const other = await askForKey(apiKey);
        if (other === key) throw refused;
        key = other;
        secrets.push(key);
      } else if (status === 429 && retries-- > 0) {
        const wait = (refused.retryAfter ?? 1) * 1000;
        if (Date.now() + wait >= ends || wait >= 2 ** 31) throw refused;
        await pause(wait, signal);
      } else throw refused;
    }
  };

  const late = () => new TimeoutException(`No answer within ${timeout} ms`, facts);
  return withDeadline(timeout, caller, late, work);
};

/**
 * Places a call: one POST, and a second only where the first can't have placed anything (see
 * `Options`: `path`, `apiKey`, `retries`).
 *
 * @param params - who calls whom, and where the service asks what to do and tells what happened
 * @param options - the key, the service and how to reach it
 * @returns the call: its `id`, and whatever else the service sent
 * @throws {BadParametersException} before any request (`placed: "no"`): a rule is broken
 * @throws {UnauthorizedException} 401 (`"no"`)
 * @throws {ForbiddenException} 403 (`"no"`): the key, or a `from_number` that is not the account's
 * @throws {TimeoutException} the deadline passed (`"maybe"`; `"no"` before anything was sent)
 * @throws {NetworkException} never connected (`"no"`), or connection lost (`"maybe"`)
 * @throws {ServiceException} any other answer: 3xx and 4xx (`"no"`), 5xx and a 2xx without a call id
 * (`"maybe"`)
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example Place a call
 * ```ts
 * import { calls } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
 * const call = await calls.create(
 *   {
 *     from_number: "+12025550199",
 *     to_number: "+12025550100",
 *     flow_url: "https://app.test/flow",
 *     status_callback_url: "https://app.test/status",
 *   },
 *   { apiKey, baseUrl: "https://emulator.test", fetch },
 * );
 * console.log(call.id); // cs_…
 * ```
 * @see interface.md, section 4 (Endpoints)
 */
export const create = async (params: CallParams, options: Options): Promise<Call> =>
  place(
    params,
    check(SettingsSchema, () => options),
    {},
  );
