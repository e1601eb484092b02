import { type Carrier, commonOptions } from "../carrier.ts";
import { twilioSide } from "./server/side.ts";

const sampleAccount = `AC${"0".repeat(32)}`;

/** What the emulator and the command know of Twilio. */
export const twilioCarrier: Carrier = {
  makeSide: twilioSide,
  account: "AC…",
  sampleAccount,
  key: "the auth token, or with --key-id the secret of that API key",
  speaks: "REST, TwiML, status callbacks, Media Streams",
  shown: {
    account: "account SID",
    key: "auth token",
    kept: { apiKey: /^[\da-f]{32}$/ },
    hasSecret: false,
    signature: "X-Twilio-Signature",
    hint: (setting) => [
      "\n  In your application: the SID and the token above, and the base URL of its client, such as",
      `  client.api.baseUrl = ${setting("TWILIO_BASE_URL")}`,
    ],
    params: { record: true },
    expires: false,
  },
  project: {
    name: "twilio",
    label: "Twilio",
    account: sampleAccount,
    accountText: '"AC".padEnd(34, "0")',
    accountField: "accountSid",
    accountIs: "The SID of your account.",
    keyIs: "Its auth token, which also verifies Twilio's requests.",
    verifiesStart: true,
    verifiedBy: "authToken",
  },
  load: async (account) => {
    const { twilio } = await import("./index.ts");
    const { keyId, apiKey } = account;
    const credentials = keyId ? { apiKeySid: keyId } : { authToken: apiKey };
    return twilio({ accountSid: account.account, ...credentials, ...commonOptions(account) });
  },
};
