/**
 * Twilio as the service of outdial: the same calls, notifications, call flows, media and lists.
 *
 * {@link twilio} makes the option `service`, which clients, handlers, streams, agents and campaigns take. Your code
 * stays the same, and so does its rule: a request that may have placed a call is never repeated. {@link twilioCalls} is
 * smaller, for an application that only places calls. It was not tried with a live account.
 *
 * @see docs/twilio.md
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
import { settingsOf, type TwilioOptions, type TwilioSettings } from "./options.ts";
import { twimlEncoder } from "./twiml.ts";

export type { AuthToken } from "./application.ts";
export type { TwilioOptions } from "./options.ts";

/**
 * Twilio, for the option `service` of `Client`, `calls.create`, `callbackHandler`, `flowHandler`, `connectAgent`,
 * `openCampaign` and `createEmulator`. The client's key is the account's auth token, or with `apiKeySid` the secret of
 * that API key.
 *
 * Not tried with a live account: what it sends was compared with Twilio's own npm client and OpenAPI document.
 *
 * @param options - `accountSid` is required
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example A client of a Twilio account
 * ```ts
 * import { Client } from "outdial";
 * import { twilio } from "outdial/twilio";
 *
 * const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
 * const fetch = async () => Response.json({ sid: "CA1", status: "queued" }, { status: 201 });
 * const client = new Client("the auth token", { service, fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * console.log(call.id, call.status); // CA1 queued
 * ```
 * @see docs/twilio.md
 */
export const twilio = (options: TwilioOptions): Service => {
  const { voices, others } = voicesIn<string>(() => options, isVoiceName, "the name of a voice");
  const settings = settingsOf(() => others);
  return {
    ...callSide(settings, twimlEncoder(settings.machineDetection, voices)),
    live: liveSide(settings),
    application: applicationSide({ ...settings, voices }),
    media: mediaSide(),
  };
};

const callSide = (settings: TwilioSettings, encodeFlow: EncodeFlow<string>): CallService => ({
  name: "twilio",
  account: settings.accountSid,
  callsPerSecond: settings.callsPerSecond,
  client: clientSide(settings, encodeFlow),
});

/**
 * Twilio for the option `service` of `Client`, `calls.create` and `openCampaign` alone: a Worker that places calls and
 * is asked nothing back carries no TwiML, signatures and media.
 *
 * @param options - as `twilio` takes them, without `voice`, which only flows need
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example Only place calls
 * ```ts
 * import { Client } from "outdial/fetch";
 * import { twilioCalls } from "outdial/twilio";
 *
 * const service = twilioCalls({ accountSid: "AC00000000000000000000000000000000" });
 * const client = new Client("the auth token", { service });
 * console.log(service.account); // AC00000000000000000000000000000000
 * ```
 * @see docs/twilio.md
 */
export const twilioCalls = (options: Omit<TwilioOptions, "voice">): CallService =>
  callSide(
    settingsOf(() => options),
    noFlowEncoder("twilio"),
  );
