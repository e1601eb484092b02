import { fail, fieldsOf, isText } from "../../../lib/check.ts";
import { hex } from "../../../lib/encoding.ts";
import { Account } from "../../../server/account.ts";
import { hexUlid, idSource } from "../../../server/ids.ts";
import type { MakeSide } from "../../../server/side.ts";
import { parseCall } from "../../xml/server/fields.ts";
import { messageFrom } from "../../xml/server/notifications.ts";
import { MarkupCalls } from "../../xml/server/side.ts";
import { recordingSidOf, twilioCarrier } from "./carrier.ts";
import { twilioForm } from "./problems.ts";
import { twilioRoutes } from "./rest.ts";

/** A random auth token: 32 hexadecimal digits. */
const newToken = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

/** Twilio: its REST API, TwiML, status callbacks and Media Streams. */
export const twilioSide: MakeSide = ({ settings, service, random }) => {
  const accountSid = service?.account ?? "";
  if (!/^AC[\da-fA-F]{32}$/.test(accountSid)) {
    fail("service.account", "must be an account SID: AC and 32 hexadecimal digits");
  }
  if (settings.webhookSecret !== undefined) {
    fail("webhookSecret", "must be left out: Twilio signs with the auth token, which is apiKey");
  }
  const { apiKey, numbers, seed } = settings;
  const account = new Account({ key: apiKey, numbers, newKey: newToken });
  const newId = idSource(random, seed !== undefined, hexUlid);
  const token = () => account.key;
  const carrier = twilioCarrier(token, newId);
  const urlOf = (origin: string, sid: string) =>
    `${origin}/2010-04-01/Accounts/${accountSid}/Recordings/${sid}`;
  const calls = new MarkupCalls(carrier, urlOf);
  return {
    account,
    accountId: accountSid,
    webhookSecret: token,
    newCallId: (time) => carrier.newSid("call", time),
    responseTimeout: 15_000,
    recordingUrl: (origin, id) => urlOf(origin, recordingSidOf(id)),
    routes: (parts) => twilioRoutes({ ...calls.restParts(parts, account), accountSid, carrier }),
    messagesOf: (served) => calls.messagesOf(served),
    restore: (served, kept, url, sent) => {
      const { form } = fieldsOf(kept);
      // It was valid when it came.
      const fields = parseCall(
        new URLSearchParams(isText(form) ? form : ""),
        twilioForm,
        () => true,
      );
      calls.restore(served, { accountSid, fields }, url, sent);
    },
    messageFrom: (stored) => messageFrom(stored, carrier),
    follow: (served, parts) => calls.follow(served, parts),
  };
};
