import type { SignatureRefusal } from "../../flows/webhooks.ts";
import { decoded, utf8 } from "../../lib/encoding.ts";
import { hmacKeys, isMacOf, sha256 } from "../../lib/hmac.ts";

/** How many fields a form may have: Twilio's have about 40. */
const maxFields = 500;

/** The fields of a form, as they are signed: sorted by name; of a field's values each one once, sorted. */
export const signedFields = (form: string): string => {
  const fields = new Map<string, Set<string>>();
  for (const [name, value] of new URLSearchParams(form)) {
    fields.set(name, (fields.get(name) ?? new Set()).add(value));
  }
  return [...fields]
    .sort(([first], [second]) => (first < second ? -1 : 1))
    .flatMap(([name, values]) => [...values].sort().map((value) => name + value))
    .join("");
};

/**
 * The text that Twilio signs: the URL with its query and without a fragment, then the fields of a form. A URL with
 * `bodySHA256` has the hash of another body, and is signed alone.
 *
 * @param fields - of `signedFields`
 * @see https://www.twilio.com/docs/usage/security#validating-requests
 */
export const signedText = (url: string, fields: string): string => {
  const [address = ""] = url.split("#");
  return new URL(address).searchParams.has("bodySHA256") ? address : address + fields;
};

/**
 * The spellings of a URL that Twilio may have signed: with a port and without one, and with the quote that the URL
 * standard escapes in a query.
 */
const spellings = ({ protocol, hostname, port, pathname, search }: URL): readonly string[] => {
  const given = port || (protocol === "https:" ? "443" : "80");
  return [hostname, `${hostname}:${given}`].flatMap((host) =>
    [search, search.replaceAll("%27", "'")].map(
      (query) => `${protocol}//${host}${pathname}${query}`,
    ),
  );
};

/** Keys of the scheme, which is older than SHA-256. */
const keys = hmacKeys(utf8, "SHA-1");

/** 20 bytes in the one text that an encoder makes of them. */
const signatureShape = /^[A-Za-z\d+/]{26}[AEIMQUYcgkosw048]=$/;

/** Twilio delivers again after a 5xx: a header may have been lost on the way. */
const missing: SignatureRefusal = ["no_signature", [503, "X-Twilio-Signature is missing."]];

const wrong: SignatureRefusal = [
  "wrong_signature",
  [
    401,
    "X-Twilio-Signature was made for another URL or body, or with another auth token. Behind a proxy, set publicUrl.",
  ],
];

/**
 * Verifies `X-Twilio-Signature`.
 *
 * @param tokens - the auth tokens that may have signed
 * @param publicUrl - where Twilio sent the request, if a proxy has changed the URL: only the query is the request's
 * @returns why the request is refused
 */
export const verifySignature = async (
  tokens: readonly string[],
  { headers, url }: Request,
  body: Uint8Array,
  publicUrl: string = url,
): Promise<SignatureRefusal | undefined> => {
  const signature = headers.get("x-twilio-signature");
  if (!signature) return missing;
  if (!signatureShape.test(signature)) return wrong;
  const signed = new URL(publicUrl);
  signed.search = new URL(url).search;
  const hash = signed.searchParams.get("bodySHA256");
  if (hash !== null && hash !== (await sha256(body))) return wrong;
  const form = new TextDecoder().decode(body);
  // Each field costs, before anything is known of the sender.
  if (form.split("&").length > maxFields) return wrong;
  const fields = signedFields(form);
  for (const spelling of new Set(spellings(signed))) {
    const text = utf8(signedText(spelling, fields));
    if (await isMacOf(tokens, decoded(signature), text, keys)) return;
  }
  return wrong;
};
