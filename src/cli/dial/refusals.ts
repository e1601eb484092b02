import { RefusedException } from "../../callbacks/index.ts";
import { isException } from "../../index.ts";
import { fieldsOf } from "../../lib/check.ts";
import { Failure } from "../command.ts";
import { ledgerFailure } from "../ledger.ts";
import { plain } from "../terminal.ts";
import type { ListOptions } from "./script.ts";

/** Milliseconds between two lines about requests that came to nothing. */
const interval = 60_000;

/** What an error says of itself. */
const messageOf = (error: unknown): string => String(fieldsOf(error).message ?? error);

/**
 * What is said of a server's errors: anybody can send requests that are refused, or end them in the middle, so of those
 * one line a minute.
 */
export class RefusalLog {
  readonly #now: () => number;
  #unprinted = 0;
  #from = Number.NEGATIVE_INFINITY;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * The line about a request that was refused, or failed by itself; `undefined` if none is printed now.
   *
   * @param claimed - the call that its sender names
   */
  lineOf(error: unknown, claimed?: string): string | undefined {
    this.#unprinted++;
    const now = this.#now();
    // A clock may be set back.
    if (now < this.#from && this.#from <= now + interval) return;
    const more = this.#unprinted > 1 ? ` (${this.#unprinted} since the last line)` : "";
    this.#unprinted = 0;
    this.#from = now + interval;
    const what = error instanceof RefusedException ? "was refused" : "failed";
    const about = claimed ? ` about the call ${claimed}` : "";
    return `a request${about} ${what}: ${messageOf(error)}${more}`;
  }
}

/** Prints the errors of a list's requests: what its script has thrown, and what the ledger could not keep. */
export const requestErrors = (print: (text: string) => unknown): ListOptions["onError"] => {
  const refusals = new RefusalLog();
  return (error, call_id, claimed) => {
    const failure = ledgerFailure(error);
    if (failure instanceof Failure) {
      // The status line says that the ledger is busy.
      if (failure.facts.reason === "busy") return;
      print(`outdial: a notification was not recorded: ${plain(failure.message)}`);
      return;
    }
    // The id of a call is what its sender says, too.
    const line =
      call_id === undefined
        ? refusals.lineOf(error, claimed)
        : `call ${call_id}: ${messageOf(error)}`;
    if (line !== undefined) print(`outdial: ${plain(line)}`);
  };
};

/** Why calls cannot be placed at present, if the service is the reason. */
export const troubleOf = (error: unknown): string | undefined => {
  if (!isException(error)) return;
  if (error.name === "NetworkException") return "the service cannot be reached";
  if (error.name === "TimeoutException") return "the service does not answer";
  return "code" in error ? `the service answers HTTP ${error.code}` : undefined;
};
