import type { AnyAction, Dial, Hangup, Play } from "../flows/actions.ts";
import {
  type Branch,
  branchesOf,
  continuationIn,
  firstBranch,
  isBranch,
  signContinuation,
} from "../flows/continuation.ts";
import { isText } from "../lib/check.ts";
import type { CarrierWebhooks, FlowInput } from "../service.ts";
import type { Redirect } from "./verbs.ts";

/**
 * The URL that decides what follows a `dial`.
 *
 * @throws {BadParametersException} that names a branch, without the option `secret`
 */
const branchesUrlOf = async (dial: Dial, input: FlowInput): Promise<string | undefined> => {
  const branch = firstBranch(dial);
  const { flow_url } = dial;
  return branch && signContinuation({ ...branchesOf(dial), flow_url }, input, branch);
};

/** The branch of a `dial` for each `DialCallStatus`; after any other, the call continues at its `flow_url`. */
const branches: ReadonlyMap<unknown, Branch> = new Map([
  ["busy", "on_busy"],
  ["no-answer", "on_no_answer"],
  ["failed", "on_failure"],
]);

/** What follows a `dial`, out of the signed URL that the request came to; `undefined` for any other request. */
const followingDial = (input: FlowInput): Play | Hangup | Redirect | undefined => {
  const decided = continuationIn(input);
  if (!decided) return;
  const branch = branches.get(input.call.DialCallStatus);
  const action = branch && decided[branch];
  if (isBranch(action)) return action;
  const { flow_url } = decided;
  return isText(flow_url) ? { action: "redirect", flow_url } : { action: "hangup" };
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
    const action = (input && followingDial(input)) ?? (await decide());
    const branchesUrl =
      action.action === "dial" && input ? await branchesUrlOf(action, input) : undefined;
    return new Response(documentFor(action, branchesUrl, input), {
      headers: { "Content-Type": "text/xml" },
    });
  };
