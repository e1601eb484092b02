import { fail } from "../../../lib/check.ts";
import { Account, randomText } from "../../../server/account.ts";
import { hexUlid, idSource } from "../../../server/ids.ts";
import type { MakeSide } from "../../../server/side.ts";
import { MarkupCalls } from "../../xml/server/side.ts";
import { recordingSidOf, telnyxCarrier } from "./carrier.ts";
import { defaultAccountSid, telnyxRoutes } from "./rest.ts";
import { bodySigner, publicKey } from "./signature.ts";

/** Telnyx: the REST API of a TeXML application, TeXML, callbacks and media streaming. */
export const telnyxSide: MakeSide = ({ settings, service, random }) => {
  const applicationId = service?.account ?? "";
  if (!/^\d{1,30}$/.test(applicationId)) {
    fail("service.account", "must be the id of a TeXML application: digits");
  }
  const accountSid = service?.accountSid ?? defaultAccountSid;
  if (!/^[\w-]{1,64}$/.test(accountSid)) fail("service.accountSid", "must be the id of an account");
  if (settings.webhookSecret !== undefined) {
    fail("webhookSecret", "must be left out: the emulated Telnyx signs with a published test key");
  }
  const { apiKey, numbers, seed } = settings;
  const account = new Account({ key: apiKey, numbers, newKey: () => `KEY_${randomText()}` });
  const newId = idSource(random, seed !== undefined, hexUlid);
  const signer = bodySigner();
  const carrier = telnyxCarrier(applicationId, signer, newId);
  const urlOf = (origin: string, sid: string) => `${origin}/recordings/${sid}.wav`;
  const calls = new MarkupCalls(carrier, urlOf);
  return {
    account,
    accountId: applicationId,
    webhookSecret: () => publicKey,
    newCallId: (time) => carrier.newSid("call", time),
    responseTimeout: 10_000,
    notificationTimeout: 2_000,
    recordingUrl: (origin, id) => urlOf(origin, recordingSidOf(id)),
    routes: (parts) =>
      telnyxRoutes({ ...calls.restParts(parts, account), applicationId, accountSid, signer }),
    messagesOf: (served) => calls.messagesOf(served),
    follow: (served, parts) => calls.follow(served, parts),
  };
};
