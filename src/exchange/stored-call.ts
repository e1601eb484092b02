import type { RecordedAudio, ServedCall } from "../server/call.ts";
import type { CallFacts, NewEntry } from "../server/history.ts";
import { iso } from "../server/history.ts";
import type { Reach } from "../server/outgoing.ts";
import type { CallRecorder } from "./parts.ts";
import type { Store, StoredRow } from "./store.ts";

/** A call without a process that runs it: it is over, or nobody knows yet how it ended. */
export class StoredCall implements ServedCall {
  readonly id: string;
  readonly params: ServedCall["params"];
  readonly reach: Reach;
  readonly flowFailures = [];
  readonly timeline: ServedCall["timeline"] = { now: () => Date.now(), after: () => {} };
  readonly audio: RecordedAudio;
  readonly #store: Store;
  #facts: CallFacts;

  constructor(row: StoredRow, store: Store, reach: Reach, recorder: CallRecorder | undefined) {
    const { id, params, facts } = row;
    this.id = id;
    this.params = params;
    this.reach = reach;
    this.#facts = facts;
    this.#store = store;
    this.audio = {
      pause: () => {},
      resume: () => {},
      silence: () => {},
      firstAudible: () => undefined,
      lastAudible: () => undefined,
      download: (...part) =>
        recorder?.download(id, ...part) ?? new Response("Not Found", { status: 404 }),
    };
  }

  get facts(): CallFacts {
    return this.#facts;
  }

  get state(): CallFacts["state"] {
    return this.#facts.state;
  }

  get isOver(): boolean {
    return this.#facts.ended_at !== undefined;
  }

  get talkTime(): number {
    const { answered_at, ended_at } = this.#facts;
    return answered_at === undefined || ended_at === undefined ? 0 : ended_at - answered_at;
  }

  /**
   * Ends a call whose end nobody saw.
   *
   * @param at - the last that is known of it, in milliseconds since 1970
   * @param recordingUrl - where its recording is, if it has one
   */
  lose(at: number, recordingUrl: (() => string) | undefined): void {
    const { answered_at, ...facts } = this.#facts;
    const isAnswered = answered_at !== undefined;
    const ended_at = Math.max(at, answered_at ?? facts.initiated_at);
    this.#facts = {
      ...facts,
      state: isAnswered ? "completed" : "failed",
      reason: "lost",
      ended_at,
      ...(isAnswered && { answered_at, duration: Math.round((ended_at - answered_at) / 1_000) }),
      ...(isAnswered && facts.record && recordingUrl && { recording_url: recordingUrl() }),
    };
    this.log({ type: "state", state: this.#facts.state, reason: "lost" });
  }

  transition(): boolean {
    return false;
  }

  sendKeys(): void {}

  log(entry: NewEntry): void {
    this.#store.addEntry({ at: iso(Date.now()), call_id: this.id, ...entry });
  }

  warnOfPlain(): void {}
}
