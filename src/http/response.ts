import {
  type ExceptionFacts,
  type FieldError,
  ForbiddenException,
  NetworkException,
  type Placed,
  ServiceException,
  UnauthorizedException,
} from "../errors.ts";
import { type BodySource, chunksOf, maxChunks } from "../lib/body.ts";
import { fieldsOf, isText, withoutThrowing } from "../lib/check.ts";
import type { Redaction } from "./redact.ts";

const classes: Readonly<Record<number, typeof ServiceException>> = {
  401: UnauthorizedException,
  403: ForbiddenException,
};

/** The upper limit of `retryAfter`, in seconds: about 68 years. */
const longestWait = 2 ** 31;

/**
 * `Retry-After`: a number of seconds, or the seconds until an HTTP date. Anything else counts as
 * absent. `Date.parse` also accepts texts that are not dates, so the text must contain a time.
 */
const secondsOf = (retryAfter: string, { hasSecret }: Redaction): number | undefined => {
  if (!/^\d+$|:/.test(retryAfter) || retryAfter.length > 999 || hasSecret(retryAfter)) return;
  const date = /\D/.test(retryAfter);
  const seconds = date ? (Date.parse(retryAfter) - Date.now()) / 1000 : Number(retryAfter);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, Math.ceil(seconds)), longestWait);
};

/** The maximum number of field errors, and of parts of a path. */
const maxErrors = 32;

const fieldErrors = (list: unknown, { redact }: Redaction): readonly FieldError[] | undefined => {
  if (!Array.isArray(list)) return;
  const textOf = (value: unknown) => redact(value) ?? "";
  return list.slice(0, maxErrors).map((each) => {
    const { loc = [], msg, type } = fieldsOf(each);
    return {
      loc: [loc].flat().slice(0, maxErrors).map(textOf),
      msg: textOf(msg),
      type: textOf(type),
    };
  });
};

/** A constant of the service, such as `from_number_not_provisioned`, for programs to compare. */
const constant = (value: unknown, { redact }: Redaction): string | undefined => {
  const text = redact(value);
  return text && text === String(value) && /^[\w.:/#-]{1,100}$/.test(text) ? text : undefined;
};

/** The facts in the body of an error response: limited in size, without secrets. */
const explanation = (
  text: string,
  requestId: string | undefined,
  redaction: Redaction,
): Partial<ExceptionFacts> => {
  const body = fieldsOf(withoutThrowing(() => JSON.parse(text)));
  const reason = constant(body.code, redaction);
  const type = constant(body.type, redaction);
  const own = redaction.redact([body.detail, body.message].find(isText));
  const errors = fieldErrors(body.errors, redaction) ?? fieldErrors(body.detail, redaction);
  const lines = errors?.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  const fields = errors?.map((each) => Object.values(each));
  // Several pieces may form a secret when they are joined.
  const pieces = [own, reason, type, requestId, fields].flat(3);
  if (redaction.hasSecret(pieces.join(" "))) return {};
  return { reason, type, errors, detail: own ?? redaction.redact(lines) };
};

/** The service's id of the request. Absent if it contains a secret. */
export const requestIdOf = ({ header }: Head, { hasSecret }: Redaction): string | undefined => {
  const id = header("x-request-id") || header("request-id");
  return id && id.length <= 200 && !hasSecret(id) ? id : undefined;
};

/**
 * The exception for a response that is not a 2xx. A body has one of two forms: `detail`, which is a
 * text or a list, or `message` with `errors`. For any other body the exception has no detail.
 *
 * @param facts - what is known from the head
 */
export const responseException = (
  facts: ExceptionFacts,
  { status, header }: Head,
  text: string,
  redaction: Redaction,
): ServiceException => {
  const explained = explanation(text, facts.requestId, redaction);
  return new (classes[status] ?? ServiceException)(
    `HTTP ${status} ${explained.detail?.slice(0, 300) ?? ""}`.trim(),
    { ...facts, ...explained, retryAfter: secondsOf(header("retry-after"), redaction) },
  );
};

/**
 * Error codes that mean that no connection was made, so nothing was sent: the name has no address, no
 * process listens on the port, the connect timed out, or the handshake refused the certificate. TLS
 * alerts are not included: with TLS 1.3 an alert may arrive after the request was sent. A space and the syscall
 * follow the code: some codes mean the same only if that is `connect`, as a read may fail with them too.
 */
const unconnected =
  /^((ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|((DEPTH_ZERO_)?SELF_SIGNED_|ERR_TLS_)?CERT(_\w+)?|UNABLE_TO_\w+) (?!read|write)|E((NET|HOST)UNREACH|TIMEDOUT) connect$)/;

/** Messages of errors without a code: Deno's connect and permission errors, and ports that fetch blocks. */
const unsent =
  /^(error sending request for url \(\S+\): client error \(Connect\): |Requires net access to |Fetch failed: Requests to port \d+ are blocked$|bad port$)/;

/** Code, message and syscall of the innermost error: ky and fetch wrap it in errors that hold the request. */
const innermost = (error: unknown, depth = 5): readonly string[] => {
  const { cause, code = "", message = "", syscall = "" } = fieldsOf(error);
  return cause && depth ? innermost(cause, depth - 1) : [code, message, syscall].map(String);
};

/**
 * The exception for a request without a response.
 *
 * @param isSingle - whether `fetch` sends at most once and no head had arrived. Otherwise an earlier try
 * may have sent the request before this one failed to connect
 */
export const networkException = (
  error: unknown,
  { redact }: Redaction,
  isSingle: boolean,
): NetworkException => {
  // Its getters may throw.
  const [code = "", message = "", syscall] = withoutThrowing(() => innermost(error)) ?? [];
  const what = "The connection failed";
  // Bun's message begins with its code.
  const reasons = [what, message.startsWith(code) ? "" : code, message];
  const isUnsent = code ? unconnected.test(`${code} ${syscall}`) : unsent.test(message);
  return new NetworkException(redact(reasons.filter(Boolean).join(": ")) ?? what, {
    placed: isSingle && isUnsent ? "no" : "maybe",
  });
};

/** The head of a response, read once: a `fetch` of the caller's may return anything. */
export interface Head {
  /** The HTTP status. */
  readonly status: number;
  /** Whether it is a 2xx from the URL that was requested. */
  readonly ok: boolean;
  /** Whether it came through a redirect, from another URL. */
  readonly isMoved: boolean;
  /** Whether a call may have been placed, unless this is a 2xx with a call in its body. */
  readonly placed: Placed;
  /** The value of a header, empty when there is none. */
  readonly header: (name: string) => string;
  /** The response, for its body. */
  readonly source: BodySource;
}

/**
 * A 4xx refuses, except those that a service or a proxy may send for a request that was processed;
 * 307 and 308 ask for the same POST elsewhere. After every other status a call may have been placed.
 */
const placedNothing = /^(30[78]|4(?!08|09|25|99)..)$/;

/**
 * The head of what a `fetch` returned. A response that came through a redirect, which a `fetch` of the
 * caller's may follow, is another URL's: it proves nothing about the POST.
 *
 * @throws {TypeError} when it is no response
 */
export const headOf = (response: Response, url: string): Head => {
  const { status, redirected, headers } = response;
  if (!Number.isInteger(status)) throw new TypeError("fetch gave no Response");
  const is2xx = status >= 200 && status < 300;
  // The Edge VM never sets `redirected`: only the URL shows it.
  const isMoved = redirected || (!is2xx && !!response.url && response.url !== new URL(url).href);
  return {
    status,
    ok: is2xx && !isMoved,
    isMoved,
    placed: !isMoved && placedNothing.test(String(status)) ? "no" : "maybe",
    header: (name) => withoutThrowing(() => String(headers.get(name) ?? "")) ?? "",
    source: response,
  };
};

/** How many characters of a response are read, after decompression. */
const limit = 2 ** 20;

/**
 * The text of a response. `readBody`, which handlers use, would cost each call a seventh more.
 *
 * @param signal - of this request alone, since nothing is removed from it; cancels the body when it aborts, which may
 * ignore the signal of its request
 * @param tooLong - what is returned for a body past its limit
 * @throws {TypeError} when a chunk is not bytes, and what the body rejects with
 */
export const readText = async (
  { source }: Head,
  signal: AbortSignal,
  tooLong = "",
): Promise<string> => {
  const { body } = source;
  if (!body) {
    const text = (await source.text?.()) ?? "";
    return text.length > limit ? tooLong : text;
  }
  const { next, cancel } = chunksOf(body);
  const stop = () => {
    (async () => cancel())().catch(() => {});
  };
  signal.addEventListener("abort", stop);
  const decoder = new TextDecoder();
  let text = "";
  let isOver = false;
  try {
    for (let reads = 0; text.length <= limit && reads < maxChunks && !signal.aborted; reads++) {
      const { value } = (await next()) ?? {};
      isOver = !value;
      text += decoder.decode(value, { stream: !isOver });
      if (isOver) return text;
    }
    return tooLong;
  } finally {
    if (!isOver) stop();
  }
};
