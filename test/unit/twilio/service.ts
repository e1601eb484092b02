import type { Service } from "../../../src/service.ts";
import { type AuthToken, applicationSide } from "../../../src/twilio/application.ts";

/** A side that no test of the application side uses. */
const unused = (): never => {
  throw new Error("unused");
};

/** Twilio with its application side alone. */
export const serviceWith = (authToken?: AuthToken): Service => ({
  name: "twilio",
  account: "AC00000000000000000000000000000001",
  callsPerSecond: 1,
  get client() {
    return unused();
  },
  get media() {
    return unused();
  },
  application: applicationSide({ authToken }),
});
