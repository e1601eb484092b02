import type { AnyAction } from "../../flows/actions.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { type Dialect, documentOf } from "../xml/verbs.ts";

/** The shortest `timeout` of a `<Dial>`, in seconds. */
const leastRinging = 5;

/**
 * The most characters of a `<Say>`, URL-encoded.
 *
 * @see https://www.twilio.com/docs/api/errors/13521
 */
const maxSpoken = 4500;

const twiml: Dialect = {
  carrier: "Twilio",
  connectHasAction: true,
  speechIn: (language) => ({ language }),
  spokenRule: (text) =>
    encodeURIComponent(text).length > maxSpoken
      ? `must be at most ${maxSpoken} characters, URL-encoded: Twilio speaks no more`
      : undefined,
  gathersPauses: true,
  ringRule: (seconds) =>
    seconds < leastRinging
      ? `must be at least ${leastRinging}: Twilio rings no shorter`
      : undefined,
};

/**
 * An action as TwiML.
 *
 * @param afterUrl - the URL that decides what follows a `dial`
 * @throws {BadParametersException} for what Twilio can't do, by the field
 * @see https://www.twilio.com/docs/voice/twiml
 */
export const twimlOf = (action: AnyAction | Redirect, afterUrl?: string): string =>
  documentOf(action, afterUrl, twiml);
