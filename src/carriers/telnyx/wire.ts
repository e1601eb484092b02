import type { EventData } from "../../callbacks/event.ts";

/** The path of a request that places a call, with the id of the TeXML application. */
export const callPath = (applicationId: string): string => `/v2/texml/calls/${applicationId}`;

/**
 * The most characters of a URL: error 10003.
 *
 * @see https://developers.telnyx.com/development/api-fundamentals/api-errors
 */
export const maxUrl = 2000;

/** The notifications that are asked for: without a list Telnyx sends the last one alone. */
export const statusEvents = "initiated ringing answered completed";

/** The reason of an end by its `CallStatus` and `HangupCause`. What isn't here has that of its `CallStatus`. */
export const reasons: ReadonlyMap<unknown, EventData["reason"]> = new Map([
  ["completed normal_clearing", "normal"],
  ["completed time_limit", "max_duration"],
  ["failed call_rejected", "rejected"],
]);

/** The headers of a signed request, in lower case. */
export const signatureHeaders = {
  /** Ed25519 of `signedBytes`, in base64. */
  signature: "telnyx-signature-ed25519",
  /** When it was signed, in Unix seconds. */
  timestamp: "telnyx-timestamp",
} as const;
