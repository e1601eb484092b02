import type { FailureReason } from "../performer/line.ts";
import type { AriClient, ChannelEvent } from "./ari.ts";

/** A telephone that is called. Times are in milliseconds. */
export interface Calling {
  /** Ours, so that nobody calls twice under it. */
  readonly id: string;
  /** Asterisk's name for whom it calls, such as `PJSIP/+12025550100@trunk`. */
  readonly endpoint: string;
  /** The number that the telephone shows. */
  readonly callerId: string;
  readonly answerTimeout: number;
  /** How long Asterisk lets it live at most, in milliseconds: whatever became of this process. */
  readonly lifetime: number;
  /** Hangs up, or stops ringing. */
  readonly signal: AbortSignal;
  readonly onRing: () => void;
  readonly onKey: (key: string) => void;
  /** Called when an answered telephone has hung up; `lost`: nobody saw it. */
  readonly onEnd: (reason: "normal" | "lost") => void;
  /** Called when Asterisk has answered that it calls, or that it doesn't: no request is under way any more. */
  readonly onSettled?: () => void;
  /** Keeps a request that was cut off from ringing later. */
  readonly fence?: () => void;
}

/** The reasons that a SIP status gives. Others depend on whether the telephone rang. */
const byStatus: Readonly<Record<number, FailureReason>> = {
  403: "rejected",
  486: "busy",
  600: "busy",
  603: "rejected",
  607: "rejected",
  608: "rejected",
};

/** The reasons that a cause of Q.850 gives, for a channel without a SIP status. */
const byCause: Readonly<Record<number, FailureReason>> = { 17: "busy", 21: "rejected" };

/** The statuses and causes by which a telephone that rang was not answered. */
const unanswered: ReadonlySet<number> = new Set([408, 480, 487]);
const unansweredCauses: ReadonlySet<number> = new Set([18, 19]);

/**
 * Why nobody answered.
 *
 * @param hasRung - whether the telephone rang: without that it was not reached
 */
const failureOf = (
  {
    cause = 0,
    status,
  }: { readonly cause: number | undefined; readonly status: number | undefined },
  hasRung: boolean,
): FailureReason => {
  const known = status === undefined ? byCause[cause] : byStatus[status];
  if (known) return known;
  const isUnanswered = status === undefined ? unansweredCauses.has(cause) : unanswered.has(status);
  return hasRung && isUnanswered ? "no_answer" : "unreachable";
};

/** How much longer Asterisk rings than we do, in seconds: it only ends what we could not. */
const grace = 5;

/**
 * Calls a telephone.
 *
 * @returns why nobody answered; `undefined` once somebody has
 */
export const callTelephone = async (
  ari: AriClient,
  calling: Calling,
): Promise<FailureReason | undefined> => {
  const { id, endpoint, callerId, answerTimeout, lifetime, signal, onRing, onKey, onEnd } = calling;
  let hasRung = false;
  let isAnswered = false;
  const hangUp = () => ari.send("DELETE", `/channels/${id}`, { reason_code: "16" });
  return new Promise((resolve) => {
    const settle = (reason: FailureReason | undefined) => {
      clearTimeout(deadline);
      if (reason !== undefined) signal.removeEventListener("abort", cancel);
      resolve(reason);
    };
    const ring = () => {
      if (hasRung) return;
      hasRung = true;
      onRing();
    };
    const on: { readonly [Type in ChannelEvent["type"]]: (event: ChannelEvent) => void } = {
      ringing: ring,
      entered: () => {
        ring();
        isAnswered = true;
        settle(undefined);
      },
      // A key before the answer is the network's, or pressed for it.
      key: (event) => isAnswered && event.type === "key" && onKey(event.key),
      ended: (event) => {
        signal.removeEventListener("abort", cancel);
        if (isAnswered) onEnd("normal");
        else if (event.type === "ended") settle(failureOf(event, hasRung));
      },
      lost: () => {
        signal.removeEventListener("abort", cancel);
        if (isAnswered) onEnd("lost");
        else settle("lost");
      },
    };
    const stopWatching = ari.watch(id, (event) => on[event.type](event));
    const cancel = () => {
      hangUp();
      if (!isAnswered) settle("canceled");
    };
    // Asterisk's own timeout doesn't end a call that got 100 Trying and then nothing.
    const deadline = setTimeout(() => {
      stopWatching();
      hangUp();
      const unseen = hasRung ? "no_answer" : "unreachable";
      settle(ari.isOpen ? unseen : "lost");
    }, answerTimeout);
    signal.addEventListener("abort", cancel);
    if (signal.aborted) return settle("canceled");
    const timeout = String(Math.ceil(answerTimeout / 1_000) + grace);
    const query = { endpoint, app: ari.app, channelId: id, callerId, timeout };
    const refuse = (reason: FailureReason) => {
      stopWatching();
      settle(reason);
    };
    // Asterisk's name for the absolute timeout, in seconds.
    const variables = { "TIMEOUT(absolute)": String(Math.ceil(lifetime / 1_000) + grace) };
    ari.request("POST", "/channels", query, variables).then(
      ({ status }) => {
        calling.onSettled?.();
        if (status !== 200) refuse("unreachable");
      },
      () => {
        // It may ring all the same, as only the answer was lost; or begin to, where the request comes late.
        hangUp();
        calling.fence?.();
        refuse("lost");
      },
    );
  });
};

/** How long a key that we press sounds, in milliseconds. */
const keyDuration = 100;

/**
 * Presses keys for a telephone to hear; `w` is a pause.
 *
 * @param interval - from one key to the next, in milliseconds
 */
export const pressKeys = (
  ari: AriClient,
  channel: string,
  keys: string,
  interval: number,
): void => {
  const duration = String(keyDuration);
  const between = String(interval - keyDuration);
  ari.send("POST", `/channels/${channel}/dtmf`, { dtmf: keys, duration, between });
};
