import type { CallParams } from "../calls/params.ts";
import type { Clock, Timeline } from "./clock.ts";
import type { CallFacts, CallRecord, HistoryEntry, Note } from "./history.ts";
import { Recording } from "./recording.ts";
import {
  type CallState,
  type Incident,
  isOver,
  type Reason,
  reasonOf,
  transitions,
} from "./states.ts";

/** Where a call came in. */
export interface Arrival {
  readonly id: string;
  readonly params: CallParams;
  /** The origin of the request: where the recording can be fetched. */
  readonly origin: string;
  /** Whether that is this machine, so that plain http on loopback is allowed. */
  readonly local: boolean;
}

/** A notification, ready to be sent. */
export interface Message {
  readonly id: string;
  /** Its type. */
  readonly event: string;
  readonly body: string;
}

/** What a call tells the rest of the emulator. */
export interface Listeners {
  readonly onEntry: (entry: HistoryEntry) => void;
  readonly onState: (call: Call) => void;
}

/** The reason of every abort here. A fixed one: to make an error for each call is costly. */
const gone = "The call is over";

/** One call: its state, its time and its history. */
export class Call {
  readonly id: string;
  readonly params: CallParams;
  readonly local: boolean;
  /** The time of its line. */
  readonly timeline: Timeline;
  /** The time of its notifications. */
  readonly post: Timeline;
  /** The notifications that are not yet delivered, or lost. */
  readonly mail: Message[] = [];
  /** Settles once that is empty. */
  delivered: Promise<void> = Promise.resolve();
  /** What can be heard in it. */
  readonly recording: Recording = new Recording();
  /** Aborts once the call is over. */
  readonly over: AbortController = new AbortController();
  /** Aborts once nobody wants to know of the call any more. */
  readonly forgotten: AbortController = new AbortController();
  /** Whether the callee will hang up in the middle of the next action. */
  leavesMidway = false;
  /** Why the flow could not be followed. */
  flowError: string | undefined;
  readonly #origin: string;
  readonly #listeners: Listeners;
  readonly #history: HistoryEntry[] = [];
  readonly #initiated: number;
  #state: CallState = "initiated";
  #reason: Reason | undefined;
  #answered: number | undefined;
  #ended: number | undefined;

  constructor({ id, params, origin, local }: Arrival, clock: Clock, listeners: Listeners) {
    this.id = id;
    this.params = params;
    this.local = local;
    this.timeline = clock();
    this.post = this.timeline.fork();
    this.#origin = origin;
    this.#listeners = listeners;
    this.#initiated = this.timeline.now();
  }

  get state(): CallState {
    return this.#state;
  }

  get isOver(): boolean {
    return isOver(this.#state);
  }

  /** Milliseconds from the answer up to now, or to the end. */
  get talked(): number {
    const until = this.#ended ?? this.timeline.now();
    return until - (this.#answered ?? until);
  }

  /** Where the recording is, once there is one. */
  get recordingUrl(): string | undefined {
    return this.#state === "completed" && this.params.record !== false
      ? `${this.#origin}/recordings/${this.id}.wav`
      : undefined;
  }

  /** Says that the call has come in. */
  begin(): void {
    this.#enter();
  }

  /**
   * Makes the one transition that an incident means in this state.
   *
   * @returns whether there is one
   */
  happen(incident: Incident): boolean {
    const state = transitions[this.#state][incident];
    if (!state) return false;
    const now = this.timeline.now();
    this.#state = state;
    this.#reason = reasonOf(incident);
    if (state === "answered") this.#answered = now;
    if (isOver(state)) {
      this.#ended = now;
      this.timeline.stop();
      this.over.abort(gone);
    } else {
      this.timeline.skip();
    }
    this.#enter();
    return true;
  }

  /** Adds to the history, for as long as anyone wants to know. */
  note(note: Note): void {
    if (this.forgotten.signal.aborted) return;
    const entry = { at: new Date(this.timeline.now()).toISOString(), call_id: this.id, ...note };
    this.#history.push(entry);
    this.#listeners.onEntry(entry);
  }

  /** Drops everything that is still to be done for the call, and says nothing. */
  forget(): void {
    this.timeline.stop();
    this.post.stop();
    this.over.abort(gone);
    this.forgotten.abort(gone);
  }

  /** The call as it is now, with its history so far. */
  toRecord(): CallRecord {
    return { ...this.toFacts(), history: [...this.#history] };
  }

  /** The call as it is now. */
  toFacts(): CallFacts {
    const { record = true, from_number, to_number, flow_url, status_callback_url } = this.params;
    const reason = this.#reason;
    const recording_url = this.recordingUrl;
    const answered_at = this.#answered;
    const ended_at = this.#ended;
    return {
      id: this.id,
      state: this.#state,
      ...(reason && { reason }),
      from_number,
      to_number,
      flow_url,
      status_callback_url,
      record,
      initiated_at: this.#initiated,
      ...(answered_at !== undefined && { answered_at }),
      ...(ended_at !== undefined && { ended_at }),
      ...(answered_at !== undefined &&
        ended_at !== undefined && { duration: Math.round(this.talked / 1000) }),
      ...(recording_url !== undefined && { recording_url }),
      ...(this.flowError !== undefined && { flow_error: this.flowError }),
    };
  }

  #enter(): void {
    const state = this.#state;
    const reason = this.#reason;
    const url = this.recordingUrl;
    if (url) this.note({ type: "recording", url, seconds: this.talked / 1000 });
    this.note({ type: "state", state, ...(reason && { reason }) });
    this.#listeners.onState(this);
  }
}
