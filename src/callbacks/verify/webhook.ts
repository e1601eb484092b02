import { decoded } from "../../bytes/base64.ts";
import { hmacKeys, isMacOf } from "../../bytes/hmac.ts";
import { RefusedException } from "../refused.ts";
import { mostMacs, verifyClaim } from "./claim.ts";

/** The keys of secrets in base64, as the scheme has them. */
const keys = /* @__PURE__ */ hmacKeys(decoded);

/** A MAC as the one text that an encoder makes: see `shape` in verify-url.ts. */
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
 * An id with a full stop is refused: it could take a part of the next field into itself.
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
  const head = `${id}.${timestamp}.`;
  if (!/^[^.]+\.\d+\.$/.test(head) || !signatures) throw new RefusedException("no_signature");
  const macs = signatures.split(" ", mostMacs).flatMap((one) => {
    const mac = signature.exec(one)?.[1];
    return mac ? [decoded(mac)] : [];
  });
  await verifyClaim({ head, seconds: Number(timestamp), macs }, body, (mac, data) =>
    isMacOf(secrets, mac, data, keys),
  );
};
