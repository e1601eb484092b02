import type { Received } from "../callbacks/handler.ts";
import type { Context } from "../callbacks/signed-url.ts";
import { BadParametersException } from "../errors.ts";
import { withDeadline } from "../http/deadline.ts";
import { fieldsOf, withoutThrowing } from "../lib/check.ts";
import type { CalledContact, ScriptCampaign } from "./contact.ts";
import type { StepInput } from "./flow-state.ts";
import type { RecordingInput } from "./recorded.ts";
import type { FlowRequest } from "./request.ts";

/** What a flow has of its calls' list: a campaign of `outdial/campaigns`, or of `outdial/campaigns/workers`. */
export interface FlowCampaign extends Partial<ScriptCampaign> {
  /** The contact of a call, by the context of its signed URL. Without it steps have none. */
  readonly contact?:
    | ((
        context: Context,
        call: FlowRequest,
      ) => CalledContact | undefined | Promise<CalledContact | undefined>)
    | undefined;
  /**
   * What steps do with the list in one call.
   *
   * @defaultValue the campaign itself
   */
  readonly inCall?: ((call: FlowRequest) => ScriptCampaign) | undefined;
  /**
   * Records an answer, that the flow of a call failed (`call.flow_error`), or that the service has a recording, of a call of the
   * service with that name.
   */
  readonly note: (
    given: StepInput | Received | RecordingInput,
    sender?: { readonly service?: string | undefined },
  ) => unknown;
}

/** What a step gets of the campaign of its call. */
export const campaignOf = async (
  campaign: FlowCampaign,
  context: Context,
  call: FlowRequest,
): Promise<Pick<StepInput, "contact" | "campaign">> => {
  const { block, callBack, cancel } = campaign;
  const contact = await campaign.contact?.(context, call);
  const list =
    campaign.inCall?.(call) ??
    (block &&
      callBack &&
      cancel && {
        block: block.bind(campaign),
        callBack: callBack.bind(campaign),
        cancel: cancel.bind(campaign),
      });
  return { ...(contact && { contact }), ...(list && { campaign: list }) };
};

/**
 * What failed, where others may read it. Only the name of an error of the application's own: its message may have a
 * contact's data, which an erasure wouldn't find.
 */
export const failureOf = (error: unknown): string =>
  // Anything may have been thrown: a getter of it may throw, and so may what is no text.
  withoutThrowing(() => {
    const { name, message } = fieldsOf(error);
    return String(
      error instanceof BadParametersException ? message : (name ?? "no Error was thrown"),
    );
  }) ?? "an error";

/** The call of a flow request whose sender was verified. */
export type FlowCall = Pick<StepInput, "context"> & { readonly call_id: string };

/** How long a failure waits for its record, in milliseconds: the callee waits for the response. */
const longestNote = 1_000;

/**
 * Records that the flow of a call has failed. To the service a call whose flow was answered with `hangup` is completed.
 *
 * @throws what `note` throws, or a `TimeoutError`
 */
export const noteFailure = async (
  { note }: FlowCampaign,
  service: string | undefined,
  { call_id, context }: FlowCall,
  error: unknown,
): Promise<void> => {
  const event = {
    ...({ id: `${call_id}-flow`, type: "call.flow_error", known: false, call_id } as const),
    data: { flow_error: `flowHandler failed: ${failureOf(error)}` },
  };
  const late = () => new DOMException("campaign.note took longer than 1 s", "TimeoutError");
  await withDeadline(longestNote, undefined, late, async () =>
    note({ event, context }, { service }),
  );
};
