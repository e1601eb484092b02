import { withoutThrowing } from "../../../lib/check.ts";
import { FlowError } from "../../../performer/line.ts";
import type { Delivery, Message, ServedCall } from "../../../server/call.ts";
import { logFailure, type Requester, statusIn } from "../../../server/outgoing.ts";
import type { Fields, VonageCall } from "./call.ts";
import type { Target } from "./fields.ts";
import { type NccoAction, parseNcco, shownNcco } from "./ncco.ts";
import type { SignWebhook } from "./tokens.ts";

/** A request as it is sent. */
interface SentRequest {
  readonly url: string;
  /** Empty for a `GET`. */
  readonly body: string;
  /** Signed anew for each attempt. */
  readonly headers: () => Readonly<Record<string, string>>;
}

const textOf = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** A request with JSON, or with the same fields in the query. */
const requestOf = ({ url, method }: Target, fields: Fields, sign: SignWebhook): SentRequest => {
  const isGet = method === "GET";
  const body = isGet ? "" : JSON.stringify(fields);
  const target = new URL(url);
  for (const [name, value] of Object.entries(isGet ? fields : {})) {
    if (value !== null && value !== undefined) target.searchParams.append(name, textOf(value));
  }
  return {
    url: target.href,
    body,
    headers: () => ({
      Authorization: `Bearer ${sign(body)}`,
      ...(!isGet && { "Content-Type": "application/json" }),
    }),
  };
};

/** The statuses after which an event is sent once more. */
const repeatedEvents: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** The statuses after which an NCCO is requested once more. */
const repeatedAnswers: ReadonlySet<number> = new Set([429, 503, 504]);

const isRepeated = (
  statuses: ReadonlySet<number>,
  { status, timedOut }: Pick<Delivery, "status" | "timedOut">,
): boolean => (status === undefined ? !timedOut : statuses.has(status));

/** Milliseconds until an event is sent once more. */
const retryDelay = 1_000;

/** An event as a notification of the emulator. */
export const eventMessage = (
  target: Target,
  id: string,
  event: string,
  fields: Fields,
  sign: SignWebhook,
): Message => ({
  id,
  event,
  ...requestOf(target, fields, sign),
  method: target.method,
  retryDelay: (attempts, delivery) =>
    attempts === 1 && isRepeated(repeatedEvents, delivery) ? retryDelay : undefined,
});

/** What requests for an NCCO need. */
export interface RequestParts {
  readonly call: VonageCall;
  readonly request: Requester;
  readonly sign: SignWebhook;
  readonly signal: AbortSignal;
  readonly step: number;
}

/** The largest NCCO, in bytes. */
const maxNcco = 64 * 1024;

/** A request of an application, and whether its response must be an NCCO. */
export interface Asked {
  readonly target: Target;
  readonly fields: Fields;
  /** Whether a response without an NCCO, or none, leaves the call as it is. */
  readonly isOptional: boolean;
}

const shownFields = (fields: Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, textOf(value)]));

const send = async (
  sent: SentRequest,
  { method }: Target,
  served: ServedCall,
  { request, signal }: RequestParts,
) => {
  const init = method === "GET" ? {} : { method, body: sent.body };
  const rules = { limit: maxNcco, redirects: "origin", reach: served.reach, signal } as const;
  served.warnOfPlain(sent.url);
  for (let attempts = 1; ; attempts++) {
    const result = await request(sent.url, { ...init, headers: sent.headers() }, rules);
    const { response, error, timedOut } = result;
    const status = error === undefined ? response?.status : undefined;
    const isDone = attempts > 1 || response?.ok || signal.aborted;
    if (isDone || !isRepeated(repeatedAnswers, { status, timedOut })) return result;
  }
};

/**
 * Asks the application what follows, and logs it.
 *
 * @returns the NCCO; `undefined` where the response leaves the call as it is
 * @throws {FlowError} when there must be an NCCO, and there is none; or when the one that came isn't valid
 */
export const askForNcco = async (
  { target, fields, isOptional }: Asked,
  parts: RequestParts,
): Promise<readonly NccoAction[] | undefined> => {
  const { served } = parts.call;
  const { step, signal } = parts;
  const sent = requestOf(target, fields, parts.sign);
  const { ms, response, body, error } = await send(sent, target, served, parts);
  const text = body && new TextDecoder().decode(body.bytes);
  served.log({
    type: "flow",
    step,
    url: sent.url,
    ms,
    ...(response && { status: response.status }),
    request: { method: target.method, fields: shownFields(fields) },
    ...(text && shownNcco(text)),
  });
  const fail = (rule: string): undefined => {
    if (isOptional || signal.aborted) return;
    throw new FlowError(step, "answer_url", rule);
  };
  if (error !== undefined || !response || !body) return fail(`gave no answer: ${error}`);
  if (!response.ok) return fail(`answered ${statusIn(response)}`);
  logFailure(response, step, served);
  if (!body.isWhole) return fail("answered more than 64 KiB");
  const ncco = withoutThrowing((): unknown => JSON.parse(text ?? ""));
  if (ncco === undefined) return fail("answered no JSON");
  // Only a list replaces what the call does.
  return isOptional && !Array.isArray(ncco) ? undefined : parseNcco(ncco, step);
};
