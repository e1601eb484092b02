import type { Secret } from "../../callbacks/signed-url.ts";
import type { CarrierWebhooks } from "../../flows/webhooks.ts";
import { fail } from "../../lib/check.ts";
import { currentSecrets } from "../../lib/hmac.ts";
import type { Voices } from "../voices.ts";
import { eventOf, type Forms, flowOf, isOver } from "../xml/forms.ts";
import { responder } from "../xml/respond.ts";
import { isPublicKey, verifySignature } from "./signature.ts";
import { texmlOf } from "./texml.ts";
import { maxUrl, reasons } from "./wire.ts";

/** The account's public key: several while one replaces another, or a function. */
export type PublicKey = Secret | (() => Secret | undefined | Promise<Secret | undefined>);

const forms: Forms = {
  reasonIn: ({ CallStatus, HangupCause }) => reasons.get(`${CallStatus} ${HangupCause}`),
  // It isn't in every request, and a call of `calls.create` goes out.
  direction: "outbound",
  isElsewhere: ({ CallbackSource }) => CallbackSource === "call-progress-events",
};

/** The number that a `<Dial>` shows: without one Telnyx's own default is the number that was called. */
const callerIdOf = (number: string | undefined): string | undefined =>
  number && /^\+\d{1,15}$/.test(number) ? number : undefined;

/** Milliseconds until a flow request is answered. How long Telnyx waits isn't documented. */
const flowTimeout = 8000;

/**
 * How Telnyx's requests to the application are verified, read and answered.
 *
 * @param publicKey - without it nothing of Telnyx's own is verified
 */
export const applicationSide = ({
  publicKey,
  voices,
}: {
  readonly publicKey?: PublicKey | undefined;
  /** By language. */
  readonly voices?: Voices<string> | undefined;
}): CarrierWebhooks => ({
  verify:
    publicKey === undefined
      ? undefined
      : async (request, body) => {
          const keys = await currentSecrets("publicKey", publicKey);
          if (!keys.every(isPublicKey)) return fail("publicKey", "must be 32 bytes in base64");
          return verifySignature(keys, request, body);
        },
  decodeEvent: (body) => eventOf(body, forms),
  decodeFlow: (body) => flowOf(body, forms),
  respond: responder((action, ownUrl, input) =>
    texmlOf(action, { ownUrl, voices, callerId: callerIdOf(input?.call.from_number) }),
  ),
  isOver,
  maxUrl,
  flowTimeout,
});
