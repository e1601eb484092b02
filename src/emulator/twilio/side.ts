import { fail } from "../../lib/check.ts";
import { hex } from "../../lib/encoding.ts";
import { Account } from "../account.ts";
import type { Call } from "../call.ts";
import { hexUlid, idSource } from "../ids.ts";
import type { MakeSide } from "../side.ts";
import { recordingSidOf, type TwilioCall } from "./call.ts";
import { followTwiml } from "./flow.ts";
import { messagesOf } from "./notifications.ts";
import { twilioRoutes } from "./rest.ts";

/** A random auth token: 32 hexadecimal digits. */
const newToken = (): string => hex(crypto.getRandomValues(new Uint8Array(16)));

/** Twilio: its REST API, TwiML, status callbacks and Media Streams. */
export const twilioSide: MakeSide = ({ settings, service, random }) => {
  const accountSid = service?.account ?? "";
  if (!/^AC[\da-f]{32}$/i.test(accountSid)) {
    fail("service.account", "must be an account SID: AC and 32 hexadecimal digits");
  }
  if (settings.webhookSecret !== undefined) {
    fail("webhookSecret", "must be left out: Twilio signs with the auth token, which is apiKey");
  }
  const { apiKey, numbers, seed } = settings;
  const account = new Account({ key: apiKey, numbers, newKey: newToken });
  const newId = idSource(random, seed !== undefined, hexUlid);
  const token = () => account.key;
  const knownCalls = new WeakMap<Call, TwilioCall>();
  const knownOf = (call: Call | undefined) => call && knownCalls.get(call);
  return {
    account,
    accountId: accountSid,
    webhookSecret: token,
    newCallId: (time) => `CA${newId(time)}`,
    responseTimeout: 15_000,
    recordingUrl: (origin, id) =>
      `${origin}/2010-04-01/Accounts/${accountSid}/Recordings/${recordingSidOf(id)}`,
    routes: (parts) => {
      const find = (callSid: string) => knownOf(parts.findCall(callSid));
      return twilioRoutes({
        ...parts,
        account,
        accountSid,
        find,
        start: (fields, url) => {
          const { to, from, first, status, record, timeout, timeLimit } = fields;
          const params = {
            from_number: from,
            to_number: to,
            flow_url: "url" in first ? first.url : "",
            status_callback_url: status?.url ?? "",
            record,
          };
          const limits = {
            ...(timeout !== undefined && { answerTimeout: timeout * 1_000 }),
            ...(timeLimit !== undefined && { maxDuration: timeLimit * 1_000 }),
          };
          return parts.accept({
            params,
            limits,
            url,
            prepare: (call) => {
              const known: TwilioCall = {
                call,
                fields,
                eventCount: 0,
                hasRung: false,
                answeredBy: undefined,
                redirect: undefined,
              };
              knownCalls.set(call, known);
              return known;
            },
          });
        },
      });
    },
    messagesOf: (call) => {
      const known = knownOf(call);
      return known ? messagesOf(known, { accountSid, token }) : [];
    },
    follow: async (call, parts) => {
      const known = knownOf(call);
      if (!known) return;
      await followTwiml(known, parts, {
        accountSid,
        token,
        newSid: (letters) => letters + newId(call.timeline.now()),
        notify: (message) => parts.notify(call, [message]),
      });
    },
  };
};
