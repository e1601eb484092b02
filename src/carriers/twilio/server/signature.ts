import { hmac } from "@noble/hashes/hmac.js";
import { sha1 } from "@noble/hashes/legacy.js";
import { base64, utf8 } from "../../../lib/encoding.ts";
import type { Fields } from "../../xml/server/requests.ts";

/** The URL that is signed: without its fragment, and with https without its port too. */
const signedUrl = (url: string): string => {
  const signed = new URL(url);
  signed.hash = "";
  if (signed.protocol === "https:") signed.port = "";
  return signed.href;
};

/**
 * The signature of a request, as Twilio makes it: HMAC-SHA1 of the URL, and of each name and value of a form, by name.
 *
 * @param token - the account's auth token
 * @param fields - the form in the body; empty for a GET and for a handshake
 */
export const signatureOf = (token: string, url: string, fields: Fields): string => {
  const names = Object.keys(fields).sort();
  const form = names.map((name) => name + (fields[name] ?? "")).join("");
  return base64(hmac(sha1, utf8(token), utf8(signedUrl(url) + form)));
};
