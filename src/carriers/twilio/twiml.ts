import type { AnyAction } from "../../flows/actions.ts";
import { type EncodeFlow, flowEncoder } from "../../flows/flow-in-request.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { fail } from "../../lib/check.ts";
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

/**
 * The most characters of TwiML in a request for a call.
 *
 * @see https://www.twilio.com/docs/api/errors/32018
 */
const maxInRequest = 4000;

const inRequest = (action: AnyAction): string => {
  const xml = twimlOf(action);
  return xml.length > maxInRequest
    ? fail(
        "flow",
        `must be at most ${maxInRequest} characters as TwiML, not ${xml.length}: give flow_url, where Twilio takes 64 kB`,
      )
    : xml;
};

/** How a call's flow becomes TwiML in its request. Until a greeting is over, the call waits for it with the flow there, too. */
export const twimlEncoder = (machineDetection: string | undefined): EncodeFlow<string> =>
  flowEncoder(inRequest, /^(detect|Enable)$/.exec(machineDetection ?? "")?.[0]);
