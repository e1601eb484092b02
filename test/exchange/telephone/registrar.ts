import { createHash } from "node:crypto";
import { header, type SipHeader, type SipMessage, writeSip } from "./sip.ts";

/** Who may register at a trunk. */
export interface Credentials {
  readonly user: string;
  readonly password: string;
}

const realm = "trunk";
const nonce = "0123456789abcdef";

const md5 = (...parts: readonly string[]): string =>
  createHash("md5").update(parts.join(":")).digest("hex");

/** Whether a request has the digest of the credentials (RFC 2617). */
const isAuthorized = (message: SipMessage, { user, password }: Credentials): boolean => {
  const fields = Object.fromEntries(
    [...header(message, "authorization").matchAll(/(\w+)="?([^",]*)"?/g)].map(
      ([, name = "", value = ""]) => [name, value],
    ),
  );
  const [method = ""] = message.first.split(" ");
  const { uri = "", nc = "", cnonce = "", qop = "", response } = fields;
  const asked = md5(method, uri);
  const known = md5(user, realm, password);
  const expected = qop ? md5(known, nonce, nc, cnonce, qop, asked) : md5(known, nonce, asked);
  return fields.username === user && response === expected;
};

/** The response of a trunk to a request outside of calls; `undefined` for one that it doesn't answer. */
export const answerOf = (
  message: SipMessage,
  credentials: Credentials | undefined,
): string | undefined => {
  const [method = ""] = message.first.split(" ");
  if (method !== "OPTIONS" && method !== "REGISTER") return;
  const respond = (status: string, more: readonly SipHeader[] = []) =>
    writeSip(`SIP/2.0 ${status}`, [
      ...(message.headers.via ?? []).map((value): SipHeader => ["Via", value]),
      ["From", header(message, "from")],
      ["To", `${header(message, "to")};tag=registrar`],
      ["Call-ID", header(message, "call-id")],
      ["CSeq", header(message, "cseq")],
      ...more,
    ]);
  if (method === "OPTIONS" || !credentials) return respond("200 OK");
  if (!message.headers.authorization) {
    const challenge = `Digest realm="${realm}", nonce="${nonce}", algorithm=MD5, qop="auth"`;
    return respond("401 Unauthorized", [["WWW-Authenticate", challenge]]);
  }
  if (!isAuthorized(message, credentials)) return respond("403 Forbidden");
  return respond("200 OK", [
    ["Contact", `${header(message, "contact")};expires=300`],
    ["Expires", "300"],
  ]);
};
