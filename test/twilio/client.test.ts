import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import twilioClient from "twilio";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { create } from "../../src/calls/index.ts";
import type { ServiceException } from "../../src/errors.ts";
import { type TwilioOptions, twilio } from "../../src/twilio/index.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const apiKeySid = "SK0123456789abcdef0123456789abcdef";
const secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";

/** What the server sends, and what it received: the request line, the headers and the body. */
const answer = { status: 201, text: "" };
interface Received {
  readonly line: string;
  readonly authorization: string | undefined;
  readonly type: string | undefined;
  readonly body: string;
}
const received: Received[] = [];

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { authorization, "content-type": type } = request.headers;
  const line = `${request.method} ${request.url}`;
  received.push({ line, authorization, type, body: Buffer.concat(chunks).toString() });
  response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.text);
});
// A server that closes an idle connection may lose the POST that is on its way.
server.keepAliveTimeout = 0;
let baseUrl = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close().closeAllConnections());
beforeEach(() => {
  received.length = 0;
  answer.status = 201;
  answer.text = JSON.stringify({ sid: "CA0123456789abcdef0123456789abcdef", status: "queued" });
});

const base = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
type Params = typeof base & { readonly record?: boolean };

/** Twilio's own client, which asks for the same call. */
const theirs = async (params: Params, options: Partial<TwilioOptions> = {}) => {
  const { apiKeySid: user = accountSid, ringTimeout, timeLimit, machineDetection } = options;
  const client = twilioClient(user, secret, { accountSid });
  client.api.baseUrl = baseUrl;
  return client.calls.create({
    to: params.to_number,
    from: params.from_number,
    url: params.flow_url,
    method: "POST",
    statusCallback: `${params.status_callback_url}#rc=5&rp=ct,rt,5xx`,
    statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
    statusCallbackMethod: "POST",
    ...(params.record !== undefined && { record: params.record }),
    ...(machineDetection && { machineDetection }),
    ...(ringTimeout && { timeout: ringTimeout / 1000 }),
    ...(timeLimit && { timeLimit: timeLimit / 1000 }),
  });
};

const ours = (params: Params, options: Partial<TwilioOptions> = {}) =>
  create(params, { apiKey: secret, service: twilio({ accountSid, ...options }), baseUrl });

test.each<[string, Partial<Params>, Partial<TwilioOptions>]>([
  ["the fields that are required", {}, {}],
  ["a recording", { record: true }, {}],
  ["no recording", { record: false }, {}],
  ["an API key", {}, { apiKeySid }],
  [
    "every option",
    {},
    { machineDetection: "Enable", ringTimeout: 20_000, timeLimit: 60_000, authToken: secret },
  ],
  [
    "URLs that need escapes",
    {
      flow_url: "https://app.test/a%20b/*~'()!?x=%2B+&y=ü📞",
      status_callback_url: "https://b.test/~*",
    },
    {},
  ],
])("byte for byte as Twilio's own client: %s", async (_, more, options) => {
  const params = { ...base, ...more };
  const call = await ours(params, options);
  const their = await theirs(params, options);
  expect(call.id).toBe(their.sid);
  expect(received).toHaveLength(2);
  expect(received[0]).toEqual(received[1]);
});

test("byte for byte as Twilio's own client: any URL", async () => {
  const url = fc.webUrl({ validSchemes: ["https"], withQueryParameters: true });
  await fc.assert(
    fc.asyncProperty(url, url, fc.boolean(), async (flow_url, callback, record) => {
      fc.pre(!new URL(callback).hostname.includes("_"));
      received.length = 0;
      const params = { ...base, flow_url, status_callback_url: callback, record };
      await ours(params);
      await theirs(params);
      expect(received[0]).toEqual(received[1]);
    }),
    { numRuns: 100 },
  );
});

test.each([
  [400, { code: 21211, message: "Invalid 'To' Phone Number", more_info: "…", status: 400 }],
  [401, { code: 20003, message: "Authenticate", more_info: "…", status: 401 }],
  [429, { code: 20429, message: "Too Many Requests", more_info: "…", status: 429 }],
  [503, { message: "Service unavailable", status: 503 }],
])(
  "a refusal has the code and the message that Twilio's own client reads: %i",
  async (status, said) => {
    answer.status = status;
    answer.text = JSON.stringify(said);
    const caught = (error: ServiceException) => error;
    const our = await ours(base).then(() => expect.fail("placed"), caught);
    const their = await theirs(base).then(
      () => expect.fail("placed"),
      (error: InstanceType<typeof twilioClient.RestException>) => error,
    );
    expect([our.code, our.reason, our.detail]).toEqual([
      their.status,
      their.code === undefined ? undefined : String(their.code),
      said.message,
    ]);
  },
);

test.each([{}, { region: "ie1" }, { edge: "dublin" }, { edge: "dublin", region: "ie1" }])(
  "the host is that of Twilio's own client: %j",
  async (where) => {
    const urls: string[] = [];
    const request = async ({ uri }: { readonly uri: string }) => {
      urls.push(uri);
      return { statusCode: 201, body: answer.text, headers: {} };
    };
    const client = twilioClient(accountSid, secret, {
      ...where,
      httpClient: { request } as never,
    });
    await client.calls.create({ to: base.to_number, from: base.from_number, url: base.flow_url });
    const fetch = async (url: string) => {
      urls.push(url);
      return new Response(answer.text, { status: 201 });
    };
    await create(base, { apiKey: secret, service: twilio({ accountSid, ...where }), fetch });
    expect(urls[1]).toBe(urls[0]);
  },
);
