import type { Secret } from "../../callbacks/signed-url.ts";
import type { CarrierWebhooks, SignatureRefusal } from "../../flows/webhooks.ts";
import { currentSecrets } from "../../lib/hmac.ts";
import type { Voices } from "../voices.ts";
import { eventOf, type Forms, flowOf, isOver } from "../xml/forms.ts";
import { responder } from "../xml/respond.ts";
import { verifySignature } from "./signature.ts";
import { twimlOf } from "./twiml.ts";

/** The `SipResponseCode` of a callee who declines: its `CallStatus` is `no-answer`. */
const declined = "603";

/** The account's auth token, with which Twilio signs: several while one replaces another, or a function. */
export type AuthToken = Secret | (() => Secret | undefined | Promise<Secret | undefined>);

const forms: Forms = {
  reasonIn: ({ CallStatus, SipResponseCode }) =>
    CallStatus === "no-answer" && SipResponseCode === declined ? "rejected" : undefined,
};

/** Milliseconds until a flow request is answered: Twilio waits 15 s. */
const flowTimeout = 12_000;

/**
 * The most characters of a URL. Twilio documents none for calls; this is that of its messages.
 *
 * @see https://www.twilio.com/docs/api/errors/21609
 */
const maxUrl = 4000;

const otherAccount: SignatureRefusal = [
  "wrong_signature",
  [401, "AccountSid is that of another account than the option accountSid."],
];

/** Whether a form is about the account, or names none. */
const isOf = (accountSid: string, body: Uint8Array): boolean => {
  const { AccountSid = accountSid } = Object.fromEntries(
    new URLSearchParams(new TextDecoder().decode(body)),
  );
  return AccountSid.toLowerCase() === accountSid.toLowerCase();
};

/**
 * How Twilio's requests to the application are verified, read and answered.
 *
 * @param authToken - without it nothing of Twilio's own is verified
 */
export const applicationSide = ({
  accountSid,
  authToken,
  voices,
}: {
  readonly accountSid: string;
  readonly authToken?: AuthToken | undefined;
  /** By language. */
  readonly voices?: Voices<string> | undefined;
}): CarrierWebhooks => ({
  verify:
    authToken === undefined
      ? undefined
      : async (request, body, publicUrl) => {
          const tokens = await currentSecrets("authToken", authToken);
          const refused = await verifySignature(tokens, request, body, publicUrl);
          return refused ?? (isOf(accountSid, body) ? undefined : otherAccount);
        },
  decodeEvent: (body) => eventOf(body, forms),
  decodeFlow: (body) => flowOf(body, forms),
  respond: responder((action, ownUrl) => twimlOf(action, ownUrl, voices)),
  isOver,
  maxUrl,
  flowTimeout,
});
