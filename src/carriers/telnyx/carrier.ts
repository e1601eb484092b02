import { type Carrier, commonOptions } from "../carrier.ts";
import { defaultAccountSid } from "./server/rest.ts";
import { telnyxSide } from "./server/side.ts";

const projectAccount = "1000000000000000001";

/** What the emulator and the command know of Telnyx. */
export const telnyxCarrier: Carrier = {
  makeSide: telnyxSide,
  account: "TeXML application",
  sampleAccount: "1000000000000000000",
  key: "an API key",
  speaks: "REST of a TeXML application, TeXML, callbacks, media streaming",
  shown: {
    account: "application",
    key: "API key",
    kept: { apiKey: /^KEY_[\w-]{43}$/ },
    hasSecret: true,
    signature: "Telnyx-Signature-Ed25519",
    hint: (setting) => [
      '\n  In your application: the key above, the public key behind "signs with", whose private key is',
      `  published, and { baseURL: ${setting("TELNYX_BASE_URL")} } for its client, with /v2 at its end`,
      `  Its account, for get, ended and why: OUTDIAL_ACCOUNT_SID, or ${defaultAccountSid}`,
    ],
    params: { record: true },
    expires: false,
  },
  project: {
    name: "telnyx",
    label: "Telnyx",
    account: projectAccount,
    accountText: `"${projectAccount}"`,
    accountField: "applicationId",
    accountIs: "The id of your TeXML application.",
    keyIs: "An API key of your account.",
    verifiesStart: true,
    verifiedBy: "publicKey",
    verifierIs: "The public key of your account, which verifies Telnyx's requests.",
    reportsPersons: true,
  },
  load: async (account) => {
    const { telnyx } = await import("./index.ts");
    const { signatureSecret } = account;
    const signed = signatureSecret ? { publicKey: signatureSecret } : {};
    const own = account.accountSid ? { accountSid: account.accountSid } : {};
    return telnyx({
      applicationId: account.account,
      ...own,
      ...signed,
      ...commonOptions(account),
    });
  },
};
