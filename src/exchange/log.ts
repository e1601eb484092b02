import { isText } from "../lib/check.ts";
import type { ExchangeEvent } from "./parts.ts";
import type { RecordingEvent } from "./recorder.ts";

/** What an exchange does, apart from its calls. */
export type ServerEvent =
  | { readonly type: "started" }
  | { readonly type: "stopping" }
  | { readonly type: "stopped" }
  /** Somebody came to the page: with a token or a password, or was refused. */
  | { readonly type: "sign_in"; readonly outcome: "accepted" | "refused" | "limited" }
  | { readonly type: "key_regenerated" };

/** Everything that is logged. */
export type LoggedEvent = ExchangeEvent | RecordingEvent | ServerEvent;

/** The forms of ids that are made here: no telephone number and no key has one of them. */
const idForms = [
  /^([a-z]{2,4}_)?[0-9A-HJKMNP-TV-Z]{26}$/, // a ULID
  /^[A-Z]{2}[0-9a-f]{32}$/, // Twilio's
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, // Vonage's
  /^v3:[0-9a-f]{32}$/, // Telnyx'
];

const id = (value: unknown): string | undefined =>
  isText(value) && idForms.some((form) => form.test(value)) ? value : undefined;

/** A word, such as `no_answer` or `call.completed`: it has no digits, so no number, and is too short for a key. */
export const word = (value: unknown): string | undefined =>
  isText(value) && /^[a-z][a-z_.]{0,27}$/i.test(value) ? value : undefined;

/** A count, or a duration: it has fewer digits than a telephone number. */
const count = (value: unknown): number | undefined =>
  typeof value === "number" && Math.abs(value) < 1e6 ? Math.round(value) : undefined;

/** A duration in milliseconds, as seconds. */
const seconds = (value: unknown): number | undefined =>
  typeof value === "number" ? count(value / 1_000) : undefined;

/** Bytes, as MiB. */
const mebibytes = (value: unknown): number | undefined =>
  typeof value === "number" ? count(value / 2 ** 20) : undefined;

/**
 * What of an event is logged: the name in the log, and what the value must be. A field that isn't here, or isn't what it must be,
 * is left out: so whatever an event has, neither a number nor a key is in the log.
 */
const fields: Readonly<
  Record<string, readonly [name: string, read: (value: unknown) => string | number | undefined]>
> = {
  type: ["event", word],
  call_id: ["call_id", id],
  id: ["notification_id", id],
  side: ["side", word],
  state: ["state", word],
  reason: ["reason", word],
  rule: ["rule", word],
  status: ["status", count],
  event: ["notification", word],
  try: ["try", count],
  outcome: ["outcome", word],
  ms: ["ms", count],
  talkTime: ["talk_seconds", seconds],
  channels: ["channels", count],
  end: ["end", word],
  bytes: ["mebibytes", mebibytes],
  code: ["code", word],
  why: ["why", word],
};

/** The events that somebody should look at. */
const warns = (event: Readonly<Record<string, unknown>>): boolean =>
  event.type === "recording_failed" ||
  event.type === "swept" ||
  event.outcome === "given_up" ||
  event.outcome === "refused" ||
  event.outcome === "limited" ||
  (event.type === "asterisk" && event.state === "lost") ||
  (event.type === "ended" && event.reason === "lost");

/**
 * An event as a line of JSON, without a line break: with no number, no key, no URL and no text of anybody's.
 *
 * @param time - milliseconds since 1970
 */
export const logLine = (event: LoggedEvent, time: number): string => {
  const entries: Readonly<Record<string, unknown>> = { ...event };
  const line: Record<string, string | number> = {
    time: new Date(time).toISOString(),
    level: warns(entries) ? "warn" : "info",
  };
  for (const [field, [name, read]] of Object.entries(fields)) {
    const value = read(entries[field]);
    if (value !== undefined) line[name] = value;
  }
  return JSON.stringify(line);
};
