import { stateAfter } from "../../calls/call.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import type { CarrierLive } from "../../service.ts";
import { statuses, whoAnswered } from "./forms.ts";

/**
 * A form as the clients of Twilio and Telnyx spell it. The request for a call has one of its own, as sharing this one
 * costs a bundle some bytes.
 */
export const formOf = (fields: Readonly<Record<string, string>>): string =>
  `${new URLSearchParams(fields)}`.replaceAll("*", "%2A").replaceAll("%7E", "~");

const textOf = (value: unknown): string => (isText(value) ? value : "");

/** Reads a call as the REST API of Twilio's form returns it. */
export const readResource: CarrierLive["read"] = (raw) => {
  const { sid, from, to, status, duration, price, price_unit } = raw;
  if (!isText(sid) || !sid) return;
  // A queued call has not begun: no notification says so.
  const meaning = statuses.get(status === "queued" ? "initiated" : status);
  const answered_by = whoAnswered(raw.answered_by);
  return {
    id: sid,
    from_number: textOf(from),
    to_number: textOf(to),
    state: stateAfter.get(meaning?.type),
    ...(meaning?.reason && { reason: meaning.reason }),
    ...(status === "completed" &&
      /^\d{1,9}$/.test(String(duration)) && { duration: Number(duration) }),
    ...(answered_by && { answered_by }),
    // A unit without a price is no cost: the call is not billed yet.
    ...(isText(price) && price && { cost: price }),
    ...(isText(price) && price && isText(price_unit) && { currency: price_unit }),
  };
};

/** The recordings of a list, or the one with an id. */
export const recordingsIn = (
  { recordings }: Readonly<Record<string, unknown>>,
  recordingId: string | undefined,
): readonly Readonly<Record<string, unknown>>[] =>
  (Array.isArray(recordings) ? recordings : [])
    .map(fieldsOf)
    .filter(({ sid }) => recordingId === undefined || sid === recordingId);
