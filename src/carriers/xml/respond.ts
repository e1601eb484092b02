import type { AnyAction, Branch, Dial, Hangup, Play } from "../../flows/actions.ts";
import { branchesOf, dialedUrl, firstBranch, signDialed } from "../../flows/continuation.ts";
import type { CarrierWebhooks, FlowInput } from "../../flows/webhooks.ts";
import { isText } from "../../lib/check.ts";
import type { Redirect } from "./verbs.ts";

/**
 * The URL that decides what follows a `dial`.
 *
 * @throws {BadParametersException} that names a branch, without the option `secret`
 */
const branchesUrlOf = async (dial: Dial, input: FlowInput): Promise<string | undefined> => {
  const branch = firstBranch(dial);
  const { flow_url } = dial;
  return branch && signDialed({ ...branchesOf(dial), flow_url }, input, branch);
};

/** The branch of a `dial` for each `DialCallStatus`; after any other, the call continues at its `flow_url`. */
const branches: ReadonlyMap<unknown, Branch> = new Map([
  ["busy", "on_busy"],
  ["no-answer", "on_no_answer"],
  ["failed", "on_failure"],
]);

/** What follows a `dial`, where the request came to the URL that decides it; `undefined` for any other request. */
const followingDial = async ({
  call: { DialCallStatus: status },
  dialed,
  secret,
}: FlowInput): Promise<Play | Hangup | Redirect | undefined> => {
  if (!dialed) return;
  const branch = branches.get(status);
  const { flow_url } = dialed;
  const action = branch && dialed[branch];
  if (action || flow_url === undefined) return action ?? { action: "hangup" };
  // The request after a redirect has no field of the dial, as one to its action would have.
  const isWord = isText(status) && /^[a-z-]+$/.test(status);
  return {
    action: "redirect",
    flow_url: isWord ? await dialedUrl(flow_url, status, secret) : flow_url,
  };
};

/**
 * Answers flow requests with a document of verbs.
 *
 * @param documentFor - the document of an action; `branchesUrl` decides what follows a `dial`
 */
export const responder =
  (
    documentFor: (
      action: AnyAction | Redirect,
      branchesUrl: string | undefined,
      input: FlowInput | undefined,
    ) => string,
  ): CarrierWebhooks["respond"] =>
  async (decide, input) => {
    const action = (input && (await followingDial(input))) ?? (await decide());
    const branchesUrl =
      action.action === "dial" && input ? await branchesUrlOf(action, input) : undefined;
    return new Response(documentFor(action, branchesUrl, input), {
      headers: { "Content-Type": "text/xml" },
    });
  };
