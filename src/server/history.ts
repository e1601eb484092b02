import type { WireAction } from "../flows/wire.ts";
import type {
  CallState,
  Doing,
  EndReason,
  FailureReason,
  Played,
  Reason,
} from "../performer/line.ts";

export type { CallState, Doing, EndReason, FailureReason, Played, Reason };

/** A call at one moment, without its history. */
export interface CallFacts {
  /** The id that `calls.create` returned. */
  readonly id: string;
  /** The current state. */
  readonly state: CallState;
  /** Why it is over. */
  readonly reason?: Reason;
  /** The caller, in E.164. */
  readonly from_number: string;
  /** The callee, in E.164. */
  readonly to_number: string;
  /** Where the flow is requested once the call is answered; empty where it came with the request. */
  readonly flow_url: string;
  /** Where notifications are sent; empty without one. */
  readonly status_callback_url: string;
  /** Whether it is recorded. */
  readonly record: boolean;
  /** Milliseconds since 1970, by the emulator's clock. */
  readonly initiated_at: number;
  /** Absent until the call is answered. */
  readonly answered_at?: number;
  /** Absent until the call is over. */
  readonly ended_at?: number;
  /** Whole seconds from the answer to the end. */
  readonly duration?: number;
  /** The URL of the recording, once there is one. */
  readonly recording_url?: string;
  /** Why the flow could not be followed, if that ended the call. */
  readonly flow_error?: string;
}

/** A call at one moment, with its history. */
export interface CallRecord extends CallFacts {
  /** In order, each attempt to deliver a notification included. */
  readonly history: readonly HistoryEntry[];
}

/** What every entry of a history has. */
export interface Stamp {
  /** When, in ISO 8601 UTC, by the emulator's clock. */
  readonly at: string;
  /** The call. */
  readonly call_id: string;
}

/** The call changed its state. */
export interface StateEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "state";
  /** The new state. */
  readonly state: CallState;
  /** Why, when the call is over. */
  readonly reason?: Reason;
}

/** The emulator requested the next action of the flow, or a carrier's document. */
export interface FlowEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "flow";
  /** Counts the requests of this call from 1. */
  readonly step: number;
  /** The URL of the request; empty for what came with the request for the call. */
  readonly url: string;
  /** Milliseconds of real time, up to the end of the response body. */
  readonly ms: number;
  /** Absent when no response came. */
  readonly status?: number;
  /** Absent when the response was not a valid action. */
  readonly action?: WireAction;
  /** Fields that the emulator does not follow, such as `ringback`, `on_busy.volume` or `Say.voice`; the first 20. */
  readonly unknown_fields?: readonly string[];
  /** The form that a carrier sent. */
  readonly request?: {
    readonly method: string;
    readonly fields: Readonly<Record<string, string>>;
    /** The cookies that Twilio sent back. */
    readonly cookie?: string;
  };
  /** The beginning of the document that a carrier's application answered, such as TwiML. */
  readonly document?: string;
}

/**
 * The flow could not be followed, so the call ends, or goes on elsewhere; or `flowHandler` hangs it up, as a function of yours failed.
 */
export interface FlowErrorEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "flow_error";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The field of the action, such as `media_url` or `on_busy.media_url`. */
  readonly field: string;
  /** The step, the field and the rule, in one sentence. */
  readonly message: string;
  /** The carrier's own code for it, such as Twilio's 11200. */
  readonly code?: number;
}

/** An action begins. */
export interface ActionEntry extends Stamp, Doing {
  /** The kind of entry. */
  readonly type: "action";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The action, as the flow sent it. */
  readonly action: WireAction;
}

/** A step of a carrier's document begins, such as a verb of TwiML. */
export interface VerbEntry extends Stamp, Doing {
  /** The kind of entry. */
  readonly type: "verb";
  /** Which document of the flow, counted from 1; 0 for a request of the API. */
  readonly step: number;
  /** Its name, such as `Say`. */
  readonly verb: string;
  /** Its attributes, as they came. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The text in it. */
  readonly text?: string;
}

/** The callee pressed a key. */
export interface PressEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "press";
  /** The key: a digit, `*` or `#`. */
  readonly digit: string;
}

/** The callee says a text. */
export interface SayEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "say";
  /** The text. */
  readonly text: string;
  /** How long it lasts, in milliseconds. */
  readonly duration: number;
}

/** The second leg of a `dial` changed its state. */
export interface LegEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "leg";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** Who is dialled: E.164, or a URI of the scheme `sip:`, `client:` or `conference:`. */
  readonly to: string;
  /** The new state. */
  readonly state: CallState;
  /** Why, when it is over. */
  readonly reason?: Reason;
}

/** The WebSocket of a `stream` opened or closed. */
export interface StreamEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "stream";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** The new state of the WebSocket. */
  readonly state: "open" | "closed";
  /** When the stream began, in milliseconds since the answer. */
  readonly from_ms: number;
  /** Messages sent so far. */
  readonly sent: number;
  /** Messages received so far. */
  readonly received: number;
  /** Why messages were malformed; the first five. */
  readonly malformed: readonly string[];
  /** How many messages were malformed. */
  readonly malformed_count: number;
  /** Message types that the emulator does not know, and that may mean something to a service. */
  readonly ignored: readonly string[];
}

/** An application dropped queued audio. */
export interface Cut {
  /** The type of the application's message. */
  readonly type: "clear" | "interrupt";
  /** The chunk that an `interrupt` names. */
  readonly chunk_id?: string | number;
  /** Milliseconds since the answer. */
  readonly at_ms: number;
  /** How many samples were dropped, at the stream's rate. */
  readonly samples: number;
}

/** An application dropped audio that was queued for the callee. The first 100 of a stream are listed. */
export interface CutEntry extends Stamp, Omit<Cut, "type"> {
  /** The kind of entry. */
  readonly type: "cut";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The type of the application's message. */
  readonly by: "clear" | "interrupt";
}

/** One attempt to deliver a notification. */
export interface NotificationEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "notification";
  /** The notification's id, the same on every attempt. */
  readonly id: string;
  /** The notification's type, such as `call.ringing`. */
  readonly event: string;
  /** Counts the attempts of this notification from 1. */
  readonly try: number;
  /** Whether it was delivered, will be retried, or is given up. */
  readonly outcome: "delivered" | "retrying" | "given_up";
  /** When the next attempt is, in ISO 8601 UTC. */
  readonly next_at?: string;
  /** Milliseconds of real time. */
  readonly ms: number;
  /** Absent when no response came. */
  readonly status?: number;
  /** Why it was not delivered. */
  readonly error?: string;
  /** The request as it was sent; a POST unless it has another method. */
  readonly request: {
    readonly url: string;
    readonly method?: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** The beginning of the receiver's response. */
  readonly response?: { readonly body: string };
}

/** The recording can be fetched. */
export interface RecordingEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "recording";
  /** The URL of the WAV file. */
  readonly url: string;
  /** Its length in seconds. */
  readonly seconds: number;
}

/** A function of yours threw, and the call continued without it. */
export interface ErrorEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "error";
  /** Which option. */
  readonly source: "onCall" | "callee";
  /** The message of what it threw. */
  readonly message: string;
}

/** What the application says of the call, by `note` of the emulator, or a warning of the emulator. */
export interface NoteEntry extends Stamp {
  /** The kind of entry. */
  readonly type: "note";
  /** On one line. */
  readonly text: string;
}

/** One thing that happened in a call, discriminated by `type`. */
export type HistoryEntry =
  | StateEntry
  | FlowEntry
  | FlowErrorEntry
  | ActionEntry
  | VerbEntry
  | PressEntry
  | SayEntry
  | LegEntry
  | StreamEntry
  | CutEntry
  | NotificationEntry
  | RecordingEntry
  | NoteEntry
  | ErrorEntry;

/** A request that the API refused. It has neither the key nor the query, which might hold one. */
export interface RefusedEvent {
  /** The kind of event. */
  readonly type: "refused";
  /** When, in ISO 8601 UTC. */
  readonly at: string;
  /** The method of the request, such as `POST`. */
  readonly method: string;
  /** The path of the request; its first 200 characters. */
  readonly path: string;
  /** The HTTP status of the response. */
  readonly status: number;
  /** The reason in the response, which names a field that breaks a rule; its first 400 characters. */
  readonly detail: string;
}

/** One thing that happened to the service as a whole, discriminated by `type`. */
export type ServiceEvent =
  | RefusedEvent
  /** The API key was regenerated. */
  | { readonly type: "key"; readonly at: string }
  /** All calls were removed. */
  | { readonly type: "reset"; readonly at: string };

/** Everything that happens in an emulator, discriminated by `type`. */
export type EmulatorEvent = HistoryEntry | ServiceEvent;

/** An entry as its producer writes it; the call adds time and id. */
export type NewEntry = HistoryEntry extends infer Entry
  ? Entry extends HistoryEntry
    ? Omit<Entry, keyof Stamp>
    : never
  : never;

let latestTime = 0;
let latestText = "1970-01-01T00:00:00.000Z";

/**
 * A time in ISO 8601 UTC. The latest text is kept, as many entries have the same millisecond.
 *
 * @param time - milliseconds since 1970
 */
export const iso = (time: number): string => {
  if (time !== latestTime) {
    latestText = new Date(time).toISOString();
    latestTime = time;
  }
  return latestText;
};
