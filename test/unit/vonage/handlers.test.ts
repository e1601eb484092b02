import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { callbackHandler, type Received, receive } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { type Action, dial, hangup, play, stream } from "../../../src/flows/actions.ts";
import { type FlowOptions, flowHandler } from "../../../src/flows/handler.ts";
import { record } from "../../../src/flows/record.ts";
import {
  applicationId,
  serviceWith,
  signatureSecret,
  signed,
  type TokenParts,
  tokenFor,
} from "./service.ts";

const secret = "a secret that was made at random";
const service = serviceWith(signatureSecret);
const statusUrl = "https://app.test/status";
const flowUrl = "https://app.test/flow?tenant=7";
const next = "https://app.test/flow/2";
const number = "+12025550177";
const uuid = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab";
const call = { from: "12025550199", to: "12025550100", uuid };
const busy = { ...call, status: "busy", timestamp: "2026-11-22T04:00:07Z" };

const refusalOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof RefusedException ? [error.reason, error.status] : error),
  );

/** The same request with other credentials, or none. */
const withAuthorization = (request: Request, value?: string): Request => {
  if (value === undefined) request.headers.delete("Authorization");
  else request.headers.set("Authorization", value);
  return request;
};

describe("receive", () => {
  const signedUrl = () => signUrl(statusUrl, { secret, context: { order: 17 } });

  test("reads a notification that Vonage signed, with the context of the signed URL", async () => {
    const { event, context } = await receive(signed(await signedUrl(), busy), { secret, service });
    expect(event).toMatchObject({
      known: true,
      type: "call.failed",
      account_id: applicationId,
      call_id: uuid,
      data: { reason: "busy", from: "+12025550199", to: "+12025550100" },
    });
    expect(context).toEqual({ order: 17 });
  });

  test("takes Vonage's signature alone as a check, and the signed URL alone", async () => {
    expect((await receive(signed(statusUrl, busy), { service })).context).toEqual({});
    const request = withAuthorization(signed(await signedUrl(), busy));
    const { context } = await receive(request, { secret, service: serviceWith() });
    expect(context).toEqual({ order: 17 });
  });

  test("without any check nothing is received", async () => {
    const work = receive(signed(statusUrl, busy), { service: serviceWith() });
    await expect(work).rejects.toThrow(BadParametersException);
  });

  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  test.each<[string, string | undefined, unknown]>([
    ["no token", undefined, ["no_signature", 503]],
    ["another scheme", `Basic ${btoa("a:b")}`, ["wrong_signature", 401]],
    ["no JWT", "Bearer abc", ["wrong_signature", 401]],
    ["two parts", `Bearer ${none}.e30`, ["wrong_signature", 401]],
    ["no signature", `Bearer ${none}.e30.`, ["wrong_signature", 401]],
    ["parts that aren't JSON", "Bearer AAAA.AAAA.AAAA", ["wrong_signature", 401]],
    ["parts that aren't base64", "Bearer A.A.A", ["wrong_signature", 401]],
  ])("%s is refused", async (_, authorization, refusal) => {
    const request = withAuthorization(signed(statusUrl, busy), authorization);
    expect(await refusalOf(receive(request, { service }))).toEqual(refusal);
  });

  const now = Math.floor(Date.now() / 1000);
  test.each<[string, TokenParts, unknown]>([
    ["alg none", { head: { alg: "none" } }, ["wrong_signature", 401]],
    ["alg RS256", { head: { alg: "RS256" } }, ["wrong_signature", 401]],
    ["alg HS512", { head: { alg: "HS512" } }, ["wrong_signature", 401]],
    ["another secret", { secret: "another secret" }, ["wrong_signature", 401]],
    ["no hash", { claims: { payload_hash: undefined } }, ["wrong_signature", 401]],
    ["another hash", { claims: { payload_hash: "0".repeat(64) } }, ["wrong_signature", 401]],
    ["a time that is past", { claims: { iat: now - 330 } }, ["expired_signature", 401]],
    ["a time to come", { claims: { iat: now + 330 } }, ["expired_signature", 401]],
    ["no time", { claims: { iat: undefined } }, ["expired_signature", 401]],
    ["null for a time", { claims: { iat: null } }, ["expired_signature", 401]],
    ["a text for a time", { claims: { iat: "now" } }, ["expired_signature", 401]],
    ["a time within 5 minutes", { claims: { iat: now - 270 } }, "accepted"],
    ["an end that is past", { claims: { exp: now - 1 } }, ["expired_signature", 401]],
    ["a text for an end", { claims: { exp: "soon" } }, ["expired_signature", 401]],
    ["null for an end", { claims: { exp: null } }, ["expired_signature", 401]],
    ["an end to come", { claims: { exp: now + 90 } }, "accepted"],
    ["the application", { claims: { application_id: applicationId } }, "accepted"],
    ["another application", { claims: { application_id: uuid } }, ["wrong_signature", 401]],
    ["null for an application", { claims: { application_id: null } }, ["wrong_signature", 401]],
  ])("%s: %j gives %j", async (_, parts, refusal) => {
    const work = receive(signed(statusUrl, busy, parts), { service });
    expect(await refusalOf(work)).toEqual(refusal);
  });

  test("another body than the one that was signed is refused", async () => {
    const request = new Request(statusUrl, {
      method: "POST",
      headers: { Authorization: `Bearer ${tokenFor(JSON.stringify(busy))}` },
      body: JSON.stringify({ ...busy, status: "completed" }),
    });
    expect(await refusalOf(receive(request, { service }))).toEqual(["wrong_signature", 401]);
  });

  test("the hash is that of the bytes, whatever white space is between them", async () => {
    const body = JSON.stringify(busy, null, 2);
    const headers = { authorization: `bearer ${tokenFor(body)}` };
    const request = new Request(statusUrl, { method: "POST", headers, body });
    expect(await refusalOf(receive(request, { service }))).toBe("accepted");
  });

  test("a list of secrets is accepted while one replaces another, and a function of it", async () => {
    for (const given of [
      ["a new secret", signatureSecret],
      () => signatureSecret,
      async () => [signatureSecret],
    ]) {
      const work = receive(signed(statusUrl, busy), { service: serviceWith(given) });
      expect(await refusalOf(work)).toBe("accepted");
    }
  });

  test.each([() => undefined, () => "", () => [], () => ["a secret", ""]])(
    "a function that gives no secret is a failure, and no check that always passes",
    async (given) => {
      const request = signed(statusUrl, busy, { secret: "made up" });
      await expect(receive(request, { service: serviceWith(given) })).rejects.toThrow(
        "signatureSecret must be a string, not empty",
      );
    },
  );
});

describe("callbackHandler", () => {
  test("what goes wrong is answered 503, after which Vonage delivers again", async () => {
    const onError = vi.fn();
    const failing = callbackHandler({
      service,
      onEvent: () => Promise.reject(new Error("down")),
      onError,
    });
    expect((await failing(signed(statusUrl, busy))).status).toBe(503);
    expect((await failing(withAuthorization(signed(statusUrl, busy)))).status).toBe(503);
    const secretless = serviceWith(() => []);
    const without = callbackHandler({ service: secretless, onEvent: () => {}, onError });
    expect((await without(signed(statusUrl, busy))).status).toBe(503);
    expect(onError).toHaveBeenCalledTimes(3);
  });

  test("an event is answered 204", async () => {
    const events: Received["event"][] = [];
    const handler = callbackHandler({ service, onEvent: ({ event }) => events.push(event) });
    expect((await handler(signed(statusUrl, busy))).status).toBe(204);
    expect(events.map(({ type }) => type)).toEqual(["call.failed"]);
  });
});

/** A flow handler, and what it answers. */
const flow = (options: Partial<FlowOptions> & Pick<FlowOptions, "onAnswer">) => {
  const handler = flowHandler({ secret, service, ...options } as FlowOptions);
  return async (url: string, fields: object = call) => handler(signed(url, fields));
};

const nccoOf = async (action: Action, options: Partial<FlowOptions> = {}) => {
  const ask = flow({ onAnswer: () => action, ...options });
  const response = await ask(await signUrl(flowUrl, { secret }));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toContain("application/json");
  return response.json();
};

const notify = {
  action: "notify",
  payload: { uuid, from: call.from, to: call.to },
  eventUrl: [next],
  eventMethod: "POST",
};
const leg = {
  eventUrl: [
    expect.stringMatching(/^https:\/\/app\.test\/flow\?tenant=7&outdial-leg=1&outdial=[\w.-]+$/),
  ],
  eventMethod: "POST",
};
const media = "wss://app.test/media?outdial=1.e30.x";
const websocket = (rate: number) => ({
  type: "websocket",
  uri: media,
  "content-type": `audio/l16;rate=${rate}`,
  headers: { call_id: uuid },
});

describe("an action becomes an NCCO", () => {
  test.each<[string, Action, unknown]>([
    ["hangup", hangup(), []],
    [
      "play",
      play("https://app.test/ü.wav"),
      [{ action: "stream", streamUrl: ["https://app.test/%C3%BC.wav"] }],
    ],
    [
      "play, and what follows",
      play("https://app.test/a.wav", { flow_url: next }),
      [{ action: "stream", streamUrl: ["https://app.test/a.wav"] }, notify],
    ],
    ["stream", stream(media), [{ action: "connect", ...leg, endpoint: [websocket(8000)] }]],
    [
      "stream with everything",
      stream(media, { sample_rate: "16k", chunk_size: 20, record: true, flow_url: next }),
      [{ action: "record" }, { action: "connect", ...leg, endpoint: [websocket(16_000)] }, notify],
    ],
    [
      "dial",
      dial(number),
      [
        {
          action: "connect",
          from: call.from,
          timeout: 30,
          ...leg,
          endpoint: [{ type: "phone", number: "12025550177" }],
        },
      ],
    ],
    [
      "dial with everything but branches",
      dial("sip:bob@example.com", { timeout: 5, record: true, flow_url: next }),
      [
        { action: "record" },
        {
          action: "connect",
          from: call.from,
          timeout: 5,
          ...leg,
          endpoint: [{ type: "sip", uri: "sip:bob@example.com" }],
        },
        notify,
      ],
    ],
  ])("%s", async (_, action, ncco) => {
    expect(await nccoOf(action)).toEqual(ncco);
  });

  test("what Vonage can't do is refused by name, and the call ends", async () => {
    const onError = vi.fn();
    expect(await nccoOf(stream(media, { chunk_size: 400 }), { onError })).toEqual([]);
    expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(BadParametersException);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message: "chunk_size must be 20: Vonage has no other",
    });
  });

  test("the next flow request is the body of a notify", async () => {
    const onAnswer = vi.fn((_: unknown) => hangup());
    const ask = flow({ onAnswer });
    const fields = {
      conversation_uuid: "CON-1",
      timestamp: busy.timestamp,
      payload: notify.payload,
    };
    expect(await (await ask(await signUrl(flowUrl, { secret }), fields)).json()).toEqual([]);
    expect(onAnswer.mock.calls[0]?.[0]).toMatchObject({
      call: { call_id: uuid, from_number: "+12025550199", to_number: "+12025550100" },
    });
  });
});

describe("within 4 s", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  test("a flow is answered, or the call ends: Vonage waits 5 s", async () => {
    const onError = vi.fn();
    const began = Promise.withResolvers<void>();
    const onAnswer = () => {
      began.resolve();
      return new Promise<Action>(() => {});
    };
    const response = flow({ onAnswer, onError })(await signUrl(flowUrl, { secret }));
    await began.promise;
    await vi.advanceTimersByTimeAsync(3_900);
    expect(onError).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(100);
    expect(await (await response).json()).toEqual([]);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ name: "TimeoutError" });
  });
});

const busyMedia = "https://app.test/busy.wav";
const branching = dial(number, {
  flow_url: next,
  on_busy: play(busyMedia, { flow_url: next }),
  on_failure: hangup(),
});
const legUuid = "bbbbbbbb-bbbb-cccc-dddd-0123456789ab";
const legEvent = (status: string) => ({
  uuid: legUuid,
  from: call.from,
  to: "12025550177",
  status,
  direction: "outbound",
});

/** The URL for the events of the leg that an action adds. */
const legUrlOf = async (action: Action, options: Partial<FlowOptions> = {}) => {
  const ncco = await nccoOf(action, options);
  const connect = ncco.find((each: { action: string }) => each.action === "connect");
  return { connect, url: String(connect.eventUrl?.[0]) };
};

describe("what follows a dial is decided by flowHandler itself", () => {
  const playBusy = [{ action: "stream", streamUrl: [busyMedia] }, notify];
  test.each<[string, unknown]>([
    ["busy", playBusy],
    ["failed", []],
    ["rejected", []],
    ["timeout", undefined],
    ["unanswered", undefined],
    ["started", undefined],
    ["ringing", undefined],
    ["answered", undefined],
    ["completed", undefined],
    ["toString", undefined],
  ])("%s is answered %j without onAnswer", async (status, ncco) => {
    const { connect, url } = await legUrlOf(branching);
    expect(connect).toMatchObject({ ...leg, eventType: "synchronous" });
    const onAnswer = vi.fn(hangup);
    const response = await flow({ onAnswer })(url, legEvent(status));
    // Without a body the NCCO stays: a notify to the flow_url is next in it.
    if (ncco === undefined) expect([response.status, await response.text()]).toEqual([204, ""]);
    else expect(await response.json()).toEqual(ncco);
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test("on_no_answer follows timeout and unanswered", async () => {
    const { url } = await legUrlOf(dial(number, { on_no_answer: play(busyMedia) }));
    for (const status of ["timeout", "unanswered"]) {
      const response = await flow({ onAnswer: hangup })(url, legEvent(status));
      expect(await response.json()).toEqual([{ action: "stream", streamUrl: [busyMedia] }]);
    }
  });

  test("nobody reads the call's numbers in that URL, nor what follows", async () => {
    const { url } = await legUrlOf(branching);
    const [, content = ""] = /outdial=\d+\.([\w-]+)\./.exec(url) ?? [];
    const text = Buffer.from(content, "base64url").toString("latin1");
    expect(text).not.toMatch(/\+1202|busy|flow/);
  });

  test("its events belong to the conversation of the call", async () => {
    const inConversation = (conversation_uuid: string) => ({ conversation_uuid });
    const ask = flow({ onAnswer: () => branching });
    const url = await signUrl(flowUrl, { secret });
    const answered = await ask(url, { ...call, ...inConversation("CON-1") });
    const [connect] = await answered.json();
    const event = (conversation: string) => ({
      ...legEvent("busy"),
      ...inConversation(conversation),
    });
    const [own, other] = [event("CON-1"), event("CON-2")];
    expect(await (await ask(connect.eventUrl[0], own)).json()).toEqual(playBusy);
    expect((await ask(connect.eventUrl[0], other)).status).toBe(401);
  });

  test("the event of a recording at its URL belongs to the conversation of the call, if it names one", async () => {
    const onRecording = vi.fn();
    const ask = flow({ onAnswer: () => record("Tell us why."), onRecording });
    const url = await signUrl(flowUrl, { secret });
    const answered = await ask(url, { ...call, conversation_uuid: "CON-1" });
    const ncco: readonly { readonly eventUrl?: readonly string[] }[] = await answered.json();
    const eventUrl = ncco.find((each) => each.eventUrl)?.eventUrl?.[0] ?? "";
    const made = { recording_uuid: "r1", recording_url: "https://api.nexmo.com/v1/files/r1" };
    const statuses = [];
    for (const named of [{ conversation_uuid: "CON-2" }, { conversation_uuid: "CON-1" }, {}]) {
      statuses.push((await ask(eventUrl, { ...made, ...named })).status);
    }
    expect(statuses).toEqual([401, 204, 204]);
    expect(onRecording).toHaveBeenCalledTimes(2);
    expect(onRecording).toHaveBeenCalledWith(expect.objectContaining({ call_id: uuid }));
  });

  test("a recording is noted for the service of the handler, as answers are", async () => {
    const note = vi.fn();
    const onAnswer = () => record("Tell us why.");
    const ask = flow({ onAnswer, campaign: { note }, serviceName: "spare" });
    const answered = await ask(await signUrl(flowUrl, { secret }), call);
    const ncco: readonly { readonly eventUrl?: readonly string[] }[] = await answered.json();
    const eventUrl = ncco.find((each) => each.eventUrl)?.eventUrl?.[0] ?? "";
    const made = { recording_uuid: "r1", recording_url: "https://api.nexmo.com/v1/files/r1" };
    expect((await ask(eventUrl, made)).status).toBe(204);
    const recording = expect.objectContaining({ call_id: uuid, recording_id: "r1" });
    expect(note).toHaveBeenCalledExactlyOnceWith(recording, { service: "spare" });
  });

  test("events of a leg that decides nothing are answered without onAnswer, too", async () => {
    for (const action of [stream(media), dial(number)]) {
      const { connect, url } = await legUrlOf(action);
      expect(connect).not.toHaveProperty("eventType");
      const onAnswer = vi.fn(hangup);
      expect((await flow({ onAnswer })(url, legEvent("busy"))).status).toBe(204);
      expect(onAnswer).not.toHaveBeenCalled();
    }
  });

  test("without secret such a URL is not signed, and branches are refused by name", async () => {
    const onError = vi.fn();
    const onAnswer = vi.fn((): Action => stream(media));
    const ask = async (url: string, fields: object = call) =>
      flowHandler({ service, onAnswer, onError })(signed(url, fields));
    const [connect] = await (await ask(flowUrl)).json();
    expect(connect.eventUrl).toEqual([`${flowUrl}&outdial-leg=1`]);
    expect((await ask(connect.eventUrl[0], legEvent("completed"))).status).toBe(204);
    expect(onAnswer).toHaveBeenCalledTimes(1);
    onAnswer.mockReturnValue(branching);
    expect(await (await ask(flowUrl)).json()).toEqual([]);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message: "on_busy needs the option secret of flowHandler",
    });
  });

  test("an event at a flow URL asks for no action, though Vonage has signed it", async () => {
    const onAnswer = vi.fn(hangup);
    const onError = vi.fn();
    const alone = flowHandler({ service, onAnswer, onError });
    expect((await alone(signed(flowUrl, busy))).status).toBe(400);
    const both = flowHandler({ service, secret, onAnswer, onError });
    expect((await both(signed(await signUrl(flowUrl, { secret }), busy))).status).toBe(400);
    expect(onError.mock.calls.map(([{ reason }]) => reason)).toEqual([
      "wrong_shape",
      "wrong_shape",
    ]);
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test("with secret an unsigned one is refused", async () => {
    const response = await flow({ onAnswer: hangup, onError: () => {} })(
      `${flowUrl}&outdial-leg=1`,
      legEvent("completed"),
    );
    expect(response.status).toBe(401);
  });

  test("where Vonage can't reach the request's URL, a leg has none, and publicUrl mends it", async () => {
    const url = (await signUrl(flowUrl, { secret })).replace("https", "http");
    for (const options of [{ secret }, {}]) {
      const handler = flowHandler({ ...options, service, onAnswer: () => stream(media) });
      const [connect] = await (await handler(signed(url, call))).json();
      expect(connect).not.toHaveProperty("eventUrl");
    }
    const publicUrl = "https://app.test/flow";
    const handler = flowHandler({ secret, service, publicUrl, onAnswer: () => stream(media) });
    const [connect] = await (await handler(signed(url, call))).json();
    expect(connect).toMatchObject(leg);
  });
});
