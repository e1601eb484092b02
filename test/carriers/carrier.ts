import type { Emulator, EmulatorOptions } from "../../src/emulator/index.ts";
import type { Service } from "../../src/service.ts";

/** A carrier as the tests of our client, our handlers and its emulator together know it. */
export interface Carrier {
  readonly name: string;
  /** Our side of it, which verifies what its emulator signs. */
  readonly service: Service;
  /** The same with the secret of another account. */
  readonly stranger: Service;
  /** Makes an emulator of it that signs for `service`. */
  readonly emulated: EmulatorOptions;
  /** The key of our client. */
  readonly keyOf: (emulator: Emulator) => string;
  /** The account that its events name. */
  readonly account: unknown;
  /** The types of a call's events by its number, without `call.`, and the reason that one of them has. */
  readonly events: readonly (readonly [
    to: string,
    types: readonly string[],
    reason: string | undefined,
  ])[];
  /** How often an event is delivered again until it is given up, at most 2. */
  readonly redeliveries: number;
  /** What it calls the steps of a flow. */
  readonly steps: {
    readonly play: string;
    /** The request of what follows. */
    readonly next: string;
    readonly dial: string;
    /** What is at the end of a document where nothing follows. */
    readonly end: readonly string[];
  };
  /** Which branch follows a `dial` that is rejected. */
  readonly rejected: "no-answer" | "failed";
  /** Whether a call may be recorded from its beginning. */
  readonly records: boolean;
  /** Whether the query of a `ws_url` comes in `start`, and not with the request for the socket. */
  readonly signsStart: boolean;
  /** Milliseconds of audio to whose multiple the last message of it is padded. */
  readonly frame: number;
}
