import {
  type Context,
  callbackHandler,
  type Received,
  type Secret,
} from "../../callbacks/index.ts";
import { claimedCall } from "../../callbacks/verify.ts";
import { checkedNumbers } from "../../campaigns/do-not-call.ts";
import type { Campaign, Script, ScriptCampaign } from "../../campaigns/index.ts";
import {
  type FlowCampaign,
  flowHandler,
  machineUrl,
  type RecordingInput,
} from "../../flows/index.ts";
import { recordedBy } from "../../flows/recorded.ts";
import { fieldsOf } from "../../lib/check.ts";
import type { RedirectedCall, Service } from "../../service.ts";

/** What of a campaign its requests need. */
type CalledList = Pick<
  Campaign,
  "id" | "note" | "contact" | "block" | "callBack" | "cancel" | "pause" | "samePerson"
>;

/** What serves the requests of a list's calls. */
export interface ListOptions {
  /** The name of the service that sends them, where the list has several: its paths begin with it. */
  readonly name?: string | undefined;
  /** The flow; without one only notifications are served. */
  readonly script?: Script | undefined;
  /** Returns the campaign once it is open: until then the service has to send its requests again. */
  readonly campaign: () => CalledList | undefined;
  /** The secret of the campaign. */
  readonly secret: Secret;
  /** The carrier, whose requests have a form of their own. */
  readonly service?: Service | undefined;
  /** The URL below which the service reaches its paths; absent where that is the URL of the requests. */
  readonly publicUrl?: string | undefined;
  /** Returns that URL, or the server's own: a call is sent to its `/flow` where a machine has answered. */
  readonly baseUrl: () => string;
  /** Makes a call continue at a URL, where the carrier finds out during the flow that a machine has answered. */
  readonly redirect?: ((call: RedirectedCall, flow_url: string) => Promise<void>) | undefined;
  /** Writes numbers to the list of those that no campaign calls, before they are in the ledger. */
  readonly optOut?: ((numbers: readonly string[]) => Promise<void>) | undefined;
  /** Called with each recording of a contact's call, once its id is in the ledger. */
  readonly onRecording?: ((recording: RecordingInput) => void) | undefined;
  /** Called with the id of a recording whose contact was erased before it came: the ledger doesn't keep it. */
  readonly onErasedRecording?: ((recording_id: string) => void) | undefined;
  /** Called with refused requests and the call that their sender names, and with what the script throws and the id of its call. */
  readonly onError: (error: unknown, call_id?: string, claimed?: string) => void;
}

/** A URL below another. */
export const urlBelow = (base: string, path: string): string => base.replace(/\/+$/, "") + path;

/** The paths of a service, by its name: each of several has its own, whose handlers verify its requests. */
export const pathsOf = (name: string | undefined): Readonly<Record<"flow" | "status", string>> => {
  const start = name === undefined ? "" : `/${name}`;
  return { flow: `${start}/flow`, status: `${start}/status` };
};

/** What a script does with its list. */
const campaignOf = (list: CalledList, { optOut }: ListOptions): ScriptCampaign => ({
  block: async (numbers) => {
    const checked = await checkedNumbers(numbers);
    try {
      // First, so that a number in the ledger is in the file, too.
      await optOut?.(list.samePerson(checked));
    } catch (error) {
      // Who asked is not called again by this list, whatever the file does.
      await list.block(checked);
      throw error;
    }
    return list.block(checked);
  },
  callBack: (to_number, at) => list.callBack(to_number, at),
  cancel: () => list.cancel(),
});

/** An attempt, by the context of its signed URLs: the id of a call is the sender's word. */
const attemptOf = ({ contact, attempt }: Context): string => `${contact}/${attempt}`;

/** Attempts that something is known of while their calls are live. */
class LiveAttempts {
  /** Those whose callee has pressed a key: no machine, whatever the carrier hears. */
  readonly people = new Set<string>();
  /** Those that were sent to `onMachine`. */
  readonly redirected = new Set<string>();

  forget(attempt: string): void {
    this.people.delete(attempt);
    this.redirected.delete(attempt);
  }
}

/** A failure of a flow, in the words of the command. */
const failureOf = ({ event, context }: Received): Received => {
  const { flow_error } = fieldsOf(event.data);
  const said = String(flow_error).replace("flowHandler failed", "--script failed");
  return { event: { ...event, data: { flow_error: said } } as Received["event"], context };
};

/** How many answered calls in a row may end without a request to `/flow`. */
const mostUnreached = 20;

/**
 * Pauses the list once 20 answered calls in a row have ended whose flow was never requested: to a carrier that reports no
 * failure they are completed. Who hangs up at once may be such a call, so one alone changes nothing.
 */
class ReachedFlows {
  /** Attempts whose answer was notified here, and whose flow was not requested yet. */
  readonly #answered = new Set<string>();
  readonly #reached = new Set<string>();
  #inRow = 0;

  reach(context: Context): void {
    this.#reached.add(attemptOf(context));
    this.#inRow = 0;
  }

  async note({ event: { type }, context }: Received, list: CalledList): Promise<void> {
    const attempt = attemptOf(context);
    if (type === "call.answered") this.#answered.add(attempt);
    if (!isEnd(type)) return;
    const isReached = this.#reached.delete(attempt);
    // Of a call that was answered before this process began nothing is known.
    if (!this.#answered.delete(attempt) || isReached || type === "call.failed") return;
    if (++this.#inRow < mostUnreached) return;
    this.#inRow = 0;
    await list.pause(
      `the flow of ${mostUnreached} answered calls in a row was never requested: does --public-url reach this process?`,
    );
  }
}

const isEnd = (type: string): boolean => /^call\.(completed|failed)$/.test(type);

/** Sends a call to `onMachine` where its flow runs already, once the machine records. */
const redirectMachine = async (
  { event, context }: Received,
  list: CalledList,
  live: LiveAttempts,
  { name, script, secret, baseUrl, redirect }: ListOptions,
): Promise<void> => {
  if (!redirect || !script?.onMachine || !event.known) return;
  if (event.type !== "call.machine_detected" || !event.data.beep) return;
  const { call_id } = event;
  const { from: from_number, answered_by = "machine_end_beep" } = event.data;
  // Twilio and Telnyx request the flow once they know what has answered: what they send besides has no numbers.
  if (from_number === undefined) return;
  const contact = list.contact(context);
  const attempt = attemptOf(context);
  if (!contact || live.people.has(attempt) || live.redirected.has(attempt)) return;
  live.redirected.add(attempt);
  const { variables, to_number } = contact;
  const url = await machineUrl(urlBelow(baseUrl(), pathsOf(name).flow), {
    ...{ secret, context: { ...context, variables }, answered_by },
  });
  await redirect({ id: call_id, from_number, to_number }, url);
};

type Handler = (request: Request) => Promise<Response>;

/** The handlers of the requests of one service, by their paths. */
const routesOf = (options: ListOptions): readonly (readonly [path: string, handler: Handler])[] => {
  const { name, script, secret, service, publicUrl, onError } = options;
  const paths = pathsOf(name);
  const live = new LiveAttempts();
  const flows = new ReachedFlows();
  const open = (): CalledList => {
    const list = options.campaign();
    if (list) return list;
    throw new Error("The ledger is not open yet");
  };
  const checks = (path: string) => ({
    secret,
    // A carrier signs the whole URL that it calls.
    ...(publicUrl !== undefined && { publicUrl: urlBelow(publicUrl, path) }),
    ...(service && { service }),
    onError: (error: unknown, request: Request, call_id?: string) =>
      call_id === undefined
        ? onError(error, undefined, claimedCall(request))
        : onError(error, call_id),
  });
  const listOfCall: FlowCampaign = {
    contact: (context) => {
      flows.reach(context);
      const contact = open().contact(context);
      if (contact) return contact;
      throw new Error("The call is none of this ledger's, or its contact was erased");
    },
    inCall: () => campaignOf(open(), options),
    note: (given) => {
      if ("recording_id" in given) return open().note(given, { service: name });
      if ("event" in given) return options.campaign()?.note(failureOf(given), { service: name });
      if (given.digits) live.people.add(attemptOf(given.context));
      return open().note(given, { service: name });
    },
  };
  const handOver = (recording: RecordingInput, isKept: boolean): void => {
    if (isKept) options.onRecording?.(recording);
    else if (recording.context.campaign === open().id) {
      options.onErasedRecording?.(recording.recording_id);
    }
  };
  const onEvent = async (received: Received): Promise<void> => {
    const { call_id, type } = received.event;
    const isOurs = await open().note(received, { service: name });
    const recording = recordedBy(received);
    if (recording) handOver(recording, isOurs);
    if (isEnd(type)) live.forget(attemptOf(received.context));
    if (script) await flows.note(received, open());
    await redirectMachine(received, open(), live, options).catch((error: unknown) =>
      onError(error, call_id ?? undefined),
    );
  };
  const status = callbackHandler({ ...checks(paths.status), onEvent });
  if (!script) return [[paths.status, status]];
  const flow = flowHandler({
    ...script,
    ...checks(paths.flow),
    campaign: listOfCall,
    onRecording: async (recording: RecordingInput) => {
      handOver(recording, open().contact(recording.context) !== undefined);
      await script.onRecording?.(recording);
    },
  });
  return [
    [paths.status, status],
    [paths.flow, flow],
  ];
};

/**
 * Serves the requests of a list's calls: the flow at `/flow`, if there is a script, and the notifications at `/status`, both
 * below the name of the service where the list has several. Only a request to a URL that `secret` has signed reaches them.
 * Any other path is 404, without a body.
 *
 * @param services - what serves each of them; they have one `publicUrl`
 */
export const serveList = (...services: readonly [ListOptions, ...ListOptions[]]): Handler => {
  const [{ publicUrl }] = services;
  const routes = new Map(services.flatMap(routesOf));
  // A proxy may leave the path of the public URL, or drop it.
  const prefix = publicUrl === undefined ? "" : new URL(urlBelow(publicUrl, "/")).pathname;
  return async (request) => {
    const { pathname } = new URL(request.url);
    const below = pathname.startsWith(prefix) ? `/${pathname.slice(prefix.length)}` : pathname;
    const handler = [pathname, below].map((path) => routes.get(path)).find(Boolean);
    return handler ? handler(request) : new Response(null, { status: 404 });
  };
};
