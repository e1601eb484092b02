import type {
  CallFacts,
  CallRecord,
  HistoryEntry,
  RefusedEvent,
  ServiceEvent,
} from "../../server/history.ts";
import type { Emulator } from "../emulator.ts";
import type { Attendant } from "./attendant.ts";

/** The undelivered notifications of a call. */
export interface Undelivered {
  /** How many are given up. */
  readonly givenUp: number;
  /** The one that is being retried. */
  readonly retrying?: {
    readonly event: string;
    /** How many attempts there were. */
    readonly tries: number;
    readonly error: string;
    /** When the next attempt is, in milliseconds since 1970 by the emulator's clock. */
    readonly nextAt: number;
  };
}

/** What a call's line had: a text that was spoken, audio that was played, or a key that the callee pressed. */
export type LinePart =
  | { readonly text: string; readonly language?: string | undefined }
  | { readonly media_url: string }
  | { readonly digit: string };

/** A call as its row shows it. */
export interface CallRow extends CallFacts {
  /** What its line had so far, the latest 20; absent when the call is over. */
  readonly line?: readonly LinePart[];
  /** How many parts its line had so far, with those that are left out. */
  readonly lineLength?: number;
  /** Absent when all notifications so far are delivered. */
  readonly undelivered?: Undelivered;
}

/** One message of the event stream. */
export interface Update {
  /** The emulator's time, in milliseconds since 1970. */
  readonly now: number;
  /** Whether `calls` are all calls, and replace what the page has. */
  readonly whole: boolean;
  /** Whether the API key was regenerated. */
  readonly key: boolean;
  /** Whether the attendant is present. */
  readonly attendant: boolean;
  /** New and changed calls, without their histories. */
  readonly calls: readonly CallRow[];
  /** New requests that were refused; if `whole`, all that the emulator keeps. */
  readonly refused: readonly RefusedEvent[];
}

/** Both sides of a call on one time line, for a plot. */
export interface Voices {
  /** Milliseconds from the answer to now, or to the end. */
  readonly ms: number;
  /** Milliseconds of one peak. */
  readonly every: number;
  /** Loudness from 0 to 1. */
  readonly callee: readonly number[];
  readonly application: readonly number[];
  /** When the application dropped audio, in milliseconds since the answer. */
  readonly cuts: readonly number[];
}

/** The undelivered notifications in a history, if any. */
const undeliveredIn = (history: readonly HistoryEntry[]): Undelivered | undefined => {
  const tries = history.filter((entry) => entry.type === "notification");
  const givenUp = tries.filter(({ outcome }) => outcome === "given_up").length;
  // Notifications are sent one after the other, so only the latest can be retried.
  const last = tries.at(-1);
  if (last?.outcome !== "retrying") return givenUp > 0 ? { givenUp } : undefined;
  const { event, error = "", next_at } = last;
  const retrying = { event, tries: last.try, error, nextAt: Date.parse(next_at ?? last.at) };
  return { givenUp, retrying };
};

/** What an entry of a history adds to the line. */
const partsOf = (entry: HistoryEntry): readonly LinePart[] => {
  if (entry.type === "press") return [{ digit: entry.digit }];
  const { plays = [] } = "plays" in entry ? entry : {};
  return plays.flatMap((part): readonly LinePart[] =>
    "text" in part || "media_url" in part ? [part] : [],
  );
};

/** What a page watches: calls, refused requests, and what changes of them. */
export interface Watched extends Pick<Emulator, "calls" | "call" | "refused"> {
  readonly [Symbol.asyncIterator]: () => AsyncIterator<
    { readonly call_id: string } | Pick<ServiceEvent, "type">
  >;
}

/** How many parts of a line are shown. */
const maxParts = 20;

const rowOf = ({ history, ...facts }: CallRecord): CallRow => {
  const undelivered = undeliveredIn(history);
  const line = facts.state === "answered" ? history.flatMap(partsOf) : [];
  return {
    ...facts,
    ...(undelivered && { undelivered }),
    ...(line.length > 0 && { line: line.slice(-maxParts), lineLength: line.length }),
  };
};

/** The longest pause between two updates, in milliseconds: the page treats a longer one as a lost connection. */
const heartbeat = 2_000;

const encoder = new TextEncoder();

/**
 * All events of an emulator, or an exchange, as server-sent events. Events are collected while the page does not read, so a
 * slow page keeps at most each call's id in memory.
 *
 * @param now - the emulator's time
 */
export const updates = (
  emulator: Watched,
  attendant: Attendant | undefined,
  now: () => number,
): ReadableStream<Uint8Array> => {
  const events = emulator[Symbol.asyncIterator]();
  const changed = new Set<string>();
  let lastRefused: RefusedEvent | undefined;
  let whole = true;
  let key = false;
  let sentPresence = false;
  let ended = false;
  let cancelled = false;
  let wake = () => {};

  const collect = (event: { readonly call_id: string } | Pick<ServiceEvent, "type">): void => {
    if ("call_id" in event) changed.add(event.call_id);
    else if (event.type === "reset") whole = true;
    else if (event.type === "key") key = true;
    wake();
  };
  const follow = async (): Promise<void> => {
    for (let next = await events.next(); !next.done; next = await events.next()) {
      collect(next.value);
    }
    ended = true;
    wake();
  };
  follow();
  const isPresent = () => attendant?.isPresent ?? false;
  const unsubscribe = attendant?.subscribe(() => wake());

  const nextUpdate = (): Update => {
    const calls = whole
      ? emulator.calls.map(rowOf)
      : [...changed].flatMap((id) => {
          const call = emulator.call(id);
          return call ? [rowOf(call)] : [];
        });
    sentPresence = isPresent();
    const kept = emulator.refused;
    const refused = whole ? kept : kept.slice(lastRefused ? kept.indexOf(lastRefused) + 1 : 0);
    lastRefused = kept.at(-1);
    const update = { now: now(), whole, key, attendant: sentPresence, calls, refused };
    whole = false;
    key = false;
    changed.clear();
    return update;
  };

  return new ReadableStream(
    {
      async pull(controller) {
        const isRefused = emulator.refused.at(-1) !== lastRefused;
        const hasNews =
          whole || key || isRefused || changed.size > 0 || sentPresence !== isPresent();
        if (!ended && !hasNews) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, heartbeat);
            wake = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        if (cancelled) return;
        if (ended) {
          unsubscribe?.();
          return controller.close();
        }
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(nextUpdate())}\n\n`));
      },
      async cancel() {
        cancelled = true;
        unsubscribe?.();
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
};

/** How many peaks a plot has at most. */
const maxPeaks = 600;

/** Both sides of a call so far; `undefined` when the call is not known. */
export const voicesOf = (emulator: Emulator, id: string): Voices | undefined => {
  const audio = emulator.audio(id);
  if (!audio) return;
  const { ms, cuts } = audio;
  const every = 20 * Math.max(1, Math.ceil(ms / maxPeaks / 20));
  const peaks = (voice: "callee" | "application") =>
    audio.peaks(voice, every).map((peak) => Math.round(peak * 1000) / 1000);
  return {
    ms,
    every,
    callee: peaks("callee"),
    application: peaks("application"),
    cuts: cuts.map(({ at_ms }) => at_ms),
  };
};
