import type { Action } from "../../flows/action.ts";
import type { Cut } from "../recording/recording.ts";
import type { CallState, Reason } from "./states.ts";

/** What every entry of a history has. */
export interface Stamp {
  /** When, in ISO 8601 UTC, by the emulator's clock. */
  readonly at: string;
  /** Whose history this is. */
  readonly call_id: string;
}

/** The call is in a new state. */
export interface StateEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "state";
  /** Where it stands from then on. */
  readonly state: CallState;
  /** Why, when the call is over. */
  readonly reason?: Reason;
}

/** The flow was asked for the next action. */
export interface FlowEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "flow";
  /** Counts the requests of this call from 1. */
  readonly step: number;
  /** What was asked for. */
  readonly url: string;
  /** Milliseconds on the wall, to the end of the answer's body. */
  readonly ms: number;
  /** Absent when no answer came. */
  readonly status?: number;
  /** Absent when the answer was none. */
  readonly action?: Action;
  /** Fields that the action doesn't know, such as `ringback` or `on_busy.volume`; the first 20. */
  readonly unknown_fields?: readonly string[];
}

/** The flow could not be followed: the call ends. */
export interface FlowErrorEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "flow_error";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The field of the action, such as `media_url` or `on_busy.media_url`. */
  readonly field: string;
  /** The step, the field and the rule, in one sentence. */
  readonly message: string;
}

/** An action begins. */
export interface ActionEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "action";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The action, as the flow gave it. */
  readonly action: Action;
  /** How long a `play` lasts, in milliseconds. */
  readonly duration?: number;
}

/** The second leg, which a `dial` calls, is in a new state. */
export interface LegEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "leg";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** Who is dialled: E.164 or a `sip:` URI. */
  readonly to: string;
  /** Where it stands from then on. */
  readonly state: CallState;
  /** Why, when it is over. */
  readonly reason?: Reason;
}

/** The WebSocket of a `stream` has opened or closed. */
export interface StreamEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "stream";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** The same in every message of the stream. */
  readonly stream_id: string;
  /** What has happened to it. */
  readonly state: "open" | "closed";
  /** When it began, in milliseconds since the answer. */
  readonly from_ms: number;
  /** Messages sent and received so far. */
  readonly sent: number;
  /** Messages received so far. */
  readonly received: number;
  /** What was wrong with each message that could not be understood, the first few. */
  readonly malformed: readonly string[];
  /** How many messages could not be understood. */
  readonly malformed_count: number;
  /** Types of messages that the emulator doesn't know and that may mean something to a service. */
  readonly ignored: readonly string[];
}

/** An application threw away what the callee was to hear. The first 100 of a stream are told. */
export interface CutEntry extends Stamp, Omit<Cut, "type"> {
  /** Tells the kinds of entries apart. */
  readonly type: "cut";
  /** Which action of the flow, counted from 1. */
  readonly step: number;
  /** Which message of the application did it. */
  readonly by: "clear" | "interrupt";
}

/** One try to deliver a notification. */
export interface NotificationEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "notification";
  /** The notification's id, the same on every try. */
  readonly id: string;
  /** The notification's type, such as `call.ringing`. */
  readonly event: string;
  /** Counts the tries of this notification from 1. */
  readonly try: number;
  /** Whether it has arrived, will be tried again, or is lost. */
  readonly outcome: "delivered" | "retrying" | "given_up";
  /** When the next try is, if there is one, in ISO 8601 UTC. */
  readonly next_at?: string;
  /** Milliseconds on the wall. */
  readonly ms: number;
  /** Absent when no answer came. */
  readonly status?: number;
  /** What went wrong. */
  readonly error?: string;
  /** What was sent, as it was sent. */
  readonly request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
  /** The beginning of what the receiver answered. */
  readonly response?: { readonly body: string };
}

/** The recording can be fetched. */
export interface RecordingEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "recording";
  /** What was asked for. */
  readonly url: string;
  /** Its length in seconds. */
  readonly seconds: number;
}

/** Something of yours threw, and the call went on without it. */
export interface ErrorEntry extends Stamp {
  /** Tells the kinds of entries apart. */
  readonly type: "error";
  /** Which option. */
  readonly source: "onCall" | "callee";
  /** What it said. */
  readonly message: string;
}

/** What happened in a call, told apart by `type`. */
export type HistoryEntry =
  | StateEntry
  | FlowEntry
  | FlowErrorEntry
  | ActionEntry
  | LegEntry
  | StreamEntry
  | CutEntry
  | NotificationEntry
  | RecordingEntry
  | ErrorEntry;

/** What happened to the service as a whole. */
export type ServiceEvent =
  /** A request was refused. */
  | {
      readonly type: "refused";
      readonly at: string;
      readonly method: string;
      readonly path: string;
      readonly status: number;
    }
  /** The key is another one. */
  | { readonly type: "key"; readonly at: string }
  /** All calls were forgotten. */
  | { readonly type: "reset"; readonly at: string };

/** Everything that happens, told apart by `type`. */
export type EmulatorEvent = HistoryEntry | ServiceEvent;

/** An entry as its part writes it: the call adds time and id. */
export type Note = HistoryEntry extends infer Entry
  ? Entry extends HistoryEntry
    ? Omit<Entry, keyof Stamp>
    : never
  : never;
