import { decoded, joined, utf8 } from "../lib/encoding.ts";
import { hmacKeys, isMacOf } from "../lib/hmac.ts";
import { RefusedException } from "./errors.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** The signatures of a message. */
export interface Signatures {
  /** The text that is signed before the body. */
  readonly prefix: string;
  /** When it was signed, in seconds. */
  readonly seconds: number;
  /** One valid MAC is enough: a service sends several while it rotates its secret. */
  readonly macs: readonly Bytes[];
}

/** The most signatures that are checked, as each costs a MAC over the body. A rotation needs two. */
export const mostMacs = 8;

/** How far the time of a message may be off, in seconds. */
const tolerance = 300;

/**
 * Verifies the signatures of a message, and their time.
 *
 * @param isValid - whether one of the secrets made this MAC of these bytes
 * @throws {RefusedException} `wrong_signature` or `expired_signature`
 */
export const verifySignatures = async (
  { prefix, seconds, macs }: Signatures,
  body: Uint8Array,
  isValid: (mac: Bytes, data: Bytes) => Promise<boolean>,
): Promise<void> => {
  const content = joined([utf8(prefix), body]);
  for (const mac of macs) {
    if (!(await isValid(mac, content))) continue;
    if (Math.abs(Date.now() / 1000 - seconds) <= tolerance) return;
    throw new RefusedException("expired_signature");
  }
  throw new RefusedException("wrong_signature");
};

/** The keys of secrets in base64, as the scheme has them. */
const keys = hmacKeys(decoded);

/** A MAC in the one text that an encoder makes of it: see `tokenShape` in signed-url.ts. */
const signature = /^v1,([A-Za-z\d+/]{42}[AEIMQUYcgkosw048])=$/;

/** Base64 of 16 bytes or more, with or without `whsec_` before it. */
const secretShape =
  /^(?:whsec_)?((?:[A-Za-z\d+/]{4}){5,}(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{4}))$/;

/** The secrets in plain base64, or none when one of them isn't one. */
export const webhookSecretsOf = (secret: unknown): readonly string[] => {
  const found = [secret].flat().map((one) => secretShape.exec(String(one))?.[1] ?? "");
  return found.includes("") ? [] : found;
};

/**
 * Checks the Standard Webhooks signature of a request over its raw body.
 *
 * An id with a full stop is refused: it could contain a part of the next field.
 *
 * @throws {RefusedException} `no_signature`, `wrong_signature` or `expired_signature`
 * @see https://www.standardwebhooks.com
 */
export const verifyWebhook = async (
  { headers }: Request,
  body: Uint8Array,
  secrets: readonly string[],
): Promise<void> => {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(
    (name) => headers.get(`webhook-${name}`) ?? "",
  );
  const prefix = `${id}.${timestamp}.`;
  if (!/^[^.]+\.\d+\.$/.test(prefix) || !signatures) throw new RefusedException("no_signature");
  const macs = signatures.split(" ", mostMacs).flatMap((one) => {
    const mac = signature.exec(one)?.[1];
    return mac ? [decoded(mac)] : [];
  });
  await verifySignatures({ prefix, seconds: Number(timestamp), macs }, body, (mac, data) =>
    isMacOf(secrets, mac, data, keys),
  );
};
