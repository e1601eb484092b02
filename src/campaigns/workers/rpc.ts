import type { Received } from "../../callbacks/handler.ts";
import { BadParametersException, type ParameterIssue } from "../../errors.ts";
import type { RecordingInput } from "../../flows/recorded.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import { utf8 } from "../../lib/encoding.ts";
import type { AnswerName, CallInput, CallOutcome } from "../answers.ts";
import type { Sender } from "../campaign.ts";
import type { SignedUrl } from "../check.ts";
import type { Added, Contact } from "../contacts.ts";
import type { Disposition } from "../disposition.ts";
import type { EndedCalls } from "../ending.ts";
import { isLedgerReason, LedgerException } from "../errors.ts";
import type { Figures } from "../figures.ts";
import type { Result } from "../ledger.ts";
import type { CampaignOptions, NamedService, ServicesOptions } from "../options.ts";
import type { Progress } from "../progress.ts";
import type { Row } from "../sqlite.ts";

/** What a campaign is to do, without what only the Worker's own environment knows. */
export type CampaignPlan = Omit<
  CampaignOptions,
  "secret" | "create" | "account" | "get" | "end" | "service" | "notified" | "clock"
>;

/** What a service of several is to do. */
export type ServicePlan = Omit<NamedService, "create" | "account" | "get" | "end" | "service">;

/** The same for several services; the shards' option `services` has the functions of each, by its name. */
export type ServicesPlan = Omit<ServicesOptions, "services" | "secret" | "notified" | "clock"> & {
  readonly services: readonly ServicePlan[];
};

/** What a shard gets of the limits of a service. */
export interface ShareLimits {
  /** Calls a second of all shards together: a carrier counts them all. */
  readonly wholeRate: number;
  /** How many calls are asked for in a second, at most. */
  readonly pollsPerSecond?: number | undefined;
}

/** A shard's part of the plan of a service. */
type ServiceShare = ServicePlan & ShareLimits;

/** What a share has beside its plan. */
interface ShareFacts {
  /** The campaign's id and the number of the shard; absent in a share of an older version. */
  readonly id?: string | undefined;
  /** ISO 8601. */
  readonly until?: string | undefined;
}

/** A shard's part of a plan, as it is stored. */
export type Share = Omit<CampaignPlan, "until"> & ShareLimits & ShareFacts;

/** The same of several services. */
export type ServicesShare = Omit<ServicesPlan, "until" | "services"> &
  ShareFacts & { readonly services: readonly ServiceShare[] };

type Noted = Received | CallInput | CallOutcome | RecordingInput;

/** The progress of a campaign at some time. */
export interface Sample extends Progress {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** How many samples are returned at most; they are further apart in a longer campaign. */
export const mostSamples = 300;

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

/** What a shard can be asked for, and what it answers: both are JSON. */
export interface Requests {
  readonly open: (share: Share | ServicesShare) => null;
  readonly add: (contacts: readonly Contact[]) => Added;
  readonly note: (given: Noted | { readonly given: Noted; readonly sender: Sender }) => boolean;
  readonly callBack: (wish: CallBack) => boolean;
  readonly endCalls: (nothing: null) => EndedCalls;
  readonly pause: (reason: string | null) => null;
  readonly resume: (nothing: null) => null;
  readonly cancel: (nothing: null) => null;
  readonly block: (numbers: readonly string[]) => number;
  readonly unblock: (unblocking: Unblocking) => number;
  readonly erase: (numbers: readonly string[]) => number;
  readonly signedUrls: (nothing: null) => readonly SignedUrl[];
  readonly progress: (nothing: null) => Progress;
  readonly history: (nothing: null) => readonly Sample[];
  readonly answerNames: (nothing: null) => readonly AnswerName[];
  readonly variableNames: (nothing: null) => readonly string[];
  readonly figures: (options: { readonly from?: number | undefined }) => Figures;
}

export type Body<What extends keyof Requests> = Parameters<Requests[What]>[0];

export type Answer<What extends keyof Requests> = ReturnType<Requests[What]>;

/** What it answers in another way: a line of JSON for each. */
interface Lines {
  readonly results: Result;
  readonly audit: Row;
}

/** Which results are wanted: all, or those with one disposition. */
export interface Wanted {
  readonly only?: Disposition | undefined;
}

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

/** No host: a request that the Worker has forwarded has that of a caller's. */
const origin = "https://shard";

/** What a request asks for; `undefined` if the Worker has forwarded it: only this package's code may ask. */
export const wantedIn = (request: Request): string | undefined => {
  const url = new URL(request.url);
  return url.origin === origin ? url.pathname.slice(1) : undefined;
};

const isIssue = (value: unknown): value is ParameterIssue => {
  const { param, message } = fieldsOf(value);
  return isText(param) && isText(message);
};

/**
 * Throws what a shard has thrown.
 *
 * @throws {BadParametersException} when the request breaks a rule
 * @throws {LedgerException} when the ledger can't be used, or there is none
 */
const rethrow = async (response: Response): Promise<never> => {
  const { issues, reason } = fieldsOf(await response.json());
  if (Array.isArray(issues) && issues.every(isIssue)) throw new BadParametersException(issues);
  if (isLedgerReason(reason)) throw new LedgerException(reason);
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
  const response = await stub.fetch(new Request(`${origin}/${what}`, init));
  return response.ok ? response : rethrow(response);
};

/** Asks a shard, and returns its answer. */
export const ask = async <What extends keyof Requests>(
  namespace: ShardNamespace,
  name: string,
  what: What,
  body: Body<What>,
): Promise<Answer<What>> => (await send(namespace, name, what, body)).json();

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
  const { body } = await send(namespace, name, what, wanted);
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let kept = ""; reader; ) {
      const { done, value = "" } = await reader.read();
      if (done) return;
      const lines = (kept + value).split("\n");
      kept = lines.pop() ?? "";
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    await reader?.cancel();
  }
}
