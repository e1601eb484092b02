import type { Received } from "../../callbacks/handler.ts";
import { BadParametersException, type ParameterIssue } from "../../errors.ts";
import { fieldsOf } from "../../lib/check.ts";
import { utf8 } from "../../lib/encoding.ts";
import type { AnswerName, CallInput, CallOutcome } from "../answers.ts";
import type { UrlCheck } from "../check.ts";
import type { Added, Contact, RefusedContact } from "../contacts.ts";
import { states as contactStates, type Disposition, isDisposition } from "../disposition.ts";
import type { EndedCalls, OpenCall } from "../ending.ts";
import { isLedgerReason, LedgerException } from "../errors.ts";
import type { Figures } from "../figures.ts";
import type { Result } from "../ledger.ts";
import type { CampaignOptions } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { Row } from "../sqlite.ts";

/** What a campaign is to do, without what only the Worker's own environment knows. */
export type CampaignPlan = Omit<
  CampaignOptions,
  "secret" | "create" | "get" | "end" | "service" | "notified" | "clock"
>;

/** A shard's part of a plan, as it is stored. */
export type Share = Omit<CampaignPlan, "until"> & {
  /** The campaign's id and the number of the shard; absent in a share of an older version. */
  readonly id?: string | undefined;
  /** Calls a second of all shards together: a carrier counts them all. */
  readonly wholeRate: number;
  /** How many calls are asked for in a second, at most. */
  readonly asksPerSecond?: number | undefined;
  /** ISO 8601. */
  readonly until?: string | undefined;
};

/** The progress of a campaign at some time. */
export interface Sample extends Progress {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** How many samples are returned at most; they are further apart in a longer campaign. */
export const mostSamples = 300;

/** What a shard can be asked for, and with what. */
export interface Requests {
  readonly open: Share;
  readonly add: readonly Contact[];
  readonly note: Received | CallInput | CallOutcome;
  readonly callBack: CallBack;
  readonly endCalls: null;
  readonly pause: string | null;
  readonly resume: null;
  readonly cancel: null;
  readonly block: readonly string[];
  readonly unblock: Unblocking;
  readonly erase: readonly string[];
  readonly signedUrl: UrlCheck["param"];
  readonly progress: null;
  readonly history: null;
  readonly answerNames: null;
  readonly variableNames: null;
  readonly figures: { readonly from?: number | undefined };
}

/** Who wants to be called, and when: a date as ISO 8601. */
interface CallBack {
  readonly to_number: string;
  readonly at: string;
}

/** Who is taken off the do-not-call list, and why. */
interface Unblocking {
  readonly numbers: readonly string[];
  readonly reason: string;
}

/** What it answers in another way: a line of JSON for each. */
interface Lines {
  readonly results: Result;
  /** Rows of the audit log. */
  readonly audit: Fields;
}

/** What it answers. */
export interface Answers {
  readonly open: null;
  readonly add: Added;
  readonly note: boolean;
  readonly callBack: boolean;
  readonly endCalls: EndedCalls;
  readonly pause: null;
  readonly resume: null;
  readonly cancel: null;
  readonly block: number;
  readonly unblock: number;
  readonly erase: number;
  readonly signedUrl: string;
  readonly progress: Progress;
  readonly history: readonly Sample[];
  readonly answerNames: readonly AnswerName[];
  readonly variableNames: readonly string[];
  readonly figures: Figures;
}

/** Which results are wanted: all, or those with one disposition. */
export interface Wanted {
  readonly only?: Disposition | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isString = (value: unknown): value is string => typeof value === "string";

const isNumber = (value: unknown): value is number => typeof value === "number";

const isBoolean = (value: unknown): value is boolean => typeof value === "boolean";

const isNull = (value: unknown): value is null => value === null;

const isOptional =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): value is T | undefined =>
    value === undefined || is(value);

const isListOf =
  <T>(is: (value: unknown) => value is T) =>
  (value: unknown): value is readonly T[] =>
    Array.isArray(value) && value.every(is);

const isRefused = (value: unknown): value is RefusedContact =>
  isFields(value) && isNumber(value.line) && isString(value.reason);

const isAdded = (value: unknown): value is Added =>
  isFields(value) &&
  isNumber(value.added) &&
  isNumber(value.duplicate) &&
  isListOf(isRefused)(value.refused);

const states: readonly unknown[] = ["running", "paused", "canceled"];

const isProgress = (value: unknown): value is Progress =>
  isFields(value) &&
  states.includes(value.state) &&
  typeof value.done === "boolean" &&
  isOptional(isString)(value.reason) &&
  isOptional(isNumber)(value.callingSince) &&
  isOptional(isNumber)(value.unclearUntil) &&
  ["contacts", ...contactStates].every((name) => isNumber(value[name]));

const isSample = (value: unknown): value is Sample =>
  isProgress(value) && "at" in value && isNumber(value.at);

const isResult = (value: unknown): value is Result =>
  isFields(value) &&
  isNumber(value.contact) &&
  isString(value.to_number) &&
  isNumber(value.attempts) &&
  isOptional(isString)(value.id) &&
  isOptional(isString)(value.reason) &&
  isOptional(isString)(value.call_id) &&
  isOptional(isNumber)(value.startedAt) &&
  isOptional(isNumber)(value.endedAt) &&
  isOptional(isNumber)(value.duration) &&
  isOptional(isString)(value.answered_by) &&
  isOptional(isString)(value.cost) &&
  isOptional(isString)(value.currency) &&
  isFields(value.answers) &&
  isFields(value.variables) &&
  (value.disposition === undefined ||
    (isString(value.disposition) && isDisposition(value.disposition)));

const isIssue = (value: unknown): value is ParameterIssue =>
  isFields(value) && isString(value.param) && isString(value.message);

const isShare = (value: unknown): value is Share =>
  isFields(value) && isString(value.status_callback_url);

const isNoted = (value: unknown): value is Received | CallInput | CallOutcome =>
  isFields(value) &&
  isFields(value.context) &&
  (isFields(value.event) ||
    (isFields(value.call) && isFields(value.answers)) ||
    isString(value.outcome ?? ""));

const isCallBack = (value: unknown): value is CallBack =>
  isFields(value) && isString(value.to_number) && isString(value.at);

const isUnblocking = (value: unknown): value is Unblocking =>
  isFields(value) && isListOf(isString)(value.numbers) && isString(value.reason);

const isOpenCall = (value: unknown): value is OpenCall =>
  isFields(value) && isNumber(value.contact) && isString(value.to_number);

const isEndedCalls = (value: unknown): value is EndedCalls =>
  isFields(value) &&
  isNumber(value.ended) &&
  isListOf(isOpenCall)(value.failed) &&
  isListOf(isOpenCall)(value.unclear);

const isAnswerName = (value: unknown): value is AnswerName =>
  isFields(value) && isString(value.name) && isNumber(value.at);

const isFigures = (value: unknown): value is Figures =>
  isFields(value) &&
  isListOf(isFields)(value.quarters) &&
  isListOf(isFields)(value.answers) &&
  isFields(value.callBacks) &&
  isListOf(isFields)(value.costs) &&
  isListOf(isNumber)(value.attempts);

const isContacts = (value: unknown): value is readonly Contact[] => Array.isArray(value);

type Guards<Types> = { readonly [What in keyof Types]: (value: unknown) => value is Types[What] };

const requests: Guards<Requests> = {
  open: isShare,
  add: isContacts,
  note: isNoted,
  callBack: isCallBack,
  endCalls: isNull,
  pause: (value): value is string | null => isNull(value) || isString(value),
  resume: isNull,
  cancel: isNull,
  block: isListOf(isString),
  unblock: isUnblocking,
  erase: isListOf(isString),
  signedUrl: (value): value is UrlCheck["param"] =>
    value === "flow_url" || value === "status_callback_url",
  progress: isNull,
  history: isNull,
  answerNames: isNull,
  variableNames: isNull,
  figures: (value): value is Requests["figures"] =>
    isFields(value) && isOptional(isNumber)(value.from),
};

const answers: Guards<Answers> = {
  open: isNull,
  add: isAdded,
  note: isBoolean,
  callBack: isBoolean,
  endCalls: isEndedCalls,
  pause: isNull,
  resume: isNull,
  cancel: isNull,
  block: isNumber,
  unblock: isNumber,
  erase: isNumber,
  signedUrl: isString,
  progress: isProgress,
  history: isListOf(isSample),
  answerNames: isListOf(isAnswerName),
  variableNames: isListOf(isString),
  figures: isFigures,
};

/** Whether a shard can be asked for it. */
export const isRequest = (what: string): what is keyof Requests => Object.hasOwn(requests, what);

/** @throws {TypeError} when a request's body is none of its kind */
export const bodyOf = <What extends keyof Requests>(what: What, body: unknown): Requests[What] => {
  const is: (value: unknown) => value is Requests[What] = requests[what];
  if (is(body)) return body;
  throw new TypeError(`The request "${what}" to a shard has another body than expected`);
};

/** Which results a request asks for. */
export const wantedIn = (body: unknown): Disposition | undefined => {
  const { only } = fieldsOf(body);
  return isString(only) && isDisposition(only) ? only : undefined;
};

const isAuditRow = (value: unknown): value is Fields =>
  isFields(value) && isNumber(value.at) && isString(value.event);

const lineGuards: Guards<Lines> = { results: isResult, audit: isAuditRow };

/** A way to one shard, as `get` of a namespace returns it. */
export interface ShardStub {
  /** Sends a request to the object. */
  fetch(request: Request): Promise<Response>;
}

/** The namespace of the shards, as the Worker's binding gives it (`env.SHARDS`). */
export interface ShardNamespace {
  /** The id of the object with a name. */
  idFromName(name: string): unknown;
  /** A way to the object with an id. */
  get(id: unknown): ShardStub;
}

/** How a shard answers a request that it refuses. */
export const refusalOf = (error: unknown): Response => {
  if (error instanceof BadParametersException) {
    return Response.json({ issues: error.issues }, { status: 400 });
  }
  if (!(error instanceof LedgerException)) throw error;
  return Response.json({ reason: error.reason }, { status: 409 });
};

/**
 * Throws what a shard has thrown.
 *
 * @throws {BadParametersException} when the request breaks a rule
 * @throws {LedgerException} when the ledger can't be used, or there is none
 */
const rethrow = async (response: Response): Promise<never> => {
  const body: unknown = await response.json();
  if (isFields(body)) {
    if (isListOf(isIssue)(body.issues)) throw new BadParametersException(body.issues);
    if (isLedgerReason(body.reason)) throw new LedgerException(body.reason);
  }
  throw new Error(`A shard answered ${response.status}`);
};

const send = async (
  namespace: ShardNamespace,
  name: string,
  what: string,
  body: unknown,
): Promise<Response> => {
  const stub = namespace.get(namespace.idFromName(name));
  const init = { method: "POST", body: JSON.stringify(body) };
  const response = await stub.fetch(new Request(`https://shard/${what}`, init));
  return response.ok ? response : rethrow(response);
};

/**
 * Asks a shard, and returns its answer.
 *
 * @throws {TypeError} when the answer is none of its kind: the shard runs other code
 */
export const ask = async <What extends keyof Requests>(
  namespace: ShardNamespace,
  name: string,
  what: What,
  body: Requests[What],
): Promise<Answers[What]> => {
  const answer: unknown = await (await send(namespace, name, what, body)).json();
  const is: (value: unknown) => value is Answers[What] = answers[what];
  if (is(answer)) return answer;
  throw new TypeError(`A shard answered "${what}" with something unexpected`);
};

/** How many lines are written at once. */
const page = 500;

/** Rows as lines of JSON, written as they are read: all, or those with one disposition. */
export const linesOf = (
  rows: Iterable<Partial<Result> | Row>,
  only?: Disposition,
): ReadableStream<Uint8Array> => {
  const rest = rows[Symbol.iterator]();
  return new ReadableStream({
    pull: (controller) => {
      let text = "";
      for (let count = 0; count < page; ) {
        const { done, value } = rest.next();
        if (done) {
          if (text) controller.enqueue(utf8(text));
          return controller.close();
        }
        if (only && value.disposition !== only) continue;
        text += `${JSON.stringify(value)}\n`;
        count++;
      }
      controller.enqueue(utf8(text));
    },
  });
};

/** Asks a shard for lines, and reads them as they arrive. */
export async function* askLines<What extends keyof Lines>(
  namespace: ShardNamespace,
  name: string,
  what: What,
  wanted: Wanted,
): AsyncGenerator<Lines[What], void> {
  const is: (value: unknown) => value is Lines[What] = lineGuards[what];
  const { body } = await send(namespace, name, what, wanted);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let kept = ""; reader; ) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      const lines = (kept + value).split("\n");
      kept = lines.pop() ?? "";
      for (const line of lines) {
        const row: unknown = JSON.parse(line);
        if (!is(row)) throw new TypeError(`A shard sent a line that is none of ${what}`);
        yield row;
      }
    }
  } finally {
    await reader?.cancel();
  }
}
