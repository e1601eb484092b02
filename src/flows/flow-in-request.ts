import { type CallParams, isBuilt } from "../calls/params.ts";
import { fail } from "../lib/check.ts";
import type { AnyAction } from "./actions.ts";

/** A document for the request of a call, in the carrier's own form; `undefined` where its flow is at a URL. */
export type EncodeFlow<Document> = (params: CallParams) => Document | undefined;

/** What a builder has made is an action. */
const isAction = (flow: unknown): flow is AnyAction => isBuilt(flow);

/**
 * The encoder of a carrier's whole service, out of the one by which `flowHandler` answers.
 *
 * @param detection - the option, where its result would decide what the call does
 * @throws {BadParametersException} for what the carrier can't do, by the field
 */
export const flowEncoder =
  <Document>(
    encode: (action: AnyAction, params: CallParams) => Document,
    detection: string | undefined,
  ): EncodeFlow<Document> =>
  (params) => {
    const { flow } = params;
    if (!flow) return;
    if (detection) {
      const rule = `must not be "${detection}" with flow: what answered decides nothing there`;
      fail("machineDetection", `${rule}. Give flow_url, where onMachine decides`);
    }
    return isAction(flow)
      ? encode(flow, params)
      : fail("flow", "must be made by say() or the like");
  };

/**
 * The encoder of a service that only places calls.
 *
 * @param name - of the service
 */
export const noFlowEncoder =
  (name: string): EncodeFlow<never> =>
  ({ flow }) =>
    flow && fail("flow", `needs the whole ${name}(…): ${name}Calls(…) has no encoder`);
