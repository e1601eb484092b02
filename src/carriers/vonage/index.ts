/**
 * Vonage as the service of outdial: the same calls, notifications, call flows, media and lists.
 *
 * {@link vonage} makes the option `service`, which clients, handlers, streams, agents and campaigns take. Your code
 * stays the same, and so does its rule: a request that may have placed a call is never repeated. {@link vonageCalls} is
 * smaller, for an application that only places calls. It was not tried with a live account.
 *
 * @see docs/vonage.md
 *
 * @module
 */

import { type EncodeFlow, noFlowEncoder } from "../../flows/flow-in-request.ts";
import type { CallService } from "../../options.ts";
import type { Service } from "../../service.ts";
import { voicesIn } from "../voices.ts";
import { applicationSide } from "./application.ts";
import { clientSide } from "./client.ts";
import { liveSide } from "./live.ts";
import { mediaSide } from "./media.ts";
import { isVoice, nccoEncoder, type VonageVoice } from "./ncco.ts";
import { settingsOf, type VonageOptions, type VonageSettings } from "./options.ts";

export type { SignatureSecret } from "./application.ts";
export type { VonageVoice } from "./ncco.ts";
export type { VonageOptions } from "./options.ts";

const callSide = (settings: VonageSettings, encodeFlow: EncodeFlow<object>): CallService => ({
  name: "vonage",
  account: settings.applicationId,
  callsPerSecond: settings.callsPerSecond,
  client: clientSide(settings, encodeFlow),
});

/**
 * Vonage, for the option `service` of `Client`, `calls.create`, `callbackHandler`, `flowHandler`, `connectAgent`,
 * `streamSession` and `openCampaign`. The client's key is the application's private key: its PEM (PKCS#8 or PKCS#1), or
 * a function that returns it.
 *
 * Not tried with a live account: what it sends was compared with Vonage's own npm clients.
 *
 * @param options - `applicationId` is required
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example A client of a Vonage application
 * ```ts
 * import { Client } from "outdial";
 * import { vonage } from "outdial/vonage";
 *
 * // In production: the private key of the application. Here, one of nobody's.
 * const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", modulusLength: 2048 };
 * const publicExponent = new Uint8Array([1, 0, 1]);
 * const { privateKey } = await crypto.subtle.generateKey({ ...algorithm, publicExponent }, true, ["sign"]);
 * const der = new Uint8Array(await crypto.subtle.exportKey("pkcs8", privateKey));
 * const pem = `-----BEGIN PRIVATE KEY-----\n${btoa(String.fromCharCode(...der))}\n-----END PRIVATE KEY-----`;
 *
 * const service = vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" });
 * const fetch = async () => Response.json({ uuid: "63f61863", status: "started" }, { status: 201 });
 * const client = new Client(pem, { service, fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * console.log(call.id, call.status); // 63f61863 started
 * ```
 * @see docs/vonage.md
 */
export const vonage = (options: VonageOptions): Service => {
  const { voices, others } = voicesIn<VonageVoice>(() => options, isVoice, "{ style, premium }");
  const settings = settingsOf(() => others);
  return {
    ...callSide(settings, nccoEncoder(settings.machineDetection, voices)),
    live: liveSide(),
    application: applicationSide({ ...settings, voices }),
    media: mediaSide(settings.applicationId),
  };
};

/**
 * Vonage for the option `service` of `Client`, `calls.create` and `openCampaign` alone: a Worker that places calls and
 * is asked nothing back carries no NCCO, signatures and media.
 *
 * @param options - as `vonage` takes them, without `voice`, which only flows need
 * @throws {BadParametersException} when an option breaks its rule, or is unknown
 *
 * @example Only place calls
 * ```ts
 * import { Client } from "outdial/fetch";
 * import { vonageCalls } from "outdial/vonage";
 *
 * const service = vonageCalls({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" });
 * const readKey = async () => "the PEM, from a secrets manager";
 * const client = new Client(readKey, { service });
 * console.log(service.account); // 78d335fa-323d-0114-9c3d-d6f0d48968cf
 * ```
 * @see docs/vonage.md
 */
export const vonageCalls = (options: Omit<VonageOptions, "voice">): CallService =>
  callSide(
    settingsOf(() => options),
    noFlowEncoder("vonage"),
  );
