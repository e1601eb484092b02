import { custom, type GenericSchema, is, optional, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { presence } from "../rules/check.ts";
import { isKey } from "../rules/key.ts";
import { isFunction, isText } from "../rules/kind.ts";
import { quietly } from "../rules/quietly.ts";
import type { Callee } from "./callee/act.ts";
import type { Mishaps } from "./notify/mishaps.ts";
import { isWebhookSecret } from "./notify/signature.ts";
import type { OnCall } from "./options.ts";
import type { Send } from "./outgoing.ts";

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
  readonly onCall?: OnCall | undefined;
  readonly callee?: Callee | undefined;
  readonly notifications?: Mishaps | undefined;
  readonly seed?: number | undefined;
  readonly keep: number;
}

/** The URL of a host, or of an address, which stands in brackets when it is IPv6. */
export const urlOf = (host: string): string => `http://${host.includes(":") ? `[${host}]` : host}/`;

const isHost = (value: unknown): boolean =>
  isText(value) && /^[\w.:-]+$/.test(value) && !!quietly(() => new URL(urlOf(value)));

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
