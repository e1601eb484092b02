import { FlowError, type Line } from "../../../performer/line.ts";
import { type DocumentContext, Performer } from "../../../performer/performer.ts";
import { type Message, noteLength } from "../../../server/call.ts";
import type { FlowParts } from "../../../server/side.ts";
import { translate } from "./actions.ts";
import { subjectOf, type VonageCall } from "./call.ts";
import type { Next } from "./fields.ts";
import { type NccoAction, shownNcco } from "./ncco.ts";
import { errorMessages, machineMessages, transferMessages } from "./notifications.ts";
import { askForNcco } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";

/** What flows need beside what every flow needs. */
export interface FlowSide {
  readonly sign: SignWebhook;
  readonly newUuid: () => string;
  /** Makes the id of a conversation. */
  readonly newConversation: () => string;
  readonly notify: (messages: readonly Message[]) => void;
}

/** How many NCCOs in a row may take no time. */
const maxNccos = 50;

/** Finds out what answered, while the flow runs. */
const detect = (call: VonageCall, talking: Line, side: FlowSide): void => {
  const { served, fields } = call;
  const { machineDetection } = fields;
  if (!machineDetection) return;
  const { behavior, beepTimeout } = machineDetection;
  talking.beside(async (line) => {
    const answerer = await line.whoAnswered(false);
    // Vonage has no word for what is not known.
    if (served.isOver || answerer === "unknown") return;
    const notify = (sub_state?: "beep_start" | "beep_timeout") => {
      const status = answerer === "person" ? "human" : "machine";
      side.notify(machineMessages(call, status, sub_state, side.sign));
    };
    notify();
    if (answerer === "person") return;
    if (behavior === "hangup") {
      call.endedBy = "platform";
      served.transition("normal");
    }
    if (beepTimeout === undefined) return;
    const isHeard = answerer.beeps && answerer.readyAt <= beepTimeout * 1_000;
    await line.waitUntil(isHeard ? answerer.readyAt : beepTimeout * 1_000);
    if (!served.isOver) notify(isHeard ? "beep_start" : "beep_timeout");
  });
};

/** The NCCO that follows: the one that is there, or the response to a request. */
const nccoOf = async (
  next: Next,
  { step, signal }: DocumentContext,
  call: VonageCall,
  { request }: FlowParts,
  { sign }: FlowSide,
): Promise<readonly NccoAction[]> => {
  if ("ncco" in next) {
    // The one that came with the request for the call is in no response.
    if (step === 1) {
      const document = shownNcco(JSON.stringify(next.ncco));
      call.served.log({ type: "flow", step, url: "", ms: 0, ...document });
    }
    return next.ncco;
  }
  const fields = {
    ...subjectOf(call),
    endpoint_type: "phone",
    region_url: "https://api.nexmo.com",
  };
  const parts = { call, request, sign, signal, step };
  return (await askForNcco({ target: next, fields, isOptional: false }, parts)) ?? [];
};

/** Follows the flow of an answered call. */
export const followNcco = async (
  call: VonageCall,
  parts: FlowParts,
  side: FlowSide,
): Promise<void> => {
  const { served, fields } = call;
  let since = 0;
  let count = 0;
  const performer = new Performer<Next>(parts.line, {
    first: fields.first,
    load: async (next, context) => {
      const { step } = context;
      if (served.talkTime > since) count = 0;
      since = served.talkTime;
      if (++count > maxNccos) {
        throw new FlowError(step, "The NCCO", `follows ${maxNccos} others that take no time`);
      }
      noteLength(step, served);
      const ncco = await nccoOf(next, context, call, parts, side);
      return translate(ncco, { ...side, ...context, call, request: parts.request });
    },
  });
  served.audio.pause(0);
  detect(call, parts.line, side);
  call.transfer = (next) => {
    const from = call.conversation;
    call.conversation = side.newConversation();
    side.notify(transferMessages(call, from, call.conversation, side.sign));
    performer.redirect(next);
  };
  try {
    await performer.perform();
  } catch (error) {
    if (error instanceof FlowError && !served.isOver) {
      side.notify(errorMessages(call, error.message, side.sign));
    }
    throw error;
  } finally {
    call.transfer = undefined;
    if (!served.isOver) call.endedBy = "platform";
  }
};
