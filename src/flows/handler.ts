import { custom, exactOptional, safeParse } from "valibot";
import { failedHeader } from "../callbacks/errors.ts";
import { contextIn, pathIn, secretsOf } from "../callbacks/signed-url.ts";
import {
  functionRule,
  handlerOf,
  hook,
  messageIn,
  type OnError,
  requireCheck,
  type Verification,
  verified,
  type Waiting,
  withChecks,
  withinTime,
} from "../callbacks/verify.ts";
import { check, fail, fieldsOf, isFunction, isRecord, isText } from "../lib/check.ts";
import { maxUrl as defaultMaxUrl } from "../lib/url.ts";
import { hangup } from "./actions.ts";
import {
  campaignOf,
  type FlowCall,
  type FlowCampaign,
  failureOf,
  noteFailure,
} from "./campaign.ts";
import type { FlowState, InputHook, Step, StepInput } from "./flow-state.ts";
import { respondJson } from "./outdial-interface.ts";
import { type RecordingInput, recordingIn } from "./recorded.ts";
import { FlowRequest } from "./request.ts";
import { isSealed } from "./sealed-state.ts";
import { answeredByOf, decideTurn, requireSame, stateIn } from "./steps.ts";
import type { CarrierWebhooks } from "./webhooks.ts";

const requestIn = (json: unknown): FlowRequest | undefined => {
  const { success, output } = safeParse(FlowRequest, json);
  return success ? output : undefined;
};

/**
 * The options of `flowHandler`: the checks of `receive`, and what to decide.
 *
 * @typeParam Name - the names of the steps
 */
export type FlowOptions<Name extends string = never> = Verification & {
  /**
   * Returns what the call does next, within 8 s of the request: the service waits 10 s. With `service` it has that
   * carrier's time: 12 s for Twilio.
   */
  readonly onAnswer: Step<NoInfer<Name>>;
  /**
   * Decides instead of `onAnswer` where a machine has answered, and the carrier had found that out before it requested
   * the flow; and at a URL of `machineUrl`.
   *
   * @defaultValue `onAnswer`
   */
  readonly onMachine?: Step<NoInfer<Name>> | undefined;
  /**
   * What `next`, `on` and `otherwise` of an action name. Needs `secret`. A request may come twice: a step must be
   * repeatable.
   *
   * @defaultValue none
   */
  readonly steps?: { readonly [Each in Name]: Step<NoInfer<Name>> } | undefined;
  /**
   * Called with each answer, and with what answered the telephone, before the step that follows; it is awaited. `answers`
   * has all so far. Keys that `on` doesn't name, and silence, are no answer. What it throws goes to `onError`, and the
   * step runs.
   *
   * @defaultValue none
   */
  readonly onInput?: InputHook | undefined;
  /**
   * Called when the service has a recording that a `record` has made: with Twilio, Telnyx and Vonage. outdial's own interface
   * sends the notification `recording.completed` to `callbackHandler` instead. It may be called twice with one. If it throws,
   * the service may send it again. Needs `secret`.
   *
   * @defaultValue none: recordings go to `campaign` alone
   */
  readonly onRecording?: ((recording: RecordingInput) => unknown) | undefined;
  /**
   * The campaign whose calls these are (`openCampaign`, or `campaignOf` of `outdial/campaigns/workers`), or its `note`: each
   * answer, and what answered the telephone, is recorded before `onInput`, each recording's id before `onRecording`, steps get `contact` and `campaign`, and the contact of a call that fails here ends as
   * `flow_error`, with every service; 20 in a row pause the campaign. Needs `secret`.
   *
   * @defaultValue none: a call that fails here is completed to the service, and so to a campaign
   */
  readonly campaign?: FlowCampaign | undefined;
  /**
   * The name of the service whose calls these are, where `campaign` has several: answers and failures count for its attempts
   * alone. Each service has a handler of its own.
   *
   * @defaultValue none: the campaign has one service, without a name
   */
  readonly serviceName?: string | undefined;
  /**
   * Called with every refusal (`RefusedException`), with what your functions throw, with an action that
   * breaks a rule (`BadParametersException`), and with a `TimeoutError` for an action that comes too
   * late; and with the id of the call once that is known. What it throws itself is ignored, and its promise is not
   * awaited: the callee is waiting.
   *
   * @defaultValue `console.error` prints them with the id of the call, and the first refusal; then one refusal a minute,
   * with their count
   */
  readonly onError?: OnError | undefined;
};

/** What a notification of a recording is handled with. */
interface RecordedRequest {
  readonly kept: FlowState;
  readonly accept: (call_id: string | null) => void;
  readonly waiting: Waiting;
}

const hangUp = () => ({ action: hangup() });

/** What failed, as a header may have it. */
const headerOf = (error: unknown): string =>
  failureOf(error)
    .replace(/[^ -~]+/g, " ")
    .trim()
    .slice(0, 200) || "an error";

const HandlerOptions = withChecks({
  onAnswer: custom<Step<string>>(isFunction, functionRule),
  onMachine: hook<Step<string>>(),
  steps: exactOptional(
    custom<Readonly<Record<string, Step<string>>> | undefined>(
      (value) =>
        value === undefined ||
        (isRecord(value) &&
          Object.values(value).every(isFunction) &&
          !["onAnswer", "onMachine"].some((name) => Object.hasOwn(value, name))),
      "must be an object of functions, none of them named onAnswer or onMachine",
    ),
  ),
  onInput: hook<(given: StepInput) => unknown>(),
  onRecording: hook<(recording: RecordingInput) => unknown>(),
  campaign: exactOptional(
    custom<FlowCampaign | undefined>(
      (value) => value === undefined || isFunction(fieldsOf(value).note),
      "must be a campaign, or an object with its note",
    ),
  ),
  serviceName: exactOptional(
    custom<string | undefined>(
      (value) => value === undefined || isText(value),
      "must be the name of a service",
    ),
  ),
  onError: hook<OnError>(),
});

/**
 * Makes a handler for `flow_url` from a function that decides. A request is verified as `receive` does
 * it; a sender that can't be verified gets no action. Every failure after that goes to `onError`, and the response is
 * `hangup`: the callee is waiting, and silence until a time-out is the worst response.
 *
 * | response | when |
 * |---|---|
 * | 200, the action | `onAnswer` returned one |
 * | 204 | a `HEAD` or `OPTIONS` came to a URL that `secret` signed; nothing is called |
 * | 200, `hangup` | it threw, returned something else, what `service` can't do, or nothing within 8 s of the request |
 * | 405, 413, 408, 400, 401, with `service` 503 too, and a sentence | the request is refused; the reasons are `RefusedException`'s |
 * | 500, with `service` 503 | the sender can't be verified: your `verify` threw or took that long, `service` has no secret now, or the body was read before. The service ends the call with an error |
 *
 * @param options - how to verify the sender, and what to decide
 * @returns a function from a request to its response; it never rejects
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule, or no
 * check is given
 *
 * @example Decide what the call does
 * ```ts
 * import { signUrl } from "outdial/callbacks";
 * import { flowHandler, play } from "outdial/flows";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const handler = flowHandler({
 *   secret,
 *   onAnswer: ({ context }) => play(`https://app.test/hello-${context.language}.wav`),
 *   onError: console.error,
 * });
 *
 * // In a Worker: export default { fetch: handler }. In Deno: Deno.serve(handler). Here:
 * const url = await signUrl("https://app.test/flow", { secret, context: { language: "en" } });
 * const body = JSON.stringify({
 *   call_id: "cs_1",
 *   account_id: "acc_1",
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   direction: "outbound",
 * });
 * const response = await handler(new Request(url, { method: "POST", body }));
 * console.log(await response.text()); // {"action":"play","media_url":"https://app.test/hello-en.wav"}
 * ```
 */
export const flowHandler = <const Name extends string = never>(
  options: FlowOptions<Name>,
): ((request: Request) => Promise<Response>) => {
  const {
    onAnswer,
    onMachine,
    steps,
    onInput,
    onRecording,
    campaign,
    serviceName,
    onError,
    ...verification
  } = check(HandlerOptions, () => options, "options");
  requireCheck(verification);
  const functions = { ...steps, onAnswer, onMachine };
  const { secret, service } = verification;
  if (steps && !secret) fail("secret", "is missing, which steps need");
  if (campaign && !secret) fail("secret", "is missing, which campaign needs");
  if (onRecording && !secret) fail("secret", "is missing, which onRecording needs");
  const noteInput =
    campaign &&
    (async (given: StepInput) => {
      try {
        await campaign.note(given, { service: serviceName });
      } finally {
        await onInput?.(given);
      }
    });
  // Of the 10 s that the service waits, the way back takes some too.
  const {
    decodeFlow,
    flowTimeout = 8000,
    respond = respondJson,
    isOver,
    recordedIn,
    maxUrl = defaultMaxUrl,
  }: Partial<CarrierWebhooks> = service?.application ?? {};
  /** Hands over the recording of a notification, at the URL that was made for it. */
  const recorded = async (
    event: Readonly<Record<string, unknown>>,
    { kept, accept, waiting }: RecordedRequest,
  ): Promise<Response> => {
    const { account_id, call_id } = event;
    const [, account, call] = kept.of;
    const named = recordedIn ? recordedIn(event) : call_id;
    requireSame(kept, [
      service?.name ?? "",
      isText(account_id) ? account_id : account,
      isText(named) ? named : call,
    ]);
    const recording = recordingIn(event);
    const { call_id: id = "", as } = kept.recording ?? {};
    accept(id);
    if (recording) {
      const input = { call_id: id, as, ...recording, context: kept.context };
      waiting.waitFor("campaign");
      await campaign?.note(input, { service: serviceName });
      waiting.waitFor("onRecording");
      await onRecording?.(input);
    }
    return new Response(null, { status: 204 });
  };
  const work: Parameters<typeof handlerOf>[0]["work"] = async (request, { accept, report }) => {
    let known: FlowCall | undefined;
    let isRecording = false;
    try {
      return await withinTime(flowTimeout, async (waiting) => {
        const { body, token } = await verified(request, verification, waiting);
        const decode = decodeFlow && ((text: string) => decodeFlow(text, request.url));
        const kept = token && isSealed(token) ? await stateIn(token, secretsOf(secret)) : undefined;
        if (kept?.recording) {
          const event = messageIn(body, fieldsOf, service?.application.decodeEvent);
          const acceptRecording: typeof accept = (call_id) => {
            accept(call_id);
            isRecording = true;
          };
          return await recorded(event, { kept, accept: acceptRecording, waiting });
        }
        const received = messageIn(body, requestIn, decode);
        const boundTo = ({ account_id, call_id }: FlowRequest) =>
          [service?.name ?? "", account_id, call_id] as const;
        if (kept) requireSame(kept, boundTo(received));
        // After a dial the request may be about another leg: what follows is about the call.
        const call = { ...received, ...kept?.after?.call };
        const context = kept?.context ?? contextIn(token);
        accept(call.call_id);
        known = { call_id: call.call_id, context };
        if (kept && isOver?.(call)) return respond(hangUp);
        const path = token ? pathIn(request.url, undefined) : "";
        const answered_by = answeredByOf(path, call);
        const input = {
          ...{ ...verification, request, call, context, of: boundTo(call), pathIn, maxUrl },
          ...{ expires: token?.expires, after: kept?.after },
        };
        const begun = {
          of: input.of,
          at: "onAnswer",
          attempt: 1,
          context,
          answers: {},
          answered_by,
        } as const;
        const { waitFor } = waiting;
        if (campaign) waitFor("campaign");
        const ofCampaign = campaign ? await campaignOf(campaign, context, call) : {};
        const turn = {
          ...{ functions, onInput: noteInput ?? onInput, input, state: kept ?? begun },
          ...{ report, waitFor, records: !!(onRecording ?? campaign), ofCampaign },
        };
        return respond(() => decideTurn(turn), input);
      });
    } catch (error) {
      // No flow waits for a recording, which may be sent again.
      if (isRecording) {
        report(error);
        return new Response(null, { status: 503 });
      }
      if (campaign && known) await noteFailure(campaign, serviceName, known, error).catch(report);
      throw error;
    }
  };
  return handlerOf({
    work,
    // Who isn't verified gets no action, but the status that `callbackHandler` answers: so the mistake shows.
    failed: async (isAccepted, error) => {
      if (!isAccepted) return new Response(null, { status: service ? 503 : 500 });
      const response = await respond(hangUp);
      response.headers.set(failedHeader, headerOf(error));
      return response;
    },
    onError,
    name: "flowHandler",
    checks: verification,
  });
};
