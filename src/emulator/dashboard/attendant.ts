import type { CallParams } from "../../calls/params.ts";
import { maxOutcomeDuration, type Outcome, scenarioOf } from "../scenarios.ts";

/** The person at the dashboard. While present, every telephone rings until they answer or reject. */
export class Attendant {
  readonly #listeners = new Set<() => void>();
  #isPresent = false;

  get isPresent(): boolean {
    return this.#isPresent;
  }

  set isPresent(isPresent: boolean) {
    this.#isPresent = isPresent;
    for (const listener of this.#listeners) listener();
  }

  /** The emulator's option `onCall`: leaves the outcome to the number while absent, or if it never rings. */
  readonly onCall = ({ to_number }: Pick<CallParams, "to_number">): Outcome | undefined => {
    const { outcome } = scenarioOf(to_number).outcome;
    if (!this.#isPresent || outcome === "busy" || outcome === "unreachable") return;
    return { outcome: "no_answer", ringDuration: maxOutcomeDuration };
  };

  /**
   * Calls the listener on each change.
   *
   * @returns a function that removes the listener
   */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
