import type { HistoryEntry } from "../line/history.ts";

/** What has gone wrong with a call's notifications. */
export interface Trouble {
  /** How many are lost for good. */
  readonly lost: number;
  /** The one that is tried again. */
  readonly retrying?: {
    readonly event: string;
    /** How often it was tried. */
    readonly tries: number;
    readonly error: string;
    /** When the next try is, in milliseconds since 1970 by the emulator's clock. */
    readonly next_at: number;
  };
}

/** The trouble that a history tells of; `undefined` when all that was told has arrived. */
export const troubleOf = (history: readonly HistoryEntry[]): Trouble | undefined => {
  const tries = history.filter((entry) => entry.type === "notification");
  const lost = tries.filter(({ outcome }) => outcome === "given_up").length;
  // One after the other: only the latest can be on its way.
  const last = tries.at(-1);
  if (last?.outcome !== "retrying") return lost > 0 ? { lost } : undefined;
  const { event, error = "", next_at } = last;
  const retrying = { event, tries: last.try, error, next_at: Date.parse(next_at ?? last.at) };
  return { lost, retrying };
};
