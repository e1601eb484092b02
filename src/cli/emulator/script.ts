import { callbackHandler, type Received, signUrl } from "../../callbacks/index.ts";
import type { ScriptCampaign } from "../../campaigns/index.ts";
import { variablesIn } from "../../flows/contact.ts";
import { type FlowCampaign, flowHandler, machineUrl } from "../../flows/index.ts";
import type { RedirectedCall, Service } from "../../service.ts";
import { UsageError } from "../command.ts";
import { changedAt, importScript } from "../script.ts";
import { moduleFailure } from "../script-failure.ts";

/** What a script's handler needs of the command. */
interface ScriptOptions {
  /** The carrier in whose form the flow is answered. */
  readonly service: Service | undefined;
  /** Writes a line into the timeline of a call. */
  readonly note: (call_id: string, text: string) => void;
  /** Makes a call continue at a URL, where the carrier finds out during the flow that a machine has answered. */
  readonly redirect: (call: RedirectedCall, flow_url: string, origin: string) => Promise<void>;
  /** Called with what the script's functions throw, and with the id of the call. */
  readonly onError: (error: unknown, request: Request, call_id?: string) => void;
}

/** A file whose default export decides what calls do. */
export interface ScriptedFlow {
  /** Answers a flow request, at a URL that need not be signed. */
  readonly answer: (request: Request) => Promise<Response>;
  /** Receives a notification, after which a call may continue at `onMachine`. */
  readonly notified: (request: Request) => Promise<Response>;
  /** Whether it has `onMachine`, as it was loaded last. */
  readonly hasMachineStep: () => boolean;
}

/** Stands for a list: a contact is whoever was called, and what a script does with the list becomes a line of the call's timeline. */
const standIn = (note: ScriptOptions["note"]): FlowCampaign => ({
  contact: (context, { to_number }) => ({
    ...{ to_number, id: undefined, attempt: 1 },
    variables: variablesIn(context),
  }),
  inCall: ({ call_id }): ScriptCampaign => ({
    block: async (numbers) => {
      const all = [...(typeof numbers === "string" ? [numbers] : numbers)];
      note(call_id, `campaign.block: ${all.join(", ")}`);
      return all.length;
    },
    callBack: async (to_number, at) => {
      const time = at instanceof Date ? at.toISOString() : at;
      note(call_id, `campaign.callBack: ${to_number} at ${time}`);
      return true;
    },
    cancel: async () => note(call_id, "campaign.cancel"),
  }),
  note: (given) => {
    if ("event" in given || "recording_id" in given) return;
    const { call, answers, answered_by, message } = given;
    const facts = { ...answers, ...(answered_by && { answered_by }), ...(message && { message }) };
    const texts = Object.entries(facts).map(([name, value]) => `${name} = ${value}`);
    note(call.call_id, `campaign.note: ${texts.join(", ")}`);
  },
});

/**
 * Loads a script, and again when its file has changed: the next request gets the new one.
 *
 * @throws {UsageError} if it can't be loaded now; later the error goes to `onError`, and the last one that could stays
 */
export const loadScript = async (
  file: string,
  { service: given, note, redirect, onError }: ScriptOptions,
): Promise<ScriptedFlow> => {
  const secret = crypto.randomUUID();
  // The emulator's requests need no check: it has sent them to itself. A signed URL carries a conversation.
  const checks = {
    ...{ secret, onError },
    ...(given && {
      service: { ...given, application: { ...given.application, verify: undefined } },
    }),
  };
  let loadedAt: number | undefined;
  let handler: ((request: Request) => Promise<Response>) | undefined;
  let hasMachineStep = false;

  const load = async (): Promise<void> => {
    const at = await changedAt(file);
    if (at === undefined && !handler) throw new UsageError(`--script cannot be read: ${file}`);
    if (at === undefined || at === loadedAt) return;
    loadedAt = at;
    const script = await importScript(file, at);
    handler = flowHandler({ ...script, ...checks, campaign: standIn(note) });
    hasMachineStep = script.onMachine !== undefined;
  };
  try {
    await load();
  } catch (error) {
    throw await moduleFailure(error, file, "--script");
  }

  const signed = async (request: Request): Promise<Request> => {
    const { url } = request;
    if (new URL(url).searchParams.has("outdial")) return request;
    return new Request(await signUrl(url, { secret }), request);
  };
  /** Sends a machine to `onMachine` once it records, where its flow runs already. */
  const redirectMachine = async ({ event, context }: Received, origin: string): Promise<void> => {
    if (!event.known || event.type !== "call.machine_detected" || !hasMachineStep) return;
    const { from, to, beep, answered_by = "machine_end_beep" } = event.data;
    // Twilio and Telnyx request the flow once they know what has answered: what they send besides has no numbers.
    if (!beep || from === undefined || to === undefined) return;
    const url = await machineUrl(`${origin}/sample/flow`, { secret, context, answered_by });
    await redirect({ id: event.call_id, from_number: from, to_number: to }, url, origin);
  };
  return {
    hasMachineStep: () => hasMachineStep,
    answer: async (request) => {
      await load().catch((error) => onError(error, request));
      return handler?.(await signed(request)) ?? new Response(null, { status: 503 });
    },
    notified: async (request) => {
      const { origin } = new URL(request.url);
      const onEvent = (received: Received) => redirectMachine(received, origin);
      return callbackHandler({ ...checks, onEvent })(await signed(request));
    },
  };
};
