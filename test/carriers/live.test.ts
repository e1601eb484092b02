// Calls that were placed: what we send beside what each carrier's own client sends, and ours on the emulators.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import {
  create,
  end,
  ended,
  get,
  type LiveOptions,
  type OptionsOrClient,
  press,
  recording,
  redirect,
  why,
} from "../../src/calls/index.ts";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { dial, hangup } from "../../src/flows/actions.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { Client } from "../../src/index.ts";
import type { RedirectedCall, Service } from "../../src/service.ts";
import {
  applicationId as telnyxApplication,
  clientFor as telnyxClient,
  apiKey as telnyxKey,
  accountSid as telnyxSid,
} from "../telnyx/stage.ts";
import { authToken, clientFor as twilioClient, accountSid as twilioSid } from "../twilio/stage.ts";
import { pem } from "../unit/vonage/keys.ts";
import { applicationId as vonageApplication } from "../unit/vonage/service.ts";
import { clientFor as vonageClient } from "../vonage/stage.ts";
import { carriers } from "./carriers.ts";
import { answering, from } from "./stage.ts";

/** What the server sends, and what it received. */
const answer = { status: 200, text: "{}" };
const received: unknown[] = [];
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { "content-type": type } = request.headers;
  const line = `${request.method} ${request.url}`;
  received.push({ line, type, body: Buffer.concat(chunks).toString() });
  response.writeHead(answer.status, { "content-type": "application/json" });
  response.end(answer.status === 204 ? undefined : answer.text);
});
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

const numbers = { from_number: from, to_number: answering };
/** A URL with what each client may spell in its own way. */
const elsewhere = "https://app.test/a%20b/*~'()!?x=%2B+&y=%C3%BC#rc=5";

/** A carrier, and how its own client does what we do. */
interface Row {
  readonly name: string;
  readonly service: Service;
  readonly key: string;
  readonly id: string;
  /** Its answers: a call, and to an update. */
  readonly call: object;
  readonly updated?: number;
  readonly get: (id: string) => Promise<unknown>;
  readonly end: (id: string) => Promise<unknown>;
  readonly redirect: (call: RedirectedCall, url: string) => Promise<unknown>;
}

const account_sid = telnyxSid;
const rows: readonly Row[] = [
  {
    name: "twilio",
    service: twilio({ accountSid: twilioSid }),
    key: authToken,
    id: "CA0123456789abcdef0123456789abcdef",
    call: { sid: "CA0123456789abcdef0123456789abcdef", status: "in-progress" },
    get: (id) => twilioClient(baseUrl).calls(id).fetch(),
    end: (id) => twilioClient(baseUrl).calls(id).update({ status: "completed" }),
    redirect: ({ id }, url) => twilioClient(baseUrl).calls(id).update({ url, method: "POST" }),
  },
  {
    name: "telnyx",
    service: telnyx({ applicationId: telnyxApplication, accountSid: telnyxSid }),
    key: telnyxKey,
    id: "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg",
    call: { sid: "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg", status: "ringing" },
    get: (id) => telnyxClient(baseUrl).texml.accounts.calls.retrieve(id, { account_sid }),
    end: (id) =>
      telnyxClient(baseUrl).texml.accounts.calls.update(id, { account_sid, Status: "completed" }),
    redirect: ({ id }, Url) =>
      telnyxClient(baseUrl).texml.accounts.calls.update(id, { account_sid, Url, Method: "POST" }),
  },
  {
    name: "vonage",
    service: vonage({ applicationId: vonageApplication }),
    key: pem,
    id: "63f61863-4a51-4f6b-86e1-46edebcf9356",
    call: { uuid: "63f61863-4a51-4f6b-86e1-46edebcf9356", status: "answered" },
    updated: 204,
    get: (id) => vonageClient(baseUrl, pem).getCall(id),
    end: (id) => vonageClient(baseUrl, pem).hangupCall(id),
    redirect: ({ id, from_number, to_number }, url) =>
      vonageClient(baseUrl, pem).transferCallWithNCCO(id, [
        {
          action: "notify",
          payload: { uuid: id, from: from_number.slice(1), to: to_number.slice(1) },
          eventUrl: [url],
          eventMethod: "POST",
        } as never,
      ]),
  },
];

describe.each(rows)("byte for byte as $name's own client", (row) => {
  const { id, service, key: apiKey } = row;
  const compare = async (ours: Promise<unknown>, theirs: () => Promise<unknown>) => {
    await ours;
    await theirs();
    const [our, their, ...none] = received;
    expect(our).toEqual(their);
    expect(our).toBeDefined();
    expect(none).toEqual([]);
  };

  test("get", async () => {
    Object.assign(answer, { status: 200, text: JSON.stringify(row.call) });
    await compare(get(id, { service, apiKey, baseUrl }), () => row.get(id));
  });

  test("end", async () => {
    Object.assign(answer, { status: row.updated ?? 200, text: JSON.stringify(row.call) });
    await compare(end(id, { service, apiKey, baseUrl }), () => row.end(id));
  });

  test("redirect", async () => {
    Object.assign(answer, { status: row.updated ?? 200, text: JSON.stringify(row.call) });
    const call = { id, ...numbers };
    await compare(redirect(call, elsewhere, { service, apiKey, baseUrl }), () =>
      row.redirect(call, elsewhere),
    );
  });
});

test("telnyx without accountSid ends a call by the request that names none, and can do no more", async () => {
  const service = telnyx({ applicationId: telnyxApplication });
  const options = { service, apiKey: telnyxKey, baseUrl };
  Object.assign(answer, { status: 200, text: '{"data":{"sid":"v3:1","status":"accepted"}}' });
  await end("v3:1", options);
  expect(received).toEqual([
    {
      line: "POST /v2/texml/calls/v3:1/update",
      type: "application/json",
      body: '{"Status":"completed"}',
    },
  ]);
  const refused = { name: "BadParametersException", param: "accountSid" };
  await expect(get("v3:1", options)).rejects.toMatchObject(refused);
  const call = { id: "v3:1", ...numbers };
  await expect(redirect(call, elsewhere, options)).rejects.toMatchObject(refused);
  expect(received).toHaveLength(1);
});

const secret = "a secret that was made at random";
const signed = (path: string) => signUrl(`https://app.test${path}`, { secret, context: { path } });

/** A service whose calls are live, with its emulator. */
interface Stage {
  readonly name: string;
  readonly service?: Service;
  readonly emulated: EmulatorOptions;
}
const own: Stage = { name: "outdial's own interface", emulated: {} };

/** An emulator in which somebody is called who waits, and our options for it. */
const start = async ({ service, emulated }: Stage, more: EmulatorOptions = {}) => {
  const asked: string[] = [];
  const onError = vi.fn();
  const handler = flowHandler({
    ...(service && { service }),
    secret,
    // Nobody answers there for a minute.
    onAnswer: ({ context }) =>
      context.path === "/flow" ? dial("+12025550102", { timeout: 60 }) : hangup(),
    onError,
  });
  const emulator = createEmulator({
    ...emulated,
    ...{ ringDuration: 600_000, answerTimeout: 600_000 },
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/status") return new Response(null, { status: 204 });
      asked.push(pathname);
      return handler(request);
    },
    ...more,
  });
  onTestFinished(() => emulator.close());
  const options: LiveOptions & { service?: never } = {
    apiKey: emulator.apiKey,
    baseUrl: "https://emulator.test",
    fetch: emulator.fetch,
    ...({ service } as object),
  };
  const { id } = await create(
    { ...numbers, flow_url: await signed("/flow"), status_callback_url: await signed("/status") },
    options,
  );
  /** Answers, and waits until the flow is performed. */
  const answerCall = async () => {
    emulator.answer(id);
    for await (const event of emulator)
      if (event.type === "leg" && event.state === "ringing") return;
  };
  return { emulator, options, id, asked, onError, answerCall };
};

describe.each<Stage>([own, ...carriers])("$name", (stage) => {
  test("get has the same fields for every service, at each stage of a call", async () => {
    const { emulator, options, id, answerCall } = await start(stage);
    const call = { id, ...numbers };
    expect(await get(id, options)).toMatchObject({ ...call, state: "ringing" });
    await answerCall();
    expect(await get(id, options)).toMatchObject({ ...call, state: "answered" });
    emulator.hangup(id);
    await emulator.ended(id);
    const { raw, ...over } = await get(id, options);
    expect(over).toMatchObject({ ...call, state: "completed", duration: 0 });
    const { cost, ...others } = over;
    expect(Object.keys(others).filter((name) => name !== "reason")).toEqual([
      ...["id", "from_number", "to_number", "state", "duration"],
    ]);
    // The emulators of the others have no price yet.
    expect(cost).toBe(stage.name === "vonage" ? "0" : undefined);
    expect(raw).toMatchObject({ direction: expect.stringContaining("outbound") });
    expect(raw).not.toHaveProperty("raw");
  });

  test.each([
    ["+12025550101", "busy"],
    ["+12025550104", "unreachable"],
  ])("get of a call to %s says why it failed: %s", async (to_number, reason) => {
    const { emulator, options } = await start(stage);
    const urls = { flow_url: "https://app.test/f", status_callback_url: "https://app.test/status" };
    const { id } = await create({ ...numbers, to_number, ...urls }, options);
    await emulator.ended(id);
    expect(await get(id, options)).toMatchObject({ id, to_number, state: "failed", reason });
  });

  test("end ends a call that rings and one that is answered, and resolves for one that is over", async () => {
    for (const isAnswered of [false, true]) {
      const { emulator, options, id, answerCall } = await start(stage);
      if (isAnswered) await answerCall();
      await end(id, options);
      const { state } = await emulator.ended(id);
      expect(state).toBe(isAnswered ? "completed" : "failed");
      await end(id, options);
    }
  });

  test("a call that isn't known is neither read nor ended", async () => {
    const { options, id } = await start(stage);
    const unknown = id.replace(/\w{4}$/, "0000");
    const not = { name: "ServiceException", code: 404 };
    await expect(get(unknown, options)).rejects.toMatchObject(not);
    await expect(end(unknown, options)).rejects.toMatchObject(not);
    await expect(end(unknown, options)).rejects.toThrow("(the call was not ended)");
  });
});

test.each<Stage>([own, ...carriers])(
  "$name: an id of no call's form is no such call",
  async (stage) => {
    const { options } = await start(stage);
    for (const read of [
      () => get("no-such-call", options),
      () => get("+12025550100", options),
      () => end("x", options),
    ]) {
      const error: unknown = await read().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ name: "ServiceException", code: 404 });
      expect(String(error)).toMatch(/not found|no such call/i);
      expect(String(error)).not.toMatch(/emulated|2025550100/);
    }
  },
);

test.each<Stage>([own, ...carriers])(
  "$name: each function about a call takes a client where it takes options, with the same result",
  async (stage) => {
    /** What comes of each function at a call of its own: the fields, or the message. */
    const outcomes = async (of: (options: LiveOptions) => OptionsOrClient) => {
      const { options, id, answerCall } = await start(stage);
      await answerCall();
      const given = of(options);
      const works: readonly (() => Promise<unknown>)[] = [
        () => get(id, given),
        () => why(id, given),
        () => press(id, "1", given),
        () => redirect({ id, ...numbers }, "https://app.test/flow", given),
        () => end(id, given),
        () => ended(id, given),
        () => recording(id, given).then(({ status }) => status),
      ];
      const found: string[] = [];
      for (const work of works) {
        const outcome: unknown = await work().catch(String);
        found.push(
          typeof outcome === "object"
            ? Object.keys(Object(outcome)).join()
            : String(outcome).replaceAll(id, "ID"),
        );
      }
      return found;
    };
    let shown = "";
    let key = "";
    const byClient = await outcomes(({ apiKey, ...others }) => {
      const client = new Client(apiKey, others);
      key = String(apiKey).slice(0, 20);
      shown = `${inspect(client, { showHidden: true, depth: 9 })}${JSON.stringify(client)}`;
      return client;
    });
    expect(byClient).toEqual(await outcomes((options) => options));
    expect(byClient[0]).toMatch(/^id,.*state/);
    expect(byClient[5]).toMatch(/^id,.*state/);
    expect(shown).not.toContain(key);
  },
);

test("outdial's own interface can't redirect, which is refused by name before anything is sent", async () => {
  const { options, id } = await start(own);
  const fetch = vi.fn();
  const moved = redirect({ id, ...numbers }, elsewhere, { ...options, fetch });
  await expect(moved).rejects.toMatchObject({ name: "BadParametersException", param: "service" });
  expect(fetch).not.toHaveBeenCalled();
});

test.each(["/calls", "/voice/calls"] as const)(
  "outdial's own interface is found where only %s is there",
  async (only) => {
    const { options, id, emulator } = await start(own);
    const fetch: typeof options.fetch = async (url, init) =>
      url.includes(`/v1${only}`) ? emulator.fetch(url, init) : new Response(null, { status: 404 });
    expect(await get(id, { ...options, fetch })).toMatchObject({ id });
    await end(id, { ...options, fetch });
    expect(await get(id, { ...options, fetch })).toMatchObject({ id, state: "failed" });
  },
);

describe.each(carriers)("$name", (carrier) => {
  test("redirect makes an answered call continue elsewhere, and no other", async () => {
    const { emulator, options, id, asked, onError, answerCall } = await start(carrier);
    const call = { id, ...numbers };
    const url = await signed("/moved");
    await expect(redirect(call, url, options)).rejects.toThrow("(the call was not redirected)");
    await answerCall();
    await redirect(call, url, options);
    const { state, reason } = await emulator.ended(id);
    expect(onError).not.toHaveBeenCalled();
    // Vonage also asks about the leg that was rung.
    expect([state, reason, ...new Set(asked)]).toEqual(["completed", "normal", "/flow", "/moved"]);
    await expect(redirect(call, url, options)).rejects.toMatchObject({ name: "ServiceException" });
  });
});

test.each<Stage>([own, ...carriers.filter(({ records }) => records)])(
  "$name: recording fetches the recording that a call has",
  async (stage) => {
    const { emulator, options } = await start(stage, { ringDuration: 0, clock: "instant" });
    const urls = {
      flow_url: await signed("/moved"),
      status_callback_url: await signed("/status"),
    };
    const { id } = await create({ ...numbers, ...urls, record: true }, options);
    const { recording_url = "" } = await emulator.ended(id);
    const response = await recording(recording_url, options);
    expect(response.headers.get("content-type")).toBe("audio/wav");
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(new TextDecoder().decode(bytes.subarray(0, 4))).toBe("RIFF");
  },
);
