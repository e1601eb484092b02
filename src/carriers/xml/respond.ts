import type { AnyAction } from "../../flows/actions.ts";
import type { CarrierWebhooks, FlowInput, Redirect } from "../../flows/webhooks.ts";

/**
 * Answers flow requests with a document of verbs.
 *
 * @param documentFor - the document of an action; `afterUrl` decides what follows a `dial`
 */
export const responder =
  (
    documentFor: (
      action: AnyAction | Redirect,
      afterUrl: string | undefined,
      input: FlowInput | undefined,
    ) => string,
  ): CarrierWebhooks["respond"] =>
  async (decide, input) => {
    const { action, signAfter } = await decide();
    return new Response(documentFor(action, await signAfter?.(), input), {
      headers: { "Content-Type": "text/xml" },
    });
  };
