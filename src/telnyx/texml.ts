import type { Action } from "../flows/actions.ts";
import { fail, isText } from "../lib/check.ts";
import { type Dialect, documentOf, type Redirect } from "../twiml/verbs.ts";

/** The seconds that a `<Dial>` may ring. */
const [leastRinging, mostRinging] = [5, 120] as const;

const texml: Dialect = {
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
  ringRule: (seconds) =>
    seconds < leastRinging || seconds > mostRinging
      ? `must be ${leastRinging} to ${mostRinging}: Telnyx rings no shorter and no longer`
      : undefined,
};

/** What begins a template: Telnyx fills it in before it reads the XML. */
const template = "{{";

/** What a document has beyond the fields of its action. */
export interface TexmlExtras {
  /** The URL that decides what follows a `dial`. */
  readonly branchesUrl?: string | undefined;
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
  action: Action | Redirect,
  { branchesUrl, callerId }: TexmlExtras = {},
): string => {
  const xml = documentOf(action, branchesUrl, { ...texml, dialAttributes: { callerId } });
  if (!xml.includes(template)) return xml;
  const field = Object.entries(action).find(
    ([, value]) => isText(value) && value.includes(template),
  );
  return fail(field?.[0] ?? "flow_url", `must be without ${template}, which Telnyx fills in`);
};
