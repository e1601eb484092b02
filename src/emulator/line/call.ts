import type { CallParams } from "../../calls/params.ts";
import type { Person } from "../callee/person.ts";
import { Recording } from "../recording/recording.ts";
import type { Clock, Timeline } from "./clock/clock.ts";
import type { HistoryEntry, Note } from "./history.ts";
import { iso } from "./iso.ts";
import type { CallFacts, CallRecord } from "./record.ts";
import { type CallState, type Incident, isOver, reasonOf, transitions } from "./states.ts";

/** Where a call came in. */
export interface Arrival {
  readonly id: string;
  readonly params: CallParams;
  /** Gives the address at which the recording can be fetched. */
  readonly recordingUrl: () => string;
  /** Whether plain http on loopback is allowed. */
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

type Writable<T> = { -readonly [Field in keyof T]: T[Field] };

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
  /** Aborts once the call is over. */
  readonly over: AbortController = new AbortController();
  /** Aborts once nobody wants to know of the call any more. */
  readonly forgotten: AbortController = new AbortController();
  /** Who has answered, when they have a script. */
  person: Person | undefined;
  /** Whether the callee will hang up in the middle of the next action. */
  leavesMidway = false;
  readonly #recordingUrl: () => string;
  readonly #listeners: Listeners;
  readonly #facts: Writable<CallFacts>;
  readonly #history: HistoryEntry[] = [];
  #recording: Recording | undefined;

  constructor({ id, params, recordingUrl, local }: Arrival, clock: Clock, listeners: Listeners) {
    const { record = true, ...others } = params;
    this.id = id;
    this.params = params;
    this.local = local;
    this.timeline = clock();
    this.post = this.timeline.fork();
    this.#recordingUrl = recordingUrl;
    this.#listeners = listeners;
    const initiated_at = this.timeline.now();
    this.#facts = { id, state: "initiated", ...others, record, initiated_at };
  }

  /** The call as it is now. */
  get facts(): CallFacts {
    return this.#facts;
  }

  /** What can be heard in it. */
  get recording(): Recording {
    this.#recording ??= new Recording();
    return this.#recording;
  }

  get state(): CallState {
    return this.#facts.state;
  }

  get isOver(): boolean {
    return isOver(this.#facts.state);
  }

  /** Milliseconds from the answer up to now, or to the end. */
  get talked(): number {
    const { answered_at, ended_at = this.timeline.now() } = this.#facts;
    return ended_at - (answered_at ?? ended_at);
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
    const facts = this.#facts;
    const state = transitions[facts.state][incident];
    if (!state) return false;
    const now = this.timeline.now();
    facts.state = state;
    if (state === "answered") facts.answered_at = now;
    if (isOver(state)) {
      facts.ended_at = now;
      this.timeline.stop();
      this.person?.leave();
      this.over.abort(gone);
    } else {
      this.timeline.skip();
    }
    const reason = reasonOf(incident);
    if (reason) facts.reason = reason;
    if (state === "completed") this.#complete();
    this.#enter();
    return true;
  }

  /** Ends the call because its flow can't be followed, and remembers why. */
  fail(flow_error: string): void {
    if (this.isOver) return;
    this.#facts.flow_error = flow_error;
    this.happen("flow_error");
  }

  /** Adds to the history, for as long as anyone wants to know. */
  note(note: Note): void {
    if (this.forgotten.signal.aborted) return;
    const entry = { at: iso(this.timeline.now()), call_id: this.id, ...note };
    this.#history.push(entry);
    this.#listeners.onEntry(entry);
  }

  /** Drops everything that is still to be done for the call, and says nothing. */
  forget(): void {
    this.timeline.stop();
    this.person?.leave();
    this.post.stop();
    this.over.abort(gone);
    this.forgotten.abort(gone);
  }

  /** The call as it is now, with its history so far. */
  toRecord(): CallRecord {
    return { ...this.#facts, history: [...this.#history] };
  }

  /** The time is over, and what was to be recorded is recorded. */
  #complete(): void {
    const facts = this.#facts;
    facts.duration = Math.round(this.talked / 1000);
    if (!facts.record) return;
    const url = this.#recordingUrl();
    facts.recording_url = url;
    this.note({ type: "recording", url, seconds: this.talked / 1000 });
  }

  #enter(): void {
    const { state, reason } = this.#facts;
    this.note({ type: "state", state, ...(reason && { reason }) });
    this.#listeners.onState(this);
  }
}
