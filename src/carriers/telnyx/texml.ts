import type { AnyAction } from "../../flows/actions.ts";
import { type EncodeFlow, flowEncoder } from "../../flows/flow-in-request.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { fail, isRecord, isText } from "../../lib/check.ts";
import { type Voices, voiceOf } from "../voices.ts";
import { type Dialect, documentOf } from "../xml/verbs.ts";

/** The seconds that a `<Dial>` may ring. */
const [leastRinging, mostRinging] = [5, 120] as const;

const texml: Omit<Dialect, "speechIn"> = {
  carrier: "Telnyx",
  connectHasAction: false,
  streamAttributes: {
    // To us, and from us: what isn't μ-law is converted where Telnyx can.
    codec: "PCMU",
    bidirectionalMode: "rtp",
    bidirectionalCodec: "PCMU",
    // A socket that was closed ends the stream: a second one would begin in the middle of a conversation.
    enableReconnect: "false",
  },
  // Without it there are two channels: one is silent.
  recordAttributes: { channels: "single" },
  gathersPauses: false,
  ringRule: (seconds) =>
    seconds < leastRinging || seconds > mostRinging
      ? `must be ${leastRinging} to ${mostRinging}: Telnyx rings no shorter and no longer`
      : undefined,
};

/** What begins a template: Telnyx fills it in before it reads the XML. */
const template = "{{";

/** The field of an action with a template in it, also that of a branch, which is answered later. */
const templateIn = (fields: object): string | undefined => {
  for (const [name, value] of Object.entries(fields)) {
    if (isText(value) && value.includes(template)) return name;
    const inner = isRecord(value) || Array.isArray(value) ? templateIn(value) : undefined;
    if (inner) return `${name}.${inner}`;
  }
  return;
};

/** What a document has beyond the fields of its action. */
export interface TexmlExtras {
  /** The URL that decides what follows a `dial`, or that a recording comes to. */
  readonly ownUrl?: string | undefined;
  /** The voices, by language. */
  readonly voices?: Voices<string> | undefined;
  /** The number that a `dial` shows. */
  readonly callerId?: string | undefined;
}

/**
 * An action as TeXML.
 *
 * @throws {BadParametersException} for what Telnyx can't do, by the field
 * @see https://developers.telnyx.com/docs/voice/programmable-voice/texml-interpreter
 */
export const texmlOf = (
  action: AnyAction | Redirect,
  { ownUrl, callerId, voices = {} }: TexmlExtras = {},
): string => {
  // Its default voices speak English, whatever the language is.
  const speechIn = (language: string) => ({
    voice: voiceOf(voices, language) ?? "alice",
    language,
  });
  const xml = documentOf(action, ownUrl, { ...texml, speechIn, dialAttributes: { callerId } });
  // A URL of its own may have one too: that of the branches is the request's.
  const field = templateIn(action) ?? (xml.includes(template) ? "flow_url" : undefined);
  return field ? fail(field, `must be without ${template}, which Telnyx fills in`) : xml;
};

/**
 * How a call's flow becomes TeXML in its request, for which Telnyx documents no limit of its own. Until a greeting is over,
 * the call waits for it with the flow there, too.
 *
 * @see https://developers.telnyx.com/api-reference/texml-rest-commands/create-a-connection-scoped-texml-call
 */
export const texmlEncoder = (
  machineDetection: string | undefined,
  voices: Voices<string> = {},
): EncodeFlow<string> =>
  flowEncoder(
    (action, { from_number: callerId }) => texmlOf(action, { callerId, voices }),
    /^(detect|Enable)$/.exec(machineDetection ?? "")?.[0],
  );
