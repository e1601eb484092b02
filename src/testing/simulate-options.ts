import { boolean, custom, type GenericSchema, optional, picklist, strictObject } from "valibot";
import { type Context, type Secret, secretRule, secretsOf } from "../callbacks/signed-url.ts";
import type { Callee } from "../emulator/callee-script.ts";
import { milliseconds } from "../emulator/options.ts";
import type { MediaSocket } from "../flows/media/socket.ts";
import { isFunction, isRecord, isText, kindOf, presence } from "../lib/check.ts";
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
  readonly secret?: Secret;
  /** The same: path and query of the request. */
  readonly url?: string;
  /** Without such a carrier: the context of the URL, which the application is to have verified. */
  readonly context?: Context;
}

/** The options of `simulateCall` for each application. */
export interface SimulatedCallOptions {
  /** What the caller does: a list of acts, or a function as the emulator's `callee` takes it. */
  readonly caller: Callee;
  /**
   * The carrier whose interface the call has: that of its flow, and the media protocol of the line.
   *
   * @defaultValue outdial's own interface
   */
  readonly service?: Service | undefined;
  /**
   * Faults of the line, for the audio of a media socket.
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
   * The context that `signUrl` puts into the `ws_url`: tools and `onEnd` get it. With `flow` and `secret` it is that of the
   * `flow_url`.
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
   * Runs the call a second time, at most ten times as fast as a real one, and compares the figures: in virtual time they are
   * the same unless the application waits on a clock of its own, such as by `setTimeout`. What would come later than after a
   * tenth of the rest of the call comes in neither run. `trust.differs` names what differs, and `trust.ok` is
   * `false` then. `app` is called once for each run, and so is `caller` where it is a function.
   *
   * @defaultValue `false`
   */
  readonly twice?: boolean | undefined;
}

/** The options of `simulateCall` for an application that is connected to a media socket, as an agent is. */
export interface SimulateSocketOptions extends SimulatedCallOptions {
  /**
   * The application: called with the media socket of the answered call, as a server is. It must add its listeners
   * before it yields, as `connectAgent` does.
   */
  readonly app: (socket: MediaSocket, options: SimulatedOptions) => unknown;
}

/** The options of `simulateCall` for a flow. */
export interface SimulateFlowOptions extends SimulatedCallOptions {
  /** What `flowHandler` returns, or an application that has one: the service sends its requests here. */
  readonly flow: (request: Request) => Response | Promise<Response>;
  /**
   * Where the service requests the flow, without a token. Its path counts, where `flow` serves several.
   *
   * @defaultValue `"https://app.test/flow"`
   */
  readonly flow_url?: string | undefined;
  /**
   * The application of the media sockets that the flow opens.
   *
   * @defaultValue none: a flow that opens one is refused
   */
  readonly app?: SimulateSocketOptions["app"] | undefined;
  /**
   * The `secret` of the handler: it signs the `flow_url`, with `context`.
   *
   * @defaultValue the URL has no token
   */
  readonly secret?: Secret | undefined;
  /**
   * `"machine"`: the flow is requested as where a machine has answered and beeped, so that `onMachine` decides, on each service.
   *
   * @defaultValue `"person"`
   */
  readonly answeredBy?: "person" | "machine" | undefined;
  /**
   * Answers the requests for the media that the flow plays: the head of a WAV says how long it lasts.
   *
   * @defaultValue each lasts 5 s
   */
  readonly media?: ((request: Request) => Response | Promise<Response>) | undefined;
  /**
   * Where the handler's `service` verifies the signature of the carrier: the key that signs, with Twilio the auth token.
   *
   * @defaultValue a new one
   */
  readonly apiKey?: string | undefined;
  /**
   * The same with Vonage: the signature secret.
   *
   * @defaultValue a new one
   */
  readonly webhookSecret?: string | undefined;
}

/** The options of `simulateCall`: those of an application with a media socket, or those of a flow. */
export type SimulateOptions = SimulateSocketOptions | SimulateFlowOptions;

/** The options, each by its own rule. */
export type CheckedOptions = SimulatedCallOptions &
  Omit<SimulateFlowOptions, "flow"> & { readonly flow?: SimulateFlowOptions["flow"] | undefined };

const handler = custom<SimulateFlowOptions["flow"]>(isFunction, "must be a function");
const text = custom<string>(isText, ({ input }) => `must be a string, not ${kindOf(input)}`);

const part = custom<number>(
  (value) => typeof value === "number" && value >= 0 && value < 1,
  "must be 0 or more and below 1",
);

const decibels = custom<number>(
  (value) => typeof value === "number" && value <= 0 && value >= -100,
  "must be -100 to 0 dB",
);

/** The rules of the options. */
export const SimulateOptionsSchema: GenericSchema<unknown, CheckedOptions> = strictObject(
  {
    app: optional(custom<SimulateSocketOptions["app"]>(isFunction, "must be a function")),
    flow: optional(handler),
    flow_url: optional(text),
    secret: optional(custom<Secret>((value) => secretsOf(value).length > 0, secretRule)),
    answeredBy: optional(picklist(["person", "machine"], 'must be "person" or "machine"')),
    media: optional(handler),
    apiKey: optional(text),
    webhookSecret: optional(text),
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
