import type { AnyAction } from "../../flows/actions.ts";
import type { CarrierWebhooks, FlowInput, Redirect } from "../../flows/webhooks.ts";

/**
 * Answers flow requests with a document of verbs.
 *
 * @param documentFor - the document of an action; `ownUrl` decides what follows a `dial`, or gets a recording
 */
export const responder =
  (
    documentFor: (
      action: AnyAction | Redirect,
      ownUrl: string | undefined,
      input: FlowInput | undefined,
    ) => string,
  ): CarrierWebhooks["respond"] =>
  async (decide, input) => {
    const { action, signOwn } = await decide();
    return new Response(documentFor(action, await signOwn?.(), input), {
      headers: { "Content-Type": "text/xml" },
    });
  };
