import { type AuthToken, applicationSide } from "../../../src/carriers/twilio/application.ts";
import type { Service } from "../../../src/service.ts";

/** A side that no test of the application side uses. */
const unused = (): never => {
  throw new Error("unused");
};

export const accountSid = "AC00000000000000000000000000000001";

/** Twilio with its application side alone. */
export const serviceWith = (authToken?: AuthToken): Service => ({
  name: "twilio",
  account: accountSid,
  callsPerSecond: 1,
  get client() {
    return unused();
  },
  get live() {
    return unused();
  },
  get media() {
    return unused();
  },
  application: applicationSide({ accountSid, authToken }),
});
