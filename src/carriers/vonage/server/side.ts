import { fail } from "../../../lib/check.ts";
import { isPrivateKey } from "../../../lib/pem.ts";
import { Account, randomText } from "../../../server/account.ts";
import type { ServedCall } from "../../../server/call.ts";
import { hexUlid, idSource, uuidOf } from "../../../server/ids.ts";
import type { MakeSide } from "../../../server/side.ts";
import type { VonageCall } from "./call.ts";
import type { CallFields } from "./fields.ts";
import { followNcco } from "./flow.ts";
import { messagesOf } from "./notifications.ts";
import { vonageRoutes } from "./rest.ts";
import { TokenVerifier, testKeys, webhookSigner } from "./tokens.ts";

/** What every call has of a request for one. */
const paramsOf = ({ to, from, first, events }: CallFields) => ({
  from_number: from,
  to_number: to,
  flow_url: "url" in first ? first.url : "",
  status_callback_url: events?.url ?? "",
  // Only an action records.
  record: false,
});

/** Vonage: its REST API, NCCO, webhooks and WebSockets. */
export const vonageSide: MakeSide = ({ settings, service, random }) => {
  const applicationId = service?.account ?? "";
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(applicationId)) {
    fail("service.account", "must be an application's id: a UUID");
  }
  const { apiKey, numbers, seed, webhookSecret = randomText() } = settings;
  if (apiKey !== undefined && !(typeof apiKey === "string" && isPrivateKey(apiKey))) {
    fail("apiKey", "must be the application's private key: a PEM of RSA, not encrypted");
  }
  const account = new Account({ key: apiKey, numbers, newKey: testKeys() });
  const newId = idSource(random, seed !== undefined, hexUlid);
  const newUuidAt = (time: number) => uuidOf(newId(time));
  const sign = webhookSigner(webhookSecret, applicationId);
  const newConversation = ({ timeline }: ServedCall) => `CON-${newUuidAt(timeline.now())}`;
  const calls = new WeakMap<ServedCall, VonageCall>();
  const callOf = (served: ServedCall | undefined) => served && calls.get(served);
  return {
    account,
    accountId: applicationId,
    webhookSecret: () => webhookSecret,
    newCallId: newUuidAt,
    responseTimeout: 5_000,
    recordingUrl: (origin, id) => `${origin}/v1/files/${id}`,
    routes: (parts) => {
      const find = (uuid: string) => callOf(parts.findCall(uuid));
      return vonageRoutes({
        ...parts,
        account,
        tokens: new TokenVerifier(applicationId),
        randomNumber: numbers?.[0] ?? "+12025550199",
        find,
        findRecorded: (id) =>
          parts
            .allCalls()
            .flatMap((served) => callOf(served) ?? [])
            .find(({ recordings }) => recordings.includes(id)),
        start: (fields, url) =>
          parts.accept({
            params: paramsOf(fields),
            limits: {
              answerTimeout: fields.ringingTimer * 1_000,
              maxDuration: fields.lengthTimer * 1_000,
            },
            url,
            prepare: (served) => {
              const call: VonageCall = {
                served,
                fields,
                conversation: newConversation(served),
                origin: new URL(url).origin,
                endedBy: "user",
                recordings: [],
                recording: undefined,
                line: undefined,
                live: undefined,
                transfer: undefined,
              };
              calls.set(served, call);
              return call;
            },
          }),
      });
    },
    messagesOf: (served) => {
      const call = callOf(served);
      return call ? messagesOf(call, sign) : [];
    },
    follow: async (served, parts) => {
      const call = callOf(served);
      if (!call) return;
      call.line = parts.line;
      await followNcco(call, parts, {
        sign,
        newUuid: () => newUuidAt(served.timeline.now()),
        newConversation: () => newConversation(served),
        notify: parts.notify,
      });
    },
  };
};
