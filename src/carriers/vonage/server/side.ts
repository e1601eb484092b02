import { Account, randomText } from "../../../emulator/account.ts";
import type { Call } from "../../../emulator/call.ts";
import { hexUlid, idSource, uuidOf } from "../../../emulator/ids.ts";
import type { MakeSide } from "../../../emulator/side.ts";
import { fail } from "../../../lib/check.ts";
import { isPrivateKey } from "../../../lib/pem.ts";
import type { VonageCall } from "./call.ts";
import type { CallFields } from "./fields.ts";
import { followNcco } from "./flow.ts";
import { testKeys } from "./keys.ts";
import { messagesOf } from "./notifications.ts";
import { vonageRoutes } from "./rest.ts";
import { TokenVerifier, webhookSigner } from "./tokens.ts";

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
  if (apiKey !== undefined && !isPrivateKey(apiKey)) {
    fail("apiKey", "must be the application's private key: a PEM of RSA, not encrypted");
  }
  const account = new Account({ key: apiKey, numbers, newKey: testKeys() });
  const newId = idSource(random, seed !== undefined, hexUlid);
  const newUuidAt = (time: number) => uuidOf(newId(time));
  const sign = webhookSigner(webhookSecret, applicationId);
  const newConversation = ({ timeline }: Call) => `CON-${newUuidAt(timeline.now())}`;
  const knownCalls = new WeakMap<Call, VonageCall>();
  const knownOf = (call: Call | undefined) => call && knownCalls.get(call);
  return {
    account,
    accountId: applicationId,
    webhookSecret: () => webhookSecret,
    newCallId: newUuidAt,
    responseTimeout: 5_000,
    recordingUrl: (origin, id) => `${origin}/v1/files/${id}`,
    routes: (parts) => {
      const find = (uuid: string) => knownOf(parts.findCall(uuid));
      return vonageRoutes({
        ...parts,
        account,
        tokens: new TokenVerifier(applicationId),
        randomNumber: numbers?.[0] ?? "+12025550199",
        find,
        findRecorded: (id) =>
          parts
            .allCalls()
            .flatMap((call) => knownOf(call) ?? [])
            .find(({ recordings }) => recordings.includes(id)),
        start: (fields, url) =>
          parts.accept({
            params: paramsOf(fields),
            limits: {
              answerTimeout: fields.ringingTimer * 1_000,
              maxDuration: fields.lengthTimer * 1_000,
            },
            url,
            prepare: (call) => {
              const known: VonageCall = {
                call,
                fields,
                conversation: newConversation(call),
                origin: new URL(url).origin,
                endedBy: "user",
                recordings: [],
                recording: undefined,
                request: undefined,
                live: undefined,
                transfer: undefined,
              };
              knownCalls.set(call, known);
              return known;
            },
          }),
      });
    },
    messagesOf: (call) => {
      const known = knownOf(call);
      return known ? messagesOf(known, sign) : [];
    },
    follow: async (call, parts) => {
      const known = knownOf(call);
      if (!known) return;
      known.request = parts.request;
      await followNcco(known, parts, {
        sign,
        newUuid: () => newUuidAt(call.timeline.now()),
        newConversation: () => newConversation(call),
        notify: (messages) => parts.notify(call, messages),
      });
    },
  };
};
