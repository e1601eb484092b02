import { safeParse } from "valibot";
import { type ExceptionFacts, ServiceException, TimeoutException } from "../errors.ts";
import { type Options, type Settings, settingsOf } from "../options.ts";
import { readText } from "../request/answer/read.ts";
import { watched } from "../request/attempt.ts";
import { type Gate, pause, withDeadline } from "../request/deadline.ts";
import { networkException } from "../request/exception/failure.ts";
import { type Redaction, redactor } from "../request/exception/redact.ts";
import { refusal, requestIdOf } from "../request/exception/refusal.ts";
import { bodyOf, userAgent } from "../request/platform.ts";
import { isPlatforms, post } from "../request/post.ts";
import type { Send } from "../request/send/send.ts";
import { check } from "../rules/check.ts";
import { isKey } from "../rules/key.ts";
import { quietly } from "../rules/quietly.ts";
import { refuse } from "../rules/refuse.ts";
import { apiOf, isLoopback, routeOf } from "../rules/url.ts";
import { Call } from "./call.ts";
import { CallParams } from "./params.ts";

/** What a client keeps from one call for the next. */
export interface Memory {
  /** The path that answered. */
  path?: string | undefined;
}

const checkParams = (params: unknown, baseUrl: string): CallParams => {
  const checked = check(CallParams, () => params);
  for (const param of ["flow_url", "status_callback_url"] as const) {
    if (routeOf(checked[param]) === "loopback" && !isLoopback(baseUrl)) {
      refuse(param, "must be https, as baseUrl is remote");
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
  return isKey(key) ? key : refuse("apiKey", "must give a legal header value");
};

/** A key belongs into one header: a parameter, a URL or another header that holds it is a mistake. */
const forbidElsewhere = (key: string, texts: readonly string[]): void => {
  if (key.length < 8 || !texts.some((text) => text.includes(key))) return;
  refuse("apiKey", "must not stand in a URL, a parameter or another header");
};

/** The call in either form of the answer: under `data`, or bare. */
const callIn = (text: string): unknown =>
  quietly(() => {
    const answer = JSON.parse(text);
    const { data, ...rest } = answer;
    return data?.id ? { ...rest, ...data } : answer;
  });

/**
 * `create`, with options that are checked already, with what a client remembers, and through what
 * sends.
 */
export const place = async (
  params: CallParams,
  settings: Settings,
  memory: Memory,
  send: Send,
): Promise<Call> => {
  const { apiKey, baseUrl, timeout, path, signal: caller, fetch, onAttempt } = settings;
  const checked = checkParams(params, baseUrl);
  const json = JSON.stringify(checked);
  const base = apiOf(baseUrl);
  let posts = 0;
  /** What is known of the call so far: until something was sent, nothing can have been placed. */
  let facts: ExceptionFacts = { placed: "no" };

  /** One POST: the call that it placed, or why there is none. */
  const attempt = async (
    url: string,
    key: string,
    signal: AbortSignal,
    gate: Gate,
    redaction: () => Redaction,
  ): Promise<Call | ServiceException> => {
    let tell = (_?: "yes"): void => {};
    const begin = () => {
      gate();
      facts = { placed: "maybe" };
      posts++;
      if (!onAttempt) return;
      tell = watched(onAttempt, url, posts, () => facts);
      signal.addEventListener("abort", () => tell());
    };
    const headers = {
      ...userAgent(settings.headers),
      ...settings.headers,
      "X-API-Key": key,
      "Content-Type": "application/json",
    };
    try {
      const answer = await post(send, fetch, url, { headers, signal, ...bodyOf(json, url) }, begin);
      const { status, placed, ok } = answer;
      facts = { code: status, placed };
      if (!ok || onAttempt) facts = { ...facts, requestId: requestIdOf(answer, redaction()) };
      const text = readText(answer, signal, isPlatforms(fetch));
      if (!ok) return refusal(facts, answer, await text.catch(() => ""), redaction());
      const call = safeParse(Call, callIn(await text));
      if (!call.success)
        return new ServiceException(`HTTP ${status} without the id of a call`, facts);
      tell("yes");
      return call.output;
    } catch (error) {
      // Of any make, also one of this package's: a fetch of the caller's may throw what it likes.
      const lost = networkException(error, redaction(), isPlatforms(fetch) && !facts.code);
      facts = { ...facts, placed: lost.placed };
      return lost;
    } finally {
      tell();
    }
  };

  const work = async (signal: AbortSignal, gate: Gate, ends: number): Promise<Call> => {
    const ask = async (): Promise<string> => {
      const key = await askForKey(apiKey);
      forbidElsewhere(key, [base, json, ...Object.values(settings.headers)]);
      return key;
    };
    const keys = [await ask()];
    const redaction = () => redactor(keys, [checked.from_number, checked.to_number]);
    let { retries } = settings;
    let askAgain = true; // A key that is a string gives itself again.
    const paths = path === "auto" ? ["calls", "voice/calls"] : [path];
    if (memory.path === paths[1]) paths.reverse();
    for (;;) {
      const [key = ""] = keys;
      const done = await attempt(`${base}/${paths[0]}/initiate`, key, signal, gate, redaction);
      if (!(done instanceof ServiceException)) {
        memory.path = paths[0];
        return done;
      }
      const { code, placed, retryAfter = 1 } = done;
      const isAbsent = code === 404 || code === 405;
      if (code && !isAbsent) memory.path = paths[0];
      // What follows is safe to repeat, since nothing was placed.
      if (placed !== "no") throw done;
      if (isAbsent && paths.length > 1) {
        paths.shift();
      } else if (code === 403 && askAgain) {
        askAgain = false;
        gate();
        const other = await ask().catch(() => key);
        if (other === key) throw done;
        keys.unshift(other);
      } else if (code === 429 && retries-- > 0) {
        const wait = retryAfter * 1000;
        if (performance.now() + wait >= ends || wait >= 2 ** 31) throw done;
        await pause(wait, signal);
      } else throw done;
    }
  };

  const late = () => new TimeoutException(`No answer within ${timeout} ms`, facts);
  return withDeadline(timeout, caller, late, work);
};

/** `place` for whoever keeps nothing. */
export const placeOnce = async (params: CallParams, options: Options, send: Send): Promise<Call> =>
  place(params, settingsOf(options), {}, send);
