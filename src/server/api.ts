import type { Hono } from "hono/tiny";
import { withDeadline } from "../http/deadline.ts";
import { type Body, readBody } from "../lib/body.ts";
import type { CallLimits, RequestedCall, ServedCall } from "./call.ts";
import type { RefusedEvent } from "./history.ts";
import type { IdempotencyKeys } from "./outdial/kept-keys.ts";
import type { Reach } from "./outgoing.ts";

/** The largest body of a request, in bytes. */
const maxBody = 64 * 1024;

/** What is passed beside a request. */
export interface RequestExtras {
  readonly signal?: AbortSignal | undefined;
  /** The body, when it is a text. */
  readonly text?: string | undefined;
}

/** The type parameter of Hono. */
interface Env {
  readonly Bindings: RequestExtras;
}

/** The routes of an API. */
export type ApiRoutes = Hono<Env>;

/** A refused request, without its time. */
type Refusal = Omit<RefusedEvent, "type" | "at">;

/** What becomes of a valid request for a call. */
export interface Reception {
  /** Why no call is placed, if there is a reason. */
  readonly outage: { readonly status: number; readonly detail: string } | undefined;
  /** Whether it is lost before a call is placed. */
  readonly isLost: boolean;
  /** Whether its response is sent whole. */
  readonly isSent: boolean;
  /** Sends the response to an accepted call. */
  readonly send: (
    response: AcceptedResponse,
    signal: AbortSignal | undefined,
  ) => Response | Promise<Response>;
}

/** A request for a call whose key and fields are valid. */
interface ReceivedCall {
  readonly from_number: string;
  readonly to_number: string;
  /** Whether the same request has placed its call before: then it is answered, whatever the load. */
  readonly isPlaced?: boolean;
  /** How many responses to the same request were not sent whole. */
  readonly lost?: number;
}

/** A valid request for a call. */
export interface NewCall<T> {
  readonly params: RequestedCall;
  readonly limits?: CallLimits | undefined;
  /** The URL of the request. */
  readonly url: string;
  /** What `restore` of the side needs of the request once the process was started again. */
  readonly kept?: object | undefined;
  /** Called with the call before anything happens in it: what it stores is stored with the call, or not at all. */
  readonly prepare: (call: ServedCall) => T;
}

/** What the routes need of the service around them. */
export interface ApiParts {
  /** Where the URLs of a request to this URL may lead. */
  readonly reachOf: (url: string) => Reach;
  /** Milliseconds of real time for a request's body. */
  readonly responseTimeout: number;
  readonly findCall: (id: string) => ServedCall | undefined;
  /** All known calls, the oldest first. */
  readonly allCalls: () => readonly ServedCall[];
  /** Called for each request whose key and fields are valid: decides what becomes of it. */
  readonly receive: (call: ReceivedCall) => Reception;
  readonly onRefused: (refusal: Refusal) => void;
  /** The keys by which a request is recognized that is sent again. */
  readonly keys: IdempotencyKeys;
  /** Starts a call whose request is valid, and returns what `prepare` returned. */
  readonly accept: <T>(call: NewCall<T>) => T;
}

/** The response to an accepted call. */
export interface AcceptedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const encoder = new TextEncoder();

const bodyOfText = (text: string): Body => {
  const bytes = encoder.encode(text);
  return { bytes, isWhole: bytes.length <= maxBody };
};

/** Reads the body; `undefined` when it does not come in time. */
export const receiveBody = async (
  request: Request,
  { signal, text }: RequestExtras,
  timeout: number,
): Promise<Body | undefined> => {
  if (text !== undefined) return bodyOfText(text);
  const late = new Error("The body stalls");
  try {
    return await withDeadline(
      timeout,
      signal,
      () => late,
      (over) => readBody(request, maxBody, over),
    );
  } catch (error) {
    if (error === late) return;
    throw error;
  }
};

/** The recording of a whole call, or the part that a player requests. */
export const recordingOf = (call: ServedCall, request: Request): Response => {
  const channels = new URL(request.url).searchParams.get("channels") === "2" ? 2 : 1;
  return call.audio.download({ to: call.talkTime }, request.headers.get("Range"), channels);
};
