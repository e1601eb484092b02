import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { create } from "../../src/calls/index.ts";
import { type VonageOptions, vonage } from "../../src/vonage/index.ts";
import { pem, pkcs1, publicKey } from "../unit/vonage/keys.ts";
import { applicationId } from "../unit/vonage/service.ts";

/** What the server received: the request line, the credentials and the body. */
interface Received {
  readonly line: string;
  readonly authorization: string;
  readonly type: string | undefined;
  readonly body: string;
}
const received: Received[] = [];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { authorization = "", "content-type": type } = request.headers;
  const line = `${request.method} ${request.url}`;
  received.push({ line, authorization, type, body: Buffer.concat(chunks).toString() });
  response.writeHead(201, { "content-type": "application/json" });
  response.end('{"uuid":"63f61863-4a51-4f6b-86e1-46edebcf9356","status":"started"}');
});
let baseUrl = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close().closeAllConnections());
beforeEach(() => {
  received.length = 0;
});

const base = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
type More = Pick<VonageOptions, "machineDetection" | "ringTimeout" | "timeLimit">;

/** Vonage's own client, which asks for the same call. */
const theirs = async (params: typeof base, options: More = {}, privateKey = pem) => {
  const { ringTimeout, timeLimit, machineDetection } = options;
  const voice = new Voice(new Auth({ applicationId, privateKey }), { apiHost: baseUrl });
  const call = {
    to: [{ type: "phone" as const, number: params.to_number.slice(1) }],
    from: { type: "phone" as const, number: params.from_number.slice(1) },
    answerUrl: [params.flow_url],
    answerMethod: "POST",
    eventUrl: [params.status_callback_url],
    eventMethod: "POST",
    ...(ringTimeout && { ringingTimer: ringTimeout / 1000 }),
    ...(timeLimit && { lengthTimer: timeLimit / 1000 }),
    ...(machineDetection && { machineDetection }),
  };
  return voice.createOutboundCall(call as never);
};

const ours = (params: typeof base, options: More = {}, apiKey = pem) =>
  create(params, { apiKey, service: vonage({ applicationId, ...options }), baseUrl });

/** A request without its credentials, whose token differs each time. */
const plain = ({ authorization: _, ...rest }: Received) => rest;

test.each<[string, Partial<typeof base>, More]>([
  ["the fields that are required", {}, {}],
  ["every option", {}, { machineDetection: "continue", ringTimeout: 20_000, timeLimit: 60_000 }],
  ["URLs that need escapes", { flow_url: "https://app.test/a%20b/*~'()!?x=%2B+&y=ü📞" }, {}],
])("byte for byte as Vonage's own client: %s", async (_, more, options) => {
  const params = { ...base, ...more };
  const call = await ours(params, options);
  const their = await theirs(params, options);
  expect(call.id).toBe(their.uuid);
  expect(received).toHaveLength(2);
  expect(received.map(plain)[0]).toEqual(received.map(plain)[1]);
});

test("byte for byte as Vonage's own client: any URL", async () => {
  const url = fc.webUrl({ validSchemes: ["https"], withQueryParameters: true });
  await fc.assert(
    fc.asyncProperty(url, url, async (flow_url, status_callback_url) => {
      received.length = 0;
      const params = { ...base, flow_url, status_callback_url };
      await ours(params);
      await theirs(params);
      expect(received.map(plain)[0]).toEqual(received.map(plain)[1]);
    }),
    { numRuns: 50 },
  );
});

/** The header of a token, or its claims. */
const partOf = (token: string, at: 0 | 1) => JSON.parse(atob(token.split(".")[at] ?? ""));

test.each([
  ["PKCS#8", pem],
  ["PKCS#1", pkcs1],
])(
  "the token of a %s key is what Vonage's own verifier accepts, with the claims of its own client",
  async (_, key) => {
    await ours(base, {}, key);
    await theirs(base, {}, key);
    const tokens = received.map(({ authorization }) => authorization.replace(/^Bearer /, ""));
    expect(new Set(tokens).size).toBe(2);
    const spki = String(publicKey.export({ type: "spki", format: "pem" }));
    const claims = tokens.map((token) => {
      expect(verifySignature(token, spki)).toBe(true);
      const { iat, exp, jti, ...rest } = partOf(token, 1);
      expect(jti).toMatch(/^[\da-f-]{36}$/);
      return { ...rest, lasts: Number(exp) - Number(iat) };
    });
    expect(claims[0]).toEqual(claims[1]);
    const heads = tokens.map((token) => partOf(token, 0));
    expect(heads[0]).toEqual(heads[1]);
  },
);
