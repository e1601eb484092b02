import type { Hono } from "hono/tiny";
import { withDeadline } from "../http/deadline.ts";
import { type Body, readBody } from "../lib/body.ts";
import type { Call, CallLimits, RequestedCall } from "./call.ts";
import type { RefusedEvent } from "./history.ts";
import type { KeptKeys } from "./outdial/kept-keys.ts";
import type { Reach } from "./outgoing.ts";
import { downloadOf } from "./recording/download.ts";
import type { ApiResponse } from "./scenarios.ts";

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

/** A valid request for a call. */
interface NewCall<T> {
  readonly params: RequestedCall;
  readonly limits?: CallLimits | undefined;
  /** The URL of the request. */
  readonly url: string;
  /** Called with the call before anything happens in it. */
  readonly prepare: (call: Call) => T;
}

/** What the routes need of the emulator. */
export interface ApiParts {
  /** Where the URLs of a request to this URL may lead. */
  readonly reachOf: (url: string) => Reach;
  /** Milliseconds of real time for a request's body. */
  readonly responseTimeout: number;
  /** Whether no more calls are accepted. */
  readonly isClosed: () => boolean;
  readonly findCall: (id: string) => Call | undefined;
  /** All known calls, the oldest first. */
  readonly allCalls: () => readonly Call[];
  /** Called for each request whose key and fields are valid. */
  readonly onPost: (to_number: string) => void;
  readonly onRefused: (refusal: Refusal) => void;
  /** The keys by which a request is recognized that is sent again. */
  readonly keys: KeptKeys;
  /** Starts a call whose request is valid, and returns what `prepare` returned. */
  readonly accept: <T>(call: NewCall<T>) => T;
}

/** Resolves with the signal's reason once it aborts. */
const aborted = (signal: AbortSignal | undefined): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve(signal.reason);
    signal?.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });

/** The first half of a text, and then nothing until the signal aborts. */
const stalledBody = (text: string, signal: AbortSignal | undefined): ReadableStream<Uint8Array> => {
  let cancelled = false;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)));
      aborted(signal).then((reason) => cancelled || controller.error(reason));
    },
    cancel: () => {
      cancelled = true;
    },
  });
};

/** The response to an accepted call. */
export interface AcceptedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

const failed = "The service failed after it had placed the call.";

/** Sends the response to an accepted call as the scenario wants it. */
export const respondAs = async (
  scenario: ApiResponse,
  { status, headers, text }: AcceptedResponse,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  switch (scenario) {
    case "whole":
      return new Response(text, { status, headers });
    case "silent":
      throw await aborted(signal);
    case "stalled":
      return new Response(stalledBody(text, signal), { status, headers });
    case "dropped":
    case "dropped_twice":
    case "unplaced":
      throw new TypeError("The connection was dropped");
    case "failed":
      return new Response(JSON.stringify({ detail: failed, message: failed }), {
        status: 503,
        headers,
      });
    case "garbled":
      return new Response("accepted, but this is not JSON", { status, headers });
  }
};

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

/** The recording of a call that is over, if there is one. */
export const recordingOf = (call: Call | undefined, request: Request): Response | undefined => {
  if (!call?.facts.recording_url) return;
  const channels = new URL(request.url).searchParams.get("channels") === "2" ? 2 : 1;
  return downloadOf(call.recording, { to: call.talkTime }, request.headers.get("Range"), channels);
};
