import { type Carrier, commonOptions } from "../carrier.ts";
import { vonageSide } from "./server/side.ts";

const sampleAccount = "00000000-0000-4000-8000-000000000000";

/** What the emulator and the command know of Vonage. */
export const vonageCarrier: Carrier = {
  makeSide: vonageSide,
  account: "Vonage application",
  sampleAccount,
  key: "the private key of the application, a PEM",
  speaks: "REST with JWT, NCCO, webhooks, WebSockets; its private key is published",
  shown: {
    account: "application",
    key: "private key",
    // Its keys are published ones.
    kept: { webhookSecret: /^[\w-]{43}$/ },
    hasSecret: true,
    signature: "Authorization",
    hint: (setting) => [
      "\n  In your application: the id and the key above, which is published and protects nothing, and",
      `  { apiHost: ${setting("VONAGE_API_HOST")} } for its client`,
    ],
    params: {}, // Vonage records by an action.
    expires: true,
  },
  project: {
    name: "vonage",
    label: "Vonage",
    account: sampleAccount,
    accountText: `"${sampleAccount}"`,
    accountField: "applicationId",
    accountIs: "The id of your application.",
    keyIs: "The application's private key: its PEM in one line, in single quotes.",
    verifiedBy: "signatureSecret",
    verifierIs: "The signature secret of your account, which verifies Vonage's requests.",
    redirects: true,
    reportsPersons: true,
  },
  load: async (account) => {
    const { vonage } = await import("./index.ts");
    const { signatureSecret } = account;
    const signed = signatureSecret ? { signatureSecret } : {};
    return vonage({ applicationId: account.account, ...signed, ...commonOptions(account) });
  },
};
