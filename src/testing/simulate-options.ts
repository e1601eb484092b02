import { boolean, custom, type GenericSchema, optional, strictObject } from "valibot";
import type { Context } from "../callbacks/signed-url.ts";
import type { Callee } from "../emulator/callee-script.ts";
import { milliseconds } from "../emulator/options.ts";
import type { MediaSocket } from "../flows/media/socket.ts";
import { isFunction, isRecord, isText, presence } from "../lib/check.ts";
import type { MediaClock } from "../lib/clock.ts";
import type { Service } from "../service.ts";
import type { Detector } from "./detector.ts";
import type { LineFaults } from "./line.ts";

/** Options of `connectAgent` and `warmAgent` that a simulated line needs: spread them into those of the application. */
export interface SimulatedOptions {
  /** The time of the call: `hold` stops it for a promise, and `after` is its timer. */
  readonly simulation: MediaClock;
  /** The carrier, if the line has one. */
  readonly service?: Service;
  /** With a carrier that sends the token of the URL with `start`: the secret that signed it. */
  readonly secret?: string;
  /** The same: path and query of the request. */
  readonly url?: string;
  /** Without such a carrier: the context of the URL, which the application is to have verified. */
  readonly context?: Context;
}

/** The options of `simulateCall`. */
export interface SimulateOptions {
  /**
   * The application: called with the media socket of the answered call, as a server is. It must add its listeners
   * before it yields, as `connectAgent` does.
   */
  readonly app: (socket: MediaSocket, options: SimulatedOptions) => unknown;
  /** What the caller does: a list of acts, or a function as the emulator's `callee` takes it. */
  readonly caller: Callee;
  /**
   * The carrier whose media protocol the line speaks.
   *
   * @defaultValue outdial's own interface
   */
  readonly service?: Service | undefined;
  /**
   * Faults of the line.
   *
   * @defaultValue none
   */
  readonly line?: LineFaults | undefined;
  /**
   * `"virtual"`: nothing waits, and the figures are exact and the same in each run. `"real"`: time passes, for an agent
   * behind a network.
   *
   * @defaultValue `"virtual"`
   */
  readonly time?: "virtual" | "real" | undefined;
  /**
   * The context that `signUrl` puts into the `ws_url`: tools and `onEnd` get it.
   *
   * @defaultValue none
   */
  readonly context?: Context | undefined;
  /**
   * The longest call, in milliseconds.
   *
   * @defaultValue 600 000
   */
  readonly maxDuration?: number | undefined;
  /**
   * Finds the agent's speech.
   *
   * @defaultValue frames of 10 ms above -45 dBFS, for 60 ms or more
   */
  readonly detector?: Detector | undefined;
  /**
   * Runs the call a second time, more slowly, and compares the figures: in virtual time they are the same unless the
   * application waits on a clock of its own, such as by `setTimeout`. `trust.differs` names what differs, and `trust.ok` is
   * `false` then. `app` is called once for each run, and so is `caller` where it is a function.
   *
   * @defaultValue `false`
   */
  readonly twice?: boolean | undefined;
}

const part = custom<number>(
  (value) => typeof value === "number" && value >= 0 && value < 1,
  "must be 0 or more and below 1",
);

const decibels = custom<number>(
  (value) => typeof value === "number" && value <= 0 && value >= -100,
  "must be -100 to 0 dB",
);

/** The rules of the options. */
export const SimulateOptionsSchema: GenericSchema<unknown, SimulateOptions> = strictObject(
  {
    app: custom<SimulateOptions["app"]>(isFunction, "must be a function"),
    caller: custom<Callee>(
      (value) => isFunction(value) || Array.isArray(value),
      "must be a function or a list",
    ),
    service: optional(
      custom<Service>(
        (value) => isRecord(value) && isRecord(value.media),
        "must be a service, such as the one that twilio() makes",
      ),
    ),
    line: optional(
      strictObject(
        {
          latency: optional(milliseconds),
          jitter: optional(milliseconds),
          loss: optional(part),
          narrowband: optional(boolean("must be true or false")),
          noise: optional(decibels),
          echo: optional(decibels),
          seed: optional(custom<number>(Number.isSafeInteger, "must be a whole number")),
        },
        presence,
      ),
    ),
    time: optional(
      custom<"virtual" | "real">(
        (value) => value === "virtual" || value === "real",
        'must be "virtual" or "real"',
      ),
    ),
    context: optional(custom<Context>(isRecord, "must be an object")),
    maxDuration: optional(milliseconds),
    detector: optional(
      custom<Detector>(
        (value) => isRecord(value) && isText(value.name) && isFunction(value.detect),
        "must have a name and a function detect",
      ),
    ),
    twice: optional(boolean("must be true or false")),
  },
  presence,
);
