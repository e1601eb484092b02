import { joined } from "../../bytes/joined.ts";
import { utf8 } from "../../bytes/utf8.ts";
import { RefusedException } from "../refused.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** What the headers of a signed message say. */
export interface Claim {
  /** What is signed before the body. */
  readonly head: string;
  /** When it was signed, in seconds. */
  readonly seconds: number;
  /** The MACs, of which one is enough: a service sends several while it rotates its secret. */
  readonly macs: readonly Bytes[];
}

/** How many signatures are looked at, as each costs a MAC over the body. A rotation needs two. */
export const mostMacs = 8;

/** How far the time of a message may be off, in seconds. */
const tolerance = 300;

/**
 * Checks that a message was signed, and when.
 *
 * @param isMade - whether one of the secrets made this MAC of these bytes
 * @throws {RefusedException} `wrong_signature` or `expired_signature`
 */
export const verifyClaim = async (
  { head, seconds, macs }: Claim,
  body: Uint8Array,
  isMade: (mac: Bytes, data: Bytes) => Promise<boolean>,
): Promise<void> => {
  const content = joined([utf8(head), body]);
  for (const mac of macs) {
    if (!(await isMade(mac, content))) continue;
    if (Math.abs(Date.now() / 1000 - seconds) <= tolerance) return;
    throw new RefusedException("expired_signature");
  }
  throw new RefusedException("wrong_signature");
};
