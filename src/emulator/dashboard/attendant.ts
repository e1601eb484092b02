import type { CallParams } from "../../calls/params.ts";
import { destinationOf } from "../line/destinations.ts";
import { longest, type Outcome } from "../line/outcome.ts";

/** Whoever sits before the page: once they are there, a telephone rings until they decide. */
export class Attendant {
  readonly #watchers = new Set<() => void>();
  #isThere = false;

  /** Whether a telephone that rings is left to them. */
  get isThere(): boolean {
    return this.#isThere;
  }

  set isThere(isThere: boolean) {
    this.#isThere = isThere;
    for (const tell of this.#watchers) tell();
  }

  /** The emulator's option: decides nothing while nobody is there, nor for what never rings. */
  readonly onCall = ({ to_number }: Pick<CallParams, "to_number">): Outcome | undefined => {
    const { outcome } = destinationOf(to_number).outcome;
    if (!this.#isThere || outcome === "busy" || outcome === "unreachable") return;
    return { outcome: "no_answer", ringFor: longest };
  };

  /**
   * Tells of each change.
   *
   * @returns ends that
   */
  watch(tell: () => void): () => void {
    this.#watchers.add(tell);
    return () => this.#watchers.delete(tell);
  }
}
