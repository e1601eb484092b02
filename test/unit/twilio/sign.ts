import { createHmac } from "node:crypto";
import { signedFields, signedText } from "../../../src/carriers/twilio/signature.ts";

/** The auth token of the tests. */
export const authToken = "0123456789abcdef0123456789abcdef";

/** The signature of a form for a URL, by Node's own HMAC. */
export const signatureOf = (url: string, form = "", token: string = authToken): string =>
  createHmac("sha1", token)
    .update(signedText(url, signedFields(form)))
    .digest("base64");

/** A request of Twilio's to a URL, signed for that URL or another. */
export const signed = (
  url: string,
  fields: Record<string, string> | string[][] = {},
  signedUrl: string = url,
  token: string = authToken,
): Request => {
  const body = new URLSearchParams(fields).toString();
  const headers = {
    "Content-Type": "application/x-www-form-urlencoded; charset=utf-8",
    "X-Twilio-Signature": signatureOf(signedUrl, body, token),
  };
  return new Request(url, { method: "POST", headers, body });
};
