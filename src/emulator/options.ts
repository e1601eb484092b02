import { custom, type GenericSchema, is, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { presence } from "../rules/check.ts";
import { isKey } from "../rules/key.ts";
import type { Callee } from "./callee/act.ts";
import type { Outcome } from "./line/destinations.ts";
import type { CallRecord } from "./line/history.ts";
import type { Mishaps } from "./notify/mishaps.ts";
import { isWebhookSecret } from "./notify/signature.ts";
import type { Send } from "./outgoing.ts";

/** Decides what the telephone does that is called; `undefined` leaves it to the number. */
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
   * Makes ids and jitter the same on every run. Keys and secrets never depend on it.
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

/** The options of one emulator, checked and complete. */
export interface EmulatorSettings {
  readonly apiKey?: string | undefined;
  readonly numbers?: readonly string[] | undefined;
  readonly webhookSecret?: string | undefined;
  readonly host?: string | undefined;
  readonly fetch: Send;
  readonly WebSocket?: (new (url: string) => WebSocket) | undefined;
  readonly clock: "real" | "instant";
  readonly speed: number;
  readonly ringFor: number;
  readonly answerWithin: number;
  readonly maxDuration: number;
  readonly respondWithin: number;
  readonly onCall: OnCall;
  readonly callee?: Callee | undefined;
  readonly notifications?: Mishaps | undefined;
  readonly seed?: number | undefined;
  readonly keep: number;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

/** The URL of a host, or of an address, which stands in brackets when it is IPv6. */
export const urlOf = (host: string): string => `http://${host.includes(":") ? `[${host}]` : host}/`;

const isHost = (value: unknown): boolean => {
  try {
    return typeof value === "string" && /^[\w.:-]+$/.test(value) && !!new URL(urlOf(value));
  } catch {
    return false;
  }
};

const milliseconds = /* @__PURE__ */ custom<number>(
  (value) => typeof value === "number" && value >= 0 && value < 2 ** 31,
  "must be 0 ms or more and below 2 ** 31 ms",
);

const probability = /* @__PURE__ */ custom<number>(
  (value) => typeof value === "number" && value >= 0 && value <= 1,
  "must be a probability, from 0 to 1",
);

/** The rules of the options and their defaults, in the order in which they are told. */
export const EmulatorSettingsSchema: GenericSchema<unknown, EmulatorSettings> =
  /* @__PURE__ */ strictObject(
    {
      apiKey: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<string>(isKey, "must be a string that is a legal header value"),
      ),
      numbers: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<readonly string[]>(
          (value) =>
            Array.isArray(value) &&
            value.every((number) => is(CallParams.entries.from_number, number)),
          "must be a list of E.164 numbers",
        ),
      ),
      webhookSecret: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<string>(
          isWebhookSecret,
          'must be "whsec_" and base64 of 24 to 64 bytes',
        ),
      ),
      host: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<string>(isHost, "must be an address, or a host's name"),
      ),
      fetch: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<Send>(isFunction, "must be a function"),
        () => (request: Request, init: RequestInit) => globalThis.fetch(request, init),
      ),
      WebSocket: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<new (url: string) => WebSocket>(isFunction, "must be a constructor"),
      ),
      clock: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<"real" | "instant">(
          (value) => value === "real" || value === "instant",
          'must be "real" or "instant"',
        ),
        "real",
      ),
      speed: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<number>(
          (value) => typeof value === "number" && value > 0 && value <= 10_000,
          "must be above 0 and at most 10 000",
        ),
        1,
      ),
      ringFor: /* @__PURE__ */ optional(milliseconds, 2_000),
      answerWithin: /* @__PURE__ */ optional(milliseconds, 30_000),
      maxDuration: /* @__PURE__ */ optional(milliseconds, 3_600_000),
      respondWithin: /* @__PURE__ */ optional(milliseconds, 10_000),
      onCall: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<OnCall>(isFunction, "must be a function"),
        () => () => undefined,
      ),
      callee: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<Callee>(
          (value) => isFunction(value) || Array.isArray(value),
          "must be a function or a list",
        ),
      ),
      notifications: /* @__PURE__ */ optional(
        /* @__PURE__ */ strictObject(
          {
            lost: /* @__PURE__ */ optional(probability),
            doubled: /* @__PURE__ */ optional(probability),
            late: /* @__PURE__ */ optional(probability),
            lateBy: /* @__PURE__ */ optional(milliseconds),
          },
          presence,
        ),
      ),
      seed: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<number>(Number.isSafeInteger, "must be a whole number"),
      ),
      keep: /* @__PURE__ */ optional(
        /* @__PURE__ */ custom<number>(
          (value) => Number.isSafeInteger(value) && Number(value) >= 0,
          "must be a whole number from 0",
        ),
        1_000,
      ),
    },
    presence,
  );
