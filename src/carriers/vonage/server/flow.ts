import { FlowError } from "../../../performer/line.ts";
import { type DocumentContext, Performer } from "../../../performer/performer.ts";
import type { Message } from "../../../server/call.ts";
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

/** How long the detection of a machine takes, in milliseconds. */
const detectionDuration = 2_000;

/** Finds out what answered, while the flow runs. */
const detect = (call: VonageCall, side: FlowSide): void => {
  const { served, fields } = call;
  const { machineDetection } = fields;
  if (!machineDetection) return;
  const { machine } = served;
  const notify = (sub_state?: "beep_start" | "beep_timeout") => {
    const status = machine ? "machine" : "human";
    side.notify(machineMessages(call, status, sub_state, side.sign));
  };
  const { behavior, beepTimeout } = machineDetection;
  served.timeline.after(detectionDuration, () => {
    notify();
    if (!machine || behavior === "continue") return;
    call.endedBy = "platform";
    served.transition("normal");
  });
  if (!machine || beepTimeout === undefined) return;
  const isHeard = machine.beeps && machine.readyAt <= beepTimeout * 1_000;
  const at = isHeard ? Math.max(machine.readyAt, detectionDuration) : beepTimeout * 1_000;
  served.timeline.after(at, () => notify(isHeard ? "beep_start" : "beep_timeout"));
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
      const ncco = await nccoOf(next, context, call, parts, side);
      return translate(ncco, { ...side, ...context, call, request: parts.request });
    },
  });
  served.audio.pause(0);
  detect(call, side);
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
