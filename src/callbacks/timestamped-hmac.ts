import { custom, optional, picklist, strictObject } from "valibot";
import { check, presence } from "../lib/check.ts";
import { decoded, decodedHex } from "../lib/encoding.ts";
import { isMacOf } from "../lib/hmac.ts";
import { RefusedException } from "./errors.ts";
import { type Secret, secretRule, secretsOf } from "./signed-url.ts";
import { mostMacs, verifySignatures } from "./standard-webhooks.ts";
import type { Checks } from "./verify.ts";

/** How a service signs its notifications, as its documentation describes it. */
export interface TimestampedHmac {
  /** Of the service, taken as its UTF-8: at least 16 characters, or a list of those to accept. */
  readonly secret: Secret;
  /** The header with the time of signing: seconds since 1970 (10 digits), or milliseconds (13). */
  readonly timestampHeader: string;
  /** The header with the signature, or several of them, with commas or spaces between. */
  readonly signatureHeader: string;
  /**
   * How the 32 bytes of a signature are written.
   *
   * @defaultValue `"hex"`, in either case; `"base64"` is the padded one
   */
  readonly encoding?: "hex" | "base64" | undefined;
  /**
   * What stands before each signature, such as `sha256=` or `v1=`. Those with another one don't count.
   *
   * @defaultValue nothing
   */
  readonly prefix?: string | undefined;
}

/** How a MAC looks, in the one text that an encoder makes, and what its bytes are. */
const encodings = {
  hex: { shape: /^[\da-f]{64}$/i, bytes: decodedHex },
  base64: { shape: /^[A-Za-z\d+/]{42}[AEIMQUYcgkosw048]=$/, bytes: decoded },
} as const;

const headerName = custom<string>(
  (value) => typeof value === "string" && /^[\w!#$%&'*+.^`|~-]+$/.test(value),
  "must be the name of a header",
);

const HmacOptions = strictObject(
  {
    secret: custom<Secret>((value) => !!secretsOf(value).length, secretRule),
    timestampHeader: headerName,
    signatureHeader: headerName,
    encoding: optional(picklist(["hex", "base64"], "must be hex or base64"), "hex"),
    prefix: optional(
      custom<string>(
        (value) => typeof value === "string" && /^[!-+\--~]*$/.test(value),
        "must be text without spaces or commas",
      ),
      "",
    ),
  },
  presence,
);

/** Seconds, out of 10 digits of them or 13 of milliseconds: the year 2001 to 2286, in either. */
const secondsOf = (timestamp: string): number | undefined =>
  /^\d{10}(\d{3})?$/.test(timestamp)
    ? Number(timestamp) / (timestamp.length > 10 ? 1000 : 1)
    : undefined;

/**
 * The `verify` of `receive`, `callbackHandler` and `flowHandler` for a service that signs
 * `{timestamp}.{body}` by HMAC-SHA256, in headers of its own. A message is good for 5 minutes, before
 * and after its time.
 *
 * @param options - how the service signs
 * @returns a function for `verify`: it refuses with `no_signature`, `wrong_signature` or
 * `expired_signature`
 * @throws {BadParametersException} (`placed: "no"`) at once, when an option breaks its rule
 *
 * @example Receive the notifications of a service that signs in its own headers
 * ```ts
 * import { callbackHandler, timestampedHmac } from "outdial/callbacks";
 *
 * const secret = crypto.randomUUID(); // In production: the one that the service shows.
 * const handler = callbackHandler({
 *   verify: timestampedHmac({
 *     secret,
 *     timestampHeader: "x-service-timestamp",
 *     signatureHeader: "x-service-signature",
 *   }),
 *   onEvent: ({ event }) => console.log(event.type),
 *   onError: (error) => console.log(String(error)), // RefusedException: no_signature: The signature headers are missing or incomplete.
 * });
 *
 * const unsigned = new Request("https://app.test/status", { method: "POST", body: "{}" });
 * console.log((await handler(unsigned)).status); // 401
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc2104 for HMAC
 */
export const timestampedHmac = (options: TimestampedHmac): NonNullable<Checks["verify"]> => {
  const { secret, timestampHeader, signatureHeader, encoding, prefix } = check(
    HmacOptions,
    () => options,
  );
  const { shape, bytes } = encodings[encoding];
  const secrets = secretsOf(secret);
  return async ({ headers }, body) => {
    const timestamp = headers.get(timestampHeader) ?? "";
    const signatures = headers.get(signatureHeader);
    const seconds = secondsOf(timestamp);
    if (seconds === undefined || !signatures) throw new RefusedException("no_signature");
    const macs = signatures.split(/[, ]+/, mostMacs).flatMap((one) => {
      const mac = one.startsWith(prefix) ? one.slice(prefix.length) : "";
      return shape.test(mac) ? [bytes(mac)] : [];
    });
    await verifySignatures({ prefix: `${timestamp}.`, seconds, macs }, body, (mac, data) =>
      isMacOf(secrets, mac, data),
    );
    return true;
  };
};
