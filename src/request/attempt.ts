import type { ExceptionFacts, Placed } from "../errors.ts";

/** One POST, as `onAttempt` hears of it: it may be logged as it stands. */
export interface Attempt {
  /** How it was sent. */
  readonly method: "POST";
  /** Where it went, without a query. */
  readonly url: string;
  /** Which of the call's POSTs it was: `1` is the first. */
  readonly attempt: number;
  /** How long it took, from sending to the end of the answer, or of the call. */
  readonly milliseconds: number;
  /** The HTTP status; absent when no head came. */
  readonly status?: number | undefined;
  /** The request's id at the service, when `x-request-id` or `request-id` has one. */
  readonly requestId?: string | undefined;
  /** `"yes"`: the call's id came. Otherwise as in the exceptions. */
  readonly placed: Placed | "yes";
}

/** Hears of every POST. */
export type OnAttempt = (attempt: Attempt) => unknown;

/**
 * Begins to watch a POST, and gives what tells of its end: the first time that it is called, and
 * whatever becomes of the listener, which can't fail a call or hold one up.
 *
 * @param facts - what is known of the call at that time, but that it was placed
 */
export const watched = (
  onAttempt: OnAttempt,
  url: string,
  attempt: number,
  facts: () => ExceptionFacts,
): ((placed?: "yes") => void) => {
  const began = performance.now();
  let isTold = false;
  return (yes) => {
    if (isTold) return;
    isTold = true;
    const { code: status, requestId, placed } = facts();
    const milliseconds = Math.round(performance.now() - began);
    const told = { method: "POST", url, attempt, milliseconds, status, requestId } as const;
    (async () => onAttempt({ ...told, placed: yes ?? placed }))().catch(() => {});
  };
};
