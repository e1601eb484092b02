import { decoded } from "../../bytes/base64.ts";
import { bytesOf } from "../url/token.ts";
import { isMadeBy } from "./mac.ts";
import { RefusedException } from "./refused.ts";

/** A MAC as the one text that an encoder makes: see `shape` in verify-url.ts. */
const signature = /^v1,([A-Za-z\d+/]{42}[AEIMQUYcgkosw048])=$/;

/** How many signatures are looked at, as each costs a MAC over the body. A rotation needs two. */
const most = 8;

/** How far the time of a message may be off, in seconds. */
const tolerance = 300;

/** Base64 of 16 bytes or more, with or without `whsec_` before it. */
const secretShape =
  /^(?:whsec_)?((?:[A-Za-z\d+/]{4}){5,}(?:[A-Za-z\d+/]{2}==|[A-Za-z\d+/]{3}=|[A-Za-z\d+/]{4}))$/;

/** The bytes of the secrets, or none when one of them isn't one. */
export const webhookSecretsOf = (secret: unknown): readonly Uint8Array<ArrayBuffer>[] => {
  const found = [secret].flat().map((one) => secretShape.exec(String(one))?.[1] ?? "");
  return found.includes("") ? [] : found.map(decoded);
};

/**
 * Checks the Standard Webhooks signature of a request over its raw body.
 *
 * An id with a full stop is refused: it could take a part of the next field into itself.
 *
 * @throws {RefusedException} `no_signature`, `wrong_signature` or `expired_signature`
 * @see the Standard Webhooks specification, "Verifying webhook authenticity"
 */
export const verifyWebhook = async (
  { headers }: Request,
  body: Uint8Array,
  secrets: readonly Uint8Array<ArrayBuffer>[],
): Promise<void> => {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(
    (name) => headers.get(`webhook-${name}`) ?? "",
  );
  const start = `${id}.${timestamp}.`;
  if (!/^[^.]+\.\d+\.$/.test(start) || !signatures) throw new RefusedException("no_signature");
  const head = bytesOf(start);
  const content = new Uint8Array(head.length + body.length);
  content.set(head);
  content.set(body, head.length);
  for (const one of signatures.split(" ", most)) {
    const mac = signature.exec(one)?.[1];
    if (mac && (await isMadeBy(secrets, mac, content))) {
      if (Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance) return;
      throw new RefusedException("expired_signature");
    }
  }
  throw new RefusedException("wrong_signature");
};
