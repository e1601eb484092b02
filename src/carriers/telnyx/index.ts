/**
 * Telnyx (TeXML) as the service of outdial: the same calls, notifications, call flows, media and lists.
 *
 * {@link telnyx} makes the option `service`, which clients, handlers, streams, agents and campaigns take. Your code
 * stays the same, and so does its rule: a request that may have placed a call is never repeated. {@link telnyxCalls} is
 * smaller, for an application that only places calls. It was not tried with a live account.
 *
 * @see docs/telnyx.md
 *
 * @module
 */

import { type EncodeFlow, noFlowEncoder } from "../../flows/flow-in-request.ts";
import type { CallService } from "../../options.ts";
import type { Service } from "../../service.ts";
import { isVoiceName, voicesIn } from "../voices.ts";
import { applicationSide } from "./application.ts";
import { clientSide } from "./client.ts";
import { liveSide } from "./live.ts";
import { mediaSide } from "./media.ts";
import {
  accountOf,
  settingsOf,
  type TelnyxCallsOptions,
  type TelnyxOptions,
  type TelnyxSettings,
} from "./options.ts";
import { texmlEncoder } from "./texml.ts";

export type { PublicKey } from "./application.ts";
export type { TelnyxCallsOptions, TelnyxOptions } from "./options.ts";

const callSide = (settings: TelnyxSettings, encodeFlow: EncodeFlow<string>): CallService => ({
  name: "telnyx",
  account: settings.applicationId,
  callsPerSecond: settings.callsPerSecond,
  client: clientSide(settings, encodeFlow),
});

/**
 * Telnyx, for the option `service` of `Client`, `calls.create`, `callbackHandler`, `flowHandler`, `connectAgent`,
 * `streamSession`, `openCampaign` and `createEmulator`. The client's key is an API key of the account. Calls are those
 * of a TeXML application.
 *
 * Not tried with a live account: what it sends was compared with Telnyx's own npm client.
 *
 * @param options - `applicationId` is required
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example A client of a TeXML application
 * ```ts
 * import { Client } from "outdial";
 * import { telnyx } from "outdial/telnyx";
 *
 * const service = telnyx({ applicationId: "1494404757140276705" });
 * const fetch = async () => Response.json({ call_sid: "v3:1", status: "queued" });
 * const client = new Client("KEY0123", { service, fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * console.log(call.id, call.status); // v3:1 queued
 * ```
 * @see docs/telnyx.md
 */
export const telnyx = (options: TelnyxOptions): Service => {
  const { voices, others: unvoiced } = voicesIn<string>(
    () => options,
    isVoiceName,
    "the name of a voice",
  );
  const { accountSid, others } = accountOf(() => unvoiced);
  const settings = settingsOf(() => others);
  return {
    ...callSide(settings, texmlEncoder(settings.machineDetection, voices)),
    accountSid,
    live: liveSide(accountSid),
    application: applicationSide({ ...settings, voices }),
    media: mediaSide(),
  };
};

/**
 * Telnyx for the option `service` of `Client`, `calls.create` and `openCampaign` alone: a Worker that places calls and
 * is asked nothing back carries no TeXML, signatures and media.
 *
 * @param options - as `telnyx` takes them, without `accountSid` and `voice`, which only calls that were placed need
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example Only place calls
 * ```ts
 * import { Client } from "outdial/fetch";
 * import { telnyxCalls } from "outdial/telnyx";
 *
 * const service = telnyxCalls({ applicationId: "1494404757140276705" });
 * const client = new Client("KEY0123", { service });
 * console.log(service.account); // 1494404757140276705
 * ```
 * @see docs/telnyx.md
 */
export const telnyxCalls = (options: TelnyxCallsOptions): CallService =>
  callSide(
    settingsOf(() => options),
    noFlowEncoder("telnyx"),
  );
