import { header, type SipHeader, type SipMessage } from "./sip.ts";

/** How a telephone keeps to session timers (RFC 4028): it sends refreshes, or ends the call when the caller sends none. */
export type SessionTimers =
  | { readonly refresher: "caller"; readonly knowsUpdate: boolean }
  | {
      readonly refresher: "telephone";
      readonly method: "INVITE" | "UPDATE";
      /** From one refresh to the next, in milliseconds: at most half the session's interval. */
      readonly every: number;
    };

/** How long a session lasts without a refresh, in seconds, as a message has it. */
export const intervalOf = (message: SipMessage): number | undefined => {
  const [, seconds] = /^(\d+)/.exec(header(message, "session-expires")) ?? [];
  return seconds === undefined ? undefined : Number(seconds);
};

/** What the telephone answers to an INVITE or an UPDATE. */
export const sessionHeaders = (
  request: SipMessage,
  timers: SessionTimers | undefined,
): readonly SipHeader[] => {
  const interval = intervalOf(request);
  const knowsUpdate = timers && (timers.refresher === "telephone" || timers.knowsUpdate);
  const allow = ["INVITE", "ACK", "CANCEL", "BYE", ...(knowsUpdate ? ["UPDATE"] : [])];
  if (!timers || interval === undefined) return [["Allow", allow.join(", ")]];
  // Of a request, the caller is the client.
  const refresher = timers.refresher === "caller" ? "uac" : "uas";
  return [
    ["Allow", allow.join(", ")],
    ["Supported", "timer"],
    ["Require", "timer"],
    ["Session-Expires", `${interval};refresher=${refresher}`],
  ];
};

/** What a session timer does to a call. */
export interface SessionTimerParts {
  /** Refreshes the session, and resolves with whether the caller has agreed. */
  readonly refresh: (
    method: "INVITE" | "UPDATE",
    headers: readonly SipHeader[],
  ) => Promise<boolean>;
  readonly onExpired: () => void;
}

/** The session timer of one call. */
export class SessionTimer {
  readonly #interval: number;
  readonly #timers: SessionTimers;
  readonly #parts: SessionTimerParts;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  /** @param interval - of the session, in seconds */
  constructor(interval: number, timers: SessionTimers, parts: SessionTimerParts) {
    this.#interval = interval;
    this.#timers = timers;
    this.#parts = parts;
    this.restart();
  }

  /** Begins an interval. */
  restart(): void {
    const timers = this.#timers;
    if (timers.refresher === "telephone") {
      this.#wait(timers.every, () => this.#refresh(timers.method));
    } else {
      // Who waits for a refresh ends the call a little before the interval is over.
      const seconds = this.#interval - Math.min(32, this.#interval / 3);
      this.#wait(seconds * 1_000, this.#parts.onExpired);
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #wait(ms: number, then: () => void): void {
    clearTimeout(this.#timer);
    if (!this.#isStopped) this.#timer = setTimeout(then, ms);
  }

  async #refresh(method: "INVITE" | "UPDATE"): Promise<void> {
    this.#wait((this.#interval * 1_000) / 2, this.#parts.onExpired);
    const isAgreed = await this.#parts.refresh(method, [
      ["Supported", "timer"],
      ["Session-Expires", `${this.#interval};refresher=uac`],
    ]);
    if (isAgreed) this.restart();
    else this.#parts.onExpired();
  }
}
