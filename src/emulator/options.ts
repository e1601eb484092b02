import type { Callee } from "./callee/act.ts";
import type { Outcome } from "./line/outcome.ts";
import type { CallRecord } from "./line/record.ts";
import type { Mishaps } from "./notify/mishaps.ts";
import type { Send } from "./outgoing.ts";

/**
 * Decides what the telephone does that is called; `undefined` leaves it to the number. So does what it
 * throws, an outcome that there isn't, and nothing at all within `respondWithin`: the call's history tells
 * of it.
 */
export type OnCall = (call: CallRecord) => Outcome | undefined | Promise<Outcome | undefined>;

/**
 * What may be configured about an emulator. All times are in milliseconds, and but for
 * `respondWithin` by the emulator's clock.
 *
 * @see docs/emulator.md
 */
export interface EmulatorOptions {
  /**
   * The account's key.
   *
   * @defaultValue a new one: `ak_` and 43 base64url characters
   */
  readonly apiKey?: string | undefined;
  /**
   * The numbers that the account may call from, in E.164.
   *
   * @defaultValue any number
   */
  readonly numbers?: readonly string[] | undefined;
  /**
   * Signs the notifications: `whsec_` and base64 of 24 to 64 bytes.
   *
   * @defaultValue a new one, of 32 bytes
   */
  readonly webhookSecret?: string | undefined;
  /**
   * The address or name that the emulator is bound to, for whoever puts it on a port: plain http on
   * loopback is allowed in a call's URLs when this is loopback. What a request says of where it came
   * in is its sender's word.
   *
   * @defaultValue that of each request's URL: in process, nothing is bound
   */
  readonly host?: string | undefined;
  /**
   * Makes the emulator's own requests, to flows, media and receivers of notifications: a `fetch`, or
   * an application of yours that answers a `Request`. It is called without `this`, as fetch would
   * be: with a `Request`, and an object whose `signal` aborts once nobody waits for the answer.
   *
   * @defaultValue the platform's `fetch`, looked up at each request
   */
  readonly fetch?: Send | undefined;
  /**
   * Opens the sockets of `stream` actions.
   *
   * @defaultValue the platform's `WebSocket`
   */
  readonly WebSocket?: (new (url: string) => WebSocket) | undefined;
  /**
   * `"real"`: time passes. `"instant"`: nobody waits, everything happens in the same order, and
   * durations read as if time had passed. A call's time stands still while an application answers it.
   *
   * @defaultValue `"real"`
   */
  readonly clock?: "real" | "instant" | undefined;
  /**
   * How many times as fast the real clock runs as the one on the wall.
   *
   * @defaultValue 1
   */
  readonly speed?: number | undefined;
  /**
   * How long a telephone rings before somebody answers.
   *
   * @defaultValue 2 000
   */
  readonly ringFor?: number | undefined;
  /**
   * How long a telephone may ring at most: then the call fails with `no_answer`.
   *
   * @defaultValue 30 000
   */
  readonly answerWithin?: number | undefined;
  /**
   * How long an answered call may last: then it completes with `max_duration`.
   *
   * @defaultValue 3 600 000, an hour
   */
  readonly maxDuration?: number | undefined;
  /**
   * How long an application may take for an answer, on the wall whatever the clock.
   *
   * @defaultValue 10 000
   */
  readonly respondWithin?: number | undefined;
  /** Decides the outcome of each call, in place of the number that it dials. */
  readonly onCall?: OnCall | undefined;
  /**
   * What the person does who answers: an (async) generator function that makes the acts of each call, or
   * a list of acts. It goes on while media are played and streams are open; what it says goes out in a
   * stream's messages. At its end the person is silent, and stays.
   *
   * @defaultValue a tone of 440 Hz in every stream
   */
  readonly callee?: Callee | undefined;
  /**
   * What goes wrong on the way of notifications: an application must stand that they are lost, doubled,
   * late and out of order.
   *
   * @defaultValue nothing
   */
  readonly notifications?: Mishaps | undefined;
  /**
   * Makes ids and jitter the same on every run of the same calls, one after the other. No time is in those
   * ids: they only sort in the order in which they were made. Keys and secrets never depend on it.
   *
   * @defaultValue a random one
   */
  readonly seed?: number | undefined;
  /**
   * How many calls are still known after they have ended.
   *
   * @defaultValue 1 000
   */
  readonly keep?: number | undefined;
}
