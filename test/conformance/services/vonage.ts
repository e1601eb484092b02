import { assert } from "chai";
import { createEmulator } from "outdial/emulator";
import { vonage } from "outdial/vonage";
import { apiKey } from "../fixtures.ts";
import { type Carrier, type Fields, isRecord } from "./carrier.ts";
import { mediaCases } from "./vonage-media.ts";
import { applicationId, requests } from "./vonage-requests.ts";

/** The text that base64url has. */
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
    each.charCodeAt(0),
  );

const algorithm = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** The public key of a private one. */
const publicKeyOf = async (pem: string): Promise<CryptoKey> => {
  const der = bytesOf(pem.replace(/-----[A-Z ]+-----|\s/g, ""));
  const key = await crypto.subtle.importKey("pkcs8", der, algorithm, true, ["sign"]);
  const { kty, n, e } = await crypto.subtle.exportKey("jwk", key);
  const jwk = { kty, n, e } as JsonWebKey;
  return crypto.subtle.importKey("jwk", jwk, algorithm, true, ["verify"]);
};

/** A token of an application, which no exception may show. */
const token = /[\w-]{20,}\.[\w-]{40,}\.[\w-]{40,}/;

/** Vonage, as https://developer.vonage.com/en/api/voice and .../api-errors have it. */
export const carrier = (): Carrier => {
  const service = { name: "vonage", account: applicationId } as const;
  // The two published keys of emulated applications.
  const emulator = createEmulator({ service });
  const pems = [emulator.apiKey, emulator.regenerateKey()];
  const known = new Map([[apiKey, pems[0] ?? ""]]);
  const keyFor = (key: string): string => {
    if (!/^ak_[\w-]+$/.test(key)) return key;
    const pem = known.get(key) ?? pems[known.size % pems.length] ?? "";
    known.set(key, pem);
    return pem;
  };
  const lines = pems.flatMap((pem) => pem.split("\n").filter((line) => line.length > 20));
  return {
    name: "vonage",
    service: vonage({ applicationId }),
    // 405, 408, 409, 410, 422 and 5xx are not documented for this path.
    placedNothing: [400, 401, 403, 404, 429],
    path: "/v1/calls",
    contentType: "application/json",
    readCall: (body) => {
      const { to, from, answer_url, event_url, ...rest } = JSON.parse(body);
      assert.deepEqual(rest, { answer_method: "POST", event_method: "POST" });
      const number = (each: Fields) => `+${each.number}`;
      return {
        from_number: number(from),
        to_number: number(to[0]),
        flow_url: answer_url[0],
        status_callback_url: event_url[0],
      };
    },
    assertToken: async (given, key) => {
      const [head = "", claims = "", signature = ""] = given.split(".");
      const text = (part: string) => JSON.parse(new TextDecoder().decode(bytesOf(part)));
      assert.deepEqual(text(head), { alg: "RS256", typ: "JWT" });
      const { application_id, iat, exp } = text(claims);
      assert.equal(application_id, applicationId);
      assert.equal(exp - iat, 900);
      const publicKey = await publicKeyOf(keyFor(key));
      const signed = new TextEncoder().encode(`${head}.${claims}`);
      assert.isTrue(
        await crypto.subtle.verify(algorithm, publicKey, bytesOf(signature), signed),
        "the token is not the key's",
      );
    },
    idField: (digit) => `"uuid":"c${digit}"`,
    requestIdHeader: "x-nexmo-trace-id",
    keyFor,
    hasOwnKeys: true,
    // The key itself never leaves: what a service can repeat is the token.
    echoedKey: "{token}",
    showsKey: (text) => token.test(text) || lines.some((line) => text.includes(line)),
    bodyFor: ({ data, id, detail, message, errors, ...rest }) => {
      const call = isRecord(data) ? data : {};
      const uuid = call.id ?? id;
      const fields = Array.isArray(errors) ? errors : Array.isArray(detail) ? detail : undefined;
      return {
        ...rest,
        ...call,
        ...(uuid !== undefined && { uuid }),
        ...(typeof detail === "string" ? { detail } : message !== undefined && { title: message }),
        ...(fields && {
          invalid_parameters: fields.map((each) =>
            isRecord(each)
              ? { name: JSON.stringify(each.loc), reason: each.msg, type: each.type }
              : each,
          ),
        }),
      };
    },
    unlike: {
      "a text that repeats most of a token is left out": [
        "what the service said is kept, but for the secrets in it",
      ],
      "what is answered or thrown names a key that is none of Vonage's": [
        "after another key was tried, neither of the two is in the exception",
        "an exception of this package that a fetch throws says nothing of this call",
      ],
    },
    cases: [...requests, ...mediaCases],
  };
};
