import { parse } from "node:querystring";
import fc from "fast-check";
import {
  getExpectedTwilioSignature,
  validateRequest,
  validateRequestWithBody,
} from "twilio/lib/webhooks/webhooks.js";
import { describe, expect, test, vi } from "vitest";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { signedFields, signedText, verifySignature } from "../../src/carriers/twilio/signature.ts";
import { authToken, signatureOf } from "../unit/twilio/sign.ts";

interface Message {
  readonly url: string;
  readonly body?: string;
  readonly signature?: string;
  readonly tokens?: readonly string[];
  readonly publicUrl?: string;
  readonly header?: string;
}

/** Why a message is refused; `undefined` for one that is accepted. */
const reasonOf = async ({
  url,
  body = "",
  signature,
  tokens = [authToken],
  publicUrl,
  header = "X-Twilio-Signature",
}: Message): Promise<string | undefined> => {
  const headers = signature === undefined ? {} : { [header]: signature };
  const request = new Request(url, { method: "POST", headers });
  const bytes = new TextEncoder().encode(body);
  return (await verifySignature(tokens, request, bytes, publicUrl))?.[0];
};

const docsUrl = "https://example.com/myapp.php?foo=1&bar=2";
const specUrl = "https://mycompany.com/myapp.php?foo=1&bar=2";
const specHash = "0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620";

/** What Twilio's documentation and the tests of its client publish, for the token `12345`. */
const vectors: readonly (readonly [
  source: string,
  url: string,
  body: string,
  signature: string,
])[] = [
  [
    "docs usage/security",
    docsUrl,
    "CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212",
    "L/OH5YylLD5NRKLltdqwSvS0BnU=",
  ],
  [
    "twilio-node: default",
    specUrl,
    "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
    "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
  ],
  [
    "twilio-node: array",
    specUrl,
    "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234",
    "IK+Dwps556ElfBT0I3Rgjkr1wJU=",
  ],
  [
    "twilio-node: bodySHA256",
    `${specUrl}&bodySHA256=${specHash}`,
    '{"property": "value", "boolean": true}',
    "a9nBmqA0ju/hNViExpshrM61xv4=",
  ],
];

const token = "12345";

describe("the published vectors", () => {
  test.each(vectors)(
    "%s: accepted, and by Twilio's own client",
    async (_, url, body, signature) => {
      expect(await reasonOf({ url, body, signature, tokens: [token] })).toBeUndefined();
      expect(signatureOf(url, body, token)).toBe(signature);
      expect(
        url.includes("bodySHA256")
          ? validateRequestWithBody(token, signature, url, body)
          : validateRequest(token, signature, url, parse(body)),
      ).toBe(true);
    },
  );

  test.each(vectors)("%s: refused with any character changed", async (_, url, body, signature) => {
    for (let at = 0; at < signature.length - 1; at++) {
      const other = signature[at] === "A" ? "B" : "A";
      const changed = signature.slice(0, at) + other + signature.slice(at + 1);
      expect(await reasonOf({ url, body, signature: changed, tokens: [token] })).toBe(
        "wrong_signature",
      );
    }
  });
});

const [, , docsBody = "", docsSignature = ""] = vectors[0] ?? [];
const docs = { url: docsUrl, body: docsBody, signature: docsSignature, tokens: [token] };

test.each<[string, Partial<Message>]>([
  ["a path with a / more", { url: docsUrl.replace("php?", "php/?") }],
  ["another order of the query", { url: "https://example.com/myapp.php?bar=2&foo=1" }],
  ["http for https", { url: docsUrl.replace("https", "http") }],
  ["another host", { url: docsUrl.replace("example.com", "www.example.com") }],
  ["a parameter more", { url: `${docsUrl}&baz=3` }],
  ["a field more", { body: `${docsBody}&Extra=1` }],
  ["a field less", { body: docsBody.replace("Digits=1234&", "") }],
  ["another value", { body: docsBody.replace("1234&", "1235&") }],
  ["a value with a space more", { body: docsBody.replace("1234&", "1234+&") }],
  ["no fields", { body: "" }],
  ["another token", { tokens: ["12346"] }],
  ["no token at all", { tokens: [] }],
  ["two signatures", { signature: `${docsSignature}, ${docsSignature}` }],
  ["no padding", { signature: docsSignature.slice(0, -1) }],
  ["base64url", { signature: docsSignature.replaceAll("/", "_") }],
  ["other unused bits", { signature: docsSignature.replace("nU=", "nV=") }],
])("%s is refused", async (_, change) => {
  expect(await reasonOf(docs)).toBeUndefined();
  expect(await reasonOf({ ...docs, ...change })).toBe("wrong_signature");
});

test("without the header, or with an empty one, the answer asks Twilio to deliver again", async () => {
  for (const signature of [undefined, ""]) {
    const headers = signature === undefined ? {} : { "X-Twilio-Signature": signature };
    const request = new Request(docsUrl, { method: "POST", headers });
    const refused = await verifySignature([token], request, new Uint8Array());
    expect(refused).toEqual(["no_signature", [503, "X-Twilio-Signature is missing."]]);
  }
});

test("the header's name has any case", async () => {
  for (const header of ["x-twilio-signature", "X-TWILIO-SIGNATURE"]) {
    expect(await reasonOf({ ...docs, header })).toBeUndefined();
  }
});

test("every one of several tokens is accepted, while one replaces another", async () => {
  expect(await reasonOf({ ...docs, tokens: ["other", token] })).toBeUndefined();
  expect(await reasonOf({ ...docs, tokens: [token, "other"] })).toBeUndefined();
});

test.each([
  ["https://app.test/a", "https://app.test/a", true],
  ["https://app.test:443/a", "https://app.test/a", true],
  ["https://app.test/a", "https://app.test:443/a", true],
  ["https://app.test/a", "https://app.test:8443/a", true],
  ["https://app.test:8443/a", "https://app.test:8443/a", true],
  ["https://app.test:8443/a", "https://app.test/a", false],
  ["https://app.test:8443/a", "https://app.test:8444/a", false],
  ["http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a", true],
  ["http://127.0.0.1:80/a", "http://127.0.0.1/a", true],
  ["https://app.test/a?q='", "https://app.test/a?q='", true],
  ["https://app.test/a?q=%27", "https://app.test/a?q='", true],
  ["https://app.test/a", "https://app.test/a#rc=5&rp=ct,rt,5xx", true],
])("signed for %s, received at %s", async (signedUrl, url, isAccepted) => {
  const signature = signatureOf(signedUrl, "A=1");
  const reason = await reasonOf({ url, body: "A=1", signature });
  expect(reason).toBe(isAccepted ? undefined : "wrong_signature");
});

test("a fragment is not signed, and neither is it in the URL that signUrl signs", async () => {
  const secret = "a secret that was made at random";
  const url = await signUrl("https://app.test/status#rc=5&rp=ct,rt,5xx", { secret });
  expect(url).toMatch(/^https:\/\/app\.test\/status\?outdial=[^#]+#rc=5&rp=ct,rt,5xx$/);
  const [sent = ""] = url.split("#");
  expect(signatureOf(url, "A=1")).toBe(signatureOf(sent, "A=1"));
  const signature = signatureOf(sent, "A=1");
  for (const seen of [url, sent]) {
    expect(await reasonOf({ url: seen, body: "A=1", signature })).toBeUndefined();
  }
});

describe("behind a proxy", () => {
  const url = "http://10.0.0.7:8080/status?outdial=1.e30.x";
  const publicUrl = "https://app.test/voice/status";
  const signature = signatureOf(`${publicUrl}?outdial=1.e30.x`, "A=1");

  test("publicUrl gives the origin and the path, and the request the query", async () => {
    const message = { url, body: "A=1", signature };
    expect(await reasonOf(message)).toBe("wrong_signature");
    for (const known of [publicUrl, `${publicUrl}?ignored=1#too`]) {
      expect(await reasonOf({ ...message, publicUrl: known })).toBeUndefined();
    }
    for (const other of [
      "https://app.test",
      "https://app.test/voice",
      "http://app.test/voice/status",
    ])
      expect(await reasonOf({ ...message, publicUrl: other })).toBe("wrong_signature");
  });
});

describe("bodySHA256", () => {
  const url = `${specUrl}&bodySHA256=${specHash}`;
  const body = '{"property": "value", "boolean": true}';

  test("a body with another hash is refused, and so is a hash in another parameter", async () => {
    const signature = signatureOf(url);
    expect(await reasonOf({ url, body, signature })).toBeUndefined();
    expect(await reasonOf({ url, body: `${body} `, signature })).toBe("wrong_signature");
    const other = url.replace("bodySHA256", "body256");
    expect(await reasonOf({ url: other, body, signature: signatureOf(other) })).toBe(
      "wrong_signature",
    );
  });
});

const nameOrValue = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.string({ unit: fc.constantFrom(..."aAbB01 +&=%'\"<ãé€😀"), maxLength: 8 }),
);

/** Fields, of which some are repeated. */
const fields = fc.array(fc.tuple(nameOrValue, nameOrValue), { maxLength: 8 });

const piece = (more: string) =>
  fc
    .array(fc.constantFrom(..."abcXYZ019-_~!$()*,;:@", "%C3%A9", "%20", "%2F", "%25", ...more), {
      maxLength: 12,
    })
    .map((parts) => parts.join(""));

/** URLs as a client sends them: a request's own `url` has the same spelling. */
const urls = fc
  .record({
    scheme: fc.constantFrom("https", "http"),
    host: fc.constantFrom(
      "app.test",
      "www.example.co.uk",
      "127.0.0.1",
      "xn--bcher-kva.test",
      "[::1]",
    ),
    port: fc.constantFrom("", "", ":8443", ":8080"),
    path: fc.array(piece(""), { maxLength: 4 }),
    query: fc.oneof(
      fc.constant(""),
      piece("&=+'/?").map((text) => `?q${text}`),
    ),
  })
  .map(
    ({ scheme, host, port, path, query }) => `${scheme}://${host}${port}/${path.join("/")}${query}`,
  );

/** The fields as an application of the npm client has them. */
const paramsOf = (pairs: readonly (readonly [string, string])[]) => {
  const params: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of pairs) {
    const [first] = [params[name]].flat();
    params[name] = first === undefined ? value : [params[name] ?? [], value].flat();
  }
  return params;
};

const wellFormed = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([name, value]): [string, string] => [name.toWellFormed(), value.toWellFormed()]);

test("a form of more fields than Twilio ever sends is refused, signed or not", async () => {
  const formOf = (fields: number) =>
    Array.from({ length: fields }, (_, at) => `F${at}=1`).join("&");
  for (const [fields, reason] of [
    [500, undefined],
    [501, "wrong_signature"],
  ] as const) {
    const body = formOf(fields);
    const signature = signatureOf(docsUrl, body);
    expect(await reasonOf({ url: docsUrl, body, signature })).toBe(reason);
  }
});

test("a form with a wrong signature is parsed once, however its URL may have been spelled", async () => {
  const parsed = vi.fn();
  class Counted extends URLSearchParams {
    constructor(init?: string) {
      super(init);
      parsed(init);
    }
  }
  vi.stubGlobal("URLSearchParams", Counted);
  const body = "From=%2B1&To=%2B2";
  const signature = signatureOf("https://elsewhere.test/", body);
  parsed.mockClear();
  expect(await reasonOf({ url: "https://app.test/?q='", body, signature })).toBe("wrong_signature");
  expect(parsed.mock.calls.filter(([given]) => given === body)).toHaveLength(1);
  vi.unstubAllGlobals();
});

describe("any URL and fields", () => {
  test("what Twilio's client signs is accepted, with and without the port", () =>
    fc.assert(
      fc.asyncProperty(urls, fields, async (url, pairs) => {
        const given = wellFormed(pairs);
        const body = new URLSearchParams(given).toString();
        const signature = getExpectedTwilioSignature(authToken, url, paramsOf(given));
        expect(await reasonOf({ url, body, signature })).toBeUndefined();
        expect(await reasonOf({ url, body, signature, tokens: ["another"] })).toBe(
          "wrong_signature",
        );
        const withoutPort = getExpectedTwilioSignature(
          authToken,
          url.replace(/:8\d+(?=\/)/, ""),
          paramsOf(given),
        );
        expect(await reasonOf({ url, body, signature: withoutPort })).toBeUndefined();
      }),
    ));

  test("what the signer of these tests signs is accepted by Twilio's client", () =>
    fc.assert(
      fc.property(urls, fields, (url, pairs) => {
        const given = wellFormed(pairs);
        const signature = signatureOf(url, new URLSearchParams(given).toString());
        expect(validateRequest(authToken, signature, url, paramsOf(given))).toBe(true);
      }),
    ));

  test("names that run into their values are reported apart", () => {
    expect(signedText("https://a/", signedFields("a=bc&ab=c"))).toBe("https://a/abcabc");
    expect(signedText("https://a/", signedFields("ab=c&a=z&a=b&a=z"))).toBe("https://a/abazabc");
  });
});
