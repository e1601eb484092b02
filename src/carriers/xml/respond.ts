import type { AnyAction } from "../../flows/actions.ts";
import type { CarrierWebhooks, FlowInput, Redirect } from "../../flows/webhooks.ts";
import { isText } from "../../lib/check.ts";

/** What the carrier says of a second leg at the `action` of a `<Dial>`, but for its numbers and its recording: a URL is seen by many. */
const dialFields = ["DialCallStatus", "DialCallSid", "DialCallDuration", "DialBridged"];

/** A URL whose last parameter is a signature over all before it. */
const isSigned = /[?&]outdial=[^&#]*(#|$)/;

/**
 * Where a call is redirected after a `dial` with branches: the carrier has asked the flow's own URL in the place of this
 * one, and a redirect has only what is in its URL.
 */
const withDialFields = (flow_url: string, { call }: FlowInput): string => {
  const fields = dialFields.flatMap((name) => {
    const { [name]: value } = call;
    return isText(value) ? [[name, value]] : [];
  });
  if (fields.length === 0 || isSigned.test(flow_url)) return flow_url;
  const [url = "", ...hash] = flow_url.split("#");
  const query = `${url.includes("?") ? "&" : "?"}${new URLSearchParams(fields)}`;
  return [url + query, ...hash].join("#");
};

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
    const { action: decided, signOwn } = await decide();
    const action =
      decided.action === "redirect" && input
        ? { ...decided, flow_url: withDialFields(decided.flow_url, input) }
        : decided;
    return new Response(documentFor(action, await signOwn?.(), input), {
      headers: { "Content-Type": "text/xml" },
    });
  };
