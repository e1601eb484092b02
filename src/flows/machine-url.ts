import type { AnsweredBy, OpenUnion } from "../callbacks/event.ts";
import { type SignOptions, signUrl } from "../callbacks/signed-url.ts";
import { fail, isText, withoutThrowing } from "../lib/check.ts";
import { withoutAdditions } from "./continuation.ts";

/** The options of `machineUrl`: those of `signUrl`, and what answered. */
export interface MachineUrlOptions extends SignOptions {
  /** What answered: `answered_by` of the event, any machine. */
  readonly answered_by: OpenUnion<AnsweredBy>;
}

/**
 * Signs the URL to which an application sends a live call when a machine has answered it, where the carrier finds that
 * out while the flow runs: Vonage. `flowHandler` then calls `onMachine`. Send the call there once: on the event
 * `call.machine_detected` whose `beep` is `true`, when the machine records.
 *
 * @param flow_url - the URL of the flow, without a signature
 * @param options - as `signUrl` takes them, and `answered_by` of the event
 * @returns the signed URL
 * @throws {BadParametersException} when a rule is broken
 *
 * @example Leave a message after the beep
 * ```ts
 * import { callbackHandler } from "outdial/callbacks";
 * import { redirect } from "outdial/calls";
 * import { machineUrl } from "outdial/flows";
 * import { vonage } from "outdial/vonage";
 *
 * const secret = crypto.randomUUID(); // In production: from the environment, the same in every process.
 * const apiKey = async () => "the PEM, from a secrets manager";
 * const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
 * const service = vonage({ applicationId, machineDetection: "message" });
 * const handler = callbackHandler({
 *   service,
 *   secret,
 *   onEvent: async ({ event, context }) => {
 *     if (!event.known || event.type !== "call.machine_detected" || !event.data.beep) return;
 *     const { from = "", to = "", answered_by = "machine_end_beep" } = event.data;
 *     const url = await machineUrl("https://app.test/flow", { secret, context, answered_by });
 *     const call = { id: event.call_id, from_number: from, to_number: to };
 *     await redirect(call, url, { service, apiKey });
 *   },
 * });
 * console.log(typeof handler); // function
 * ```
 * @see docs/vonage.md
 */
export const machineUrl = async (flow_url: string, options: MachineUrlOptions): Promise<string> => {
  const answered_by = withoutThrowing(() => options.answered_by);
  if (!isText(answered_by) || !/^(machine_(start|end_(beep|silence|other))|fax)$/.test(answered_by))
    fail("answered_by", "must be that of a machine");
  const { answered_by: _, ...signing } = options;
  if (!isText(flow_url)) return signUrl(flow_url, signing);
  const [url = "", ...hash] = flow_url.split("#");
  const base = withoutAdditions(url);
  const marked = `${base}${base.includes("?") ? "&" : "?"}outdial-answered=${answered_by}`;
  return signUrl([marked, ...hash].join("#"), signing);
};
