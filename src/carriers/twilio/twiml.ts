import type { AnyAction } from "../../flows/actions.ts";
import { type EncodeFlow, flowEncoder } from "../../flows/flow-in-request.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { fail } from "../../lib/check.ts";
import { type Voices, voiceOf } from "../voices.ts";
import { type Dialect, documentOf } from "../xml/verbs.ts";

/** The shortest `timeout` of a `<Dial>`, in seconds. */
const leastRinging = 5;

/**
 * The most characters of a `<Say>`, URL-encoded.
 *
 * @see https://www.twilio.com/docs/api/errors/13521
 */
const maxSpoken = 4500;

const twiml: Omit<Dialect, "speechIn"> = {
  carrier: "Twilio",
  connectHasAction: true,
  // Its duration is then that of what is there.
  recordAttributes: { trim: "do-not-trim" },
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
 * @param ownUrl - the URL that decides what follows a `dial`, or that a recording comes to
 * @param voices - by language
 * @throws {BadParametersException} for what Twilio can't do, by the field
 * @see https://www.twilio.com/docs/voice/twiml
 */
export const twimlOf = (
  action: AnyAction | Redirect,
  ownUrl?: string,
  voices: Voices<string> = {},
): string => {
  const speechIn = (language: string) => ({ voice: voiceOf(voices, language), language });
  return documentOf(action, ownUrl, { ...twiml, speechIn });
};

/**
 * The most characters of TwiML in a request for a call.
 *
 * @see https://www.twilio.com/docs/api/errors/32018
 */
const maxInRequest = 4000;

const inRequest = (action: AnyAction, voices: Voices<string>): string => {
  const xml = twimlOf(action, undefined, voices);
  return xml.length > maxInRequest
    ? fail(
        "flow",
        `must be at most ${maxInRequest} characters as TwiML, not ${xml.length}: give flow_url, where Twilio takes 64 kB`,
      )
    : xml;
};

/** How a call's flow becomes TwiML in its request. Until a greeting is over, the call waits for it with the flow there, too. */
export const twimlEncoder = (
  machineDetection: string | undefined,
  voices: Voices<string> = {},
): EncodeFlow<string> =>
  flowEncoder(
    (action) => inRequest(action, voices),
    /^(detect|Enable)$/.exec(machineDetection ?? "")?.[0],
  );
