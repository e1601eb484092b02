import { applicationSide, type PublicKey } from "../../../src/carriers/telnyx/application.ts";
import type { Service } from "../../../src/service.ts";
import { publicKey } from "./sign.ts";

/** A side that no test of the application side uses. */
const unused = (): never => {
  throw new Error("unused");
};

/** Telnyx with its application side alone. */
export const serviceWith = (given?: PublicKey): Service => ({
  name: "telnyx",
  account: "1494404757140276705",
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
  application: applicationSide({ publicKey: given }),
});

/** Telnyx with the public key of the tests. */
export const service = serviceWith(publicKey);
