// What we send, beside what each carrier's own client sends for the same call.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import fc from "fast-check";
import Telnyx from "telnyx";
import type { CallCallsParams } from "telnyx/resources/texml/accounts/calls";
import type { CallCreateParams } from "telnyx/resources/texml/calls";
import twilioClient from "twilio";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { create } from "../../src/calls/index.ts";
import type { CallFlow } from "../../src/calls/params.ts";
import { type TelnyxOptions, telnyx } from "../../src/carriers/telnyx/index.ts";
import { texmlOf } from "../../src/carriers/telnyx/texml.ts";
import { type TwilioOptions, twilio } from "../../src/carriers/twilio/index.ts";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { type VonageOptions, vonage } from "../../src/carriers/vonage/index.ts";
import { nccoOf } from "../../src/carriers/vonage/ncco.ts";
import type { ServiceException } from "../../src/errors.ts";
import type { AnyAction } from "../../src/flows/actions.ts";
import { hangup, pause, play, say, spell } from "../../src/flows/index.ts";
import type { CallService } from "../../src/options.ts";
import { pem, pkcs1, publicKey } from "../unit/vonage/keys.ts";

/** What the server sends, and what it received. */
const answer = { status: 200, text: "" };
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
});

const base = {
  from_number: "+12025550177",
  to_number: "+12025550188",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};
type Params = typeof base & { readonly record?: boolean };
type Options = Omit<Partial<TwilioOptions & TelnyxOptions>, "authToken" | "machineDetection"> & {
  readonly authToken?: string;
  readonly machineDetection?: string;
};

/** A carrier, and how its own client asks for a call. */
interface Row {
  readonly name: string;
  readonly key: string;
  readonly service: (options: Options) => CallService;
  /** Places a call with its own client, and returns the call's id. */
  readonly theirs: (params: Params, options: Options) => Promise<string>;
  /** Its answer to a call that it has placed. */
  readonly placed: { readonly status: number; readonly body: object };
  readonly cases: readonly (readonly [name: string, more: Partial<Params>, options: Options])[];
  /** Whether the credentials are the same each time. */
  readonly isConstant: boolean;
  /** Whether it takes a URL for notifications. */
  readonly takes: (callback: string) => boolean;
}

const seconds = (milliseconds: number | undefined) => milliseconds && milliseconds / 1000;
const accountSid = "AC0123456789abcdef0123456789abcdef";
const secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const telnyxId = "1494404757140276705";
const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
const recordings: Row["cases"] = [
  ["a recording", { record: true }, {}],
  ["no recording", { record: false }, {}],
];

const twilioRow: Row = {
  name: "twilio",
  key: secret,
  service: (options) => twilio({ accountSid, ...options } as TwilioOptions),
  theirs: async (params, { apiKeySid: user = accountSid, ...options }) => {
    const client = twilioClient(user, secret, { accountSid });
    client.api.baseUrl = baseUrl;
    const { sid } = await client.calls.create({
      to: params.to_number,
      from: params.from_number,
      url: params.flow_url,
      method: "POST",
      statusCallback: `${params.status_callback_url}#rc=5&rp=ct,rt,5xx`,
      statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
      statusCallbackMethod: "POST",
      ...(params.record !== undefined && { record: params.record }),
      ...(options.machineDetection && { machineDetection: options.machineDetection }),
      ...(options.ringTimeout && { timeout: options.ringTimeout / 1000 }),
      ...(options.timeLimit && { timeLimit: options.timeLimit / 1000 }),
    });
    return sid;
  },
  placed: { status: 201, body: { sid: "CA0123456789abcdef0123456789abcdef", status: "queued" } },
  cases: [
    ...recordings,
    ["an API key", {}, { apiKeySid: "SK0123456789abcdef0123456789abcdef" }],
    [
      "every option",
      {},
      {
        ...{ machineDetection: "Enable", authToken: secret },
        ...{ ringTimeout: 20_000, timeLimit: 60_000 },
      },
    ],
  ],
  isConstant: true,
  takes: (callback) => !new URL(callback).hostname.includes("_"),
};

/** Telnyx's types for this endpoint and for the one with an account in its path, which documents the same fields. */
type TelnyxBody = CallCreateParams & CallCallsParams.WithURL;

const telnyxRow: Row = {
  name: "telnyx",
  key: "KEY0195E7A1C3F24B8D9_q1w2E3r4T5y6U7i8",
  service: (options) => telnyx({ applicationId: telnyxId, ...options } as TelnyxOptions),
  theirs: async (params, { ringTimeout, timeLimit, machineDetection, detectionMode }) => {
    const body = {
      From: params.from_number,
      To: params.to_number,
      Url: params.flow_url,
      Method: "POST",
      UrlMethod: "POST",
      StatusCallback: params.status_callback_url,
      StatusCallbackMethod: "POST",
      StatusCallbackEvent: "initiated ringing answered completed",
      ...(ringTimeout && { Timeout: seconds(ringTimeout) }),
      ...(timeLimit && { TimeLimit: seconds(timeLimit) }),
      ...(params.record !== undefined && { Record: params.record }),
      ...(machineDetection && { MachineDetection: machineDetection }),
      ...(detectionMode && { DetectionMode: detectionMode }),
    } as TelnyxBody;
    const apiKey = telnyxRow.key;
    const client = new Telnyx({ apiKey, baseURL: `${baseUrl}/v2`, maxRetries: 0 });
    return (await client.texml.calls.create(telnyxId, body)).call_sid;
  },
  placed: { status: 200, body: { status: "queued", call_sid: "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY0" } },
  cases: [
    ...recordings,
    [
      "every option",
      {},
      {
        ...{ machineDetection: "DetectMessageEnd", detectionMode: "Premium" },
        ...{ ringTimeout: 20_000, timeLimit: 60_000, callsPerSecond: 5 },
      },
    ],
  ],
  isConstant: true,
  takes: () => true,
};

const vonageRow: Row = {
  name: "vonage",
  key: pem,
  service: (options) => vonage({ applicationId, ...options } as VonageOptions),
  theirs: async (params, { ringTimeout, timeLimit, machineDetection }) => {
    const auth = new Auth({ applicationId, privateKey: pem });
    const call = {
      to: [{ type: "phone", number: params.to_number.slice(1) }],
      from: { type: "phone", number: params.from_number.slice(1) },
      answerUrl: [params.flow_url],
      answerMethod: "POST",
      eventUrl: [params.status_callback_url],
      eventMethod: "POST",
      ...(ringTimeout && { ringingTimer: seconds(ringTimeout) }),
      ...(timeLimit && { lengthTimer: seconds(timeLimit) }),
      ...(machineDetection && { machineDetection }),
    };
    return (await new Voice(auth, { apiHost: baseUrl }).createOutboundCall(call as never)).uuid;
  },
  placed: {
    status: 201,
    body: { uuid: "63f61863-4a51-4f6b-86e1-46edebcf9356", status: "started" },
  },
  cases: [
    ["every option", {}, { machineDetection: "continue", ringTimeout: 20_000, timeLimit: 60_000 }],
  ],
  isConstant: false,
  takes: () => true,
};

describe.each([twilioRow, vonageRow, telnyxRow])("byte for byte as $name's own client", (row) => {
  beforeEach(() => {
    answer.status = row.placed.status;
    answer.text = JSON.stringify(row.placed.body);
  });

  const compare = async (params: Params, options: Options = {}) => {
    received.length = 0;
    const service = row.service(options);
    const call = await create(params, { apiKey: row.key, service, baseUrl });
    expect(call.id).toBe(await row.theirs(params, options));
    const [ours, theirs, ...none] = received.map(({ authorization, ...rest }) => ({
      ...rest,
      ...(row.isConstant && { authorization }),
    }));
    expect(ours).toEqual(theirs);
    expect(none).toEqual([]);
  };

  test.each<readonly [string, Partial<Params>, Options]>([
    ["the fields that are required", {}, {}],
    [
      "URLs that need escapes",
      {
        flow_url: "https://app.test/a%20b/*~'()!?x=%2B+&y=ü📞",
        status_callback_url: "https://b.test/~*",
      },
      {},
    ],
    ...row.cases,
  ])("%s", async (_, more, options) => compare({ ...base, ...more }, options));

  test("any URL", async () => {
    const url = fc.webUrl({ validSchemes: ["https"], withQueryParameters: true });
    await fc.assert(
      fc.asyncProperty(url, url, fc.boolean(), async (flow_url, status_callback_url, record) => {
        fc.pre(row.takes(status_callback_url));
        const more = row.cases.some(([, { record }]) => record) ? { record } : {};
        await compare({ ...base, flow_url, status_callback_url, ...more });
      }),
      { numRuns: 50 },
    );
  });
});

/** A flow, and how each carrier's own client places a call with its document. */
const inRequest: Readonly<Record<string, (flow: AnyAction & CallFlow) => Promise<unknown>>> = {
  twilio: (flow) => {
    const client = twilioClient(accountSid, secret);
    client.api.baseUrl = baseUrl;
    const { to_number: to, from_number } = base;
    return client.calls.create({ to, from: from_number, record: false, twiml: twimlOf(flow) });
  },
  telnyx: (flow) => {
    const client = new Telnyx({ apiKey: telnyxRow.key, baseURL: `${baseUrl}/v2`, maxRetries: 0 });
    const { from_number: From, to_number: To } = base;
    const body = { From, To, Texml: texmlOf(flow), Record: false } as CallCreateParams;
    return client.texml.calls.create(telnyxId, body);
  },
  vonage: (flow) => {
    const auth = new Auth({ applicationId, privateKey: pem });
    const call = { call_id: "", from_number: base.from_number, to_number: base.to_number };
    return new Voice(auth, { apiHost: baseUrl }).createOutboundCall({
      to: [{ type: "phone", number: base.to_number.slice(1) }],
      from: { type: "phone", number: base.from_number.slice(1) },
      // No NCCO is empty.
      ncco:
        flow.action === "hangup"
          ? [{ action: "wait", timeout: 0.1 }]
          : nccoOf(flow, call, undefined),
    } as never);
  },
};

describe.each([twilioRow, vonageRow, telnyxRow])("a flow in the request of $name", (row) => {
  test.each<readonly [string, AnyAction & CallFlow]>([
    ["a spoken code", say(["Your code is ", spell("402913"), pause(1_000), "Again: ", "4, 0"])],
    ["markup and other scripts", say(["</Say>&\"*~'()!", "日本語 😀 ü"], { language: "en-GB" })],
    ["audio", play("https://app.test/a%20b.wav?x=%2B+&y=1")],
    ["a hang-up", hangup()],
  ])("is, field by field, what its own client sends: %s", async (_, flow) => {
    answer.status = row.placed.status;
    answer.text = JSON.stringify(row.placed.body);
    const { from_number, to_number } = base;
    const params = { from_number, to_number, flow, record: false };
    await create(params, { apiKey: row.key, service: row.service({}), baseUrl });
    await inRequest[row.name]?.(flow);
    const [ours, theirs, ...none] = received.map(({ line, type = "", body }) => ({
      ...{ line, type },
      // A form may spell a space in two ways.
      body: type.includes("form") ? [...new URLSearchParams(body)] : body,
    }));
    expect(ours).toEqual(theirs);
    expect(none).toEqual([]);
  });
});

describe("twilio", () => {
  test.each([
    [400, { code: 21211, message: "Invalid 'To' Phone Number", more_info: "…", status: 400 }],
    [401, { code: 20003, message: "Authenticate", more_info: "…", status: 401 }],
    [429, { code: 20429, message: "Too Many Requests", more_info: "…", status: 429 }],
    [503, { message: "Service unavailable", status: 503 }],
  ])("a %i has the code and the message that its own client reads", async (status, said) => {
    answer.status = status;
    answer.text = JSON.stringify(said);
    const service = twilio({ accountSid });
    const our = await create(base, { apiKey: secret, service, baseUrl }).then(
      () => expect.fail("placed"),
      (error: ServiceException) => error,
    );
    const their = await twilioRow.theirs(base, {}).then(
      () => expect.fail("placed"),
      (error: InstanceType<typeof twilioClient.RestException>) => error,
    );
    const reason = their.code === undefined ? undefined : String(their.code);
    expect([our.code, our.reason, our.detail]).toEqual([their.status, reason, said.message]);
  });

  test.each([{}, { region: "ie1" }, { edge: "dublin" }, { edge: "dublin", region: "ie1" }])(
    "the host is that of its own client: %j",
    async (where) => {
      const urls: string[] = [];
      const body = JSON.stringify(twilioRow.placed.body);
      const request = async ({ uri }: { readonly uri: string }) => {
        urls.push(uri);
        return { statusCode: 201, body, headers: {} };
      };
      const httpClient = { request } as never;
      const client = twilioClient(accountSid, secret, { ...where, httpClient });
      await client.calls.create({ to: base.to_number, from: base.from_number, url: base.flow_url });
      const fetch = async (url: string) => {
        urls.push(url);
        return new Response(body, { status: 201 });
      };
      await create(base, { apiKey: secret, service: twilio({ accountSid, ...where }), fetch });
      expect(urls[1]).toBe(urls[0]);
    },
  );
});

/** The header of a token, or its claims. */
const partOf = (token: string, at: 0 | 1) => JSON.parse(atob(token.split(".")[at] ?? ""));

test.each([
  ["PKCS#8", pem],
  ["PKCS#1", pkcs1],
])(
  "vonage: the token of a %s key is what its own verifier accepts, with the claims of its own client",
  async (_, apiKey) => {
    answer.status = 201;
    answer.text = JSON.stringify(vonageRow.placed.body);
    await create(base, { apiKey, service: vonage({ applicationId }), baseUrl });
    await vonageRow.theirs(base, {});
    const tokens = received.map(({ authorization = "" }) => authorization.replace(/^Bearer /, ""));
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

test("telnyx: where its own client posts again, three times in all, outdial does not", async () => {
  const apiKey = telnyxRow.key;
  const service = telnyx({ applicationId: telnyxId });
  for (const status of [408, 409, 429, 500, 503]) {
    const headers = { "retry-after-ms": "1" };
    const fetch = vi.fn(async () => new Response("{}", { status, headers }));
    const client = new Telnyx({ apiKey, fetch });
    const call = client.texml.calls.create(telnyxId, { From: "+1", To: "+2" });
    await expect(call).rejects.toMatchObject({ status });
    expect(fetch).toHaveBeenCalledTimes(3);
    fetch.mockClear();
    const ours = create(base, { apiKey, service, fetch });
    await expect(ours).rejects.toMatchObject({ code: status });
    expect(fetch).toHaveBeenCalledTimes(1);
  }
});
