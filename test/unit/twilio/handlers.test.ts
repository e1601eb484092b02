import { describe, expect, test, vi } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { callbackHandler, type Received, receive } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { twimlOf } from "../../../src/carriers/twilio/twiml.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { type Action, dial, hangup, play, stream } from "../../../src/flows/actions.ts";
import type { StepInput } from "../../../src/flows/flow-state.ts";
import { type FlowOptions, flowHandler } from "../../../src/flows/handler.ts";
import { serviceWith } from "./service.ts";
import { authToken, signed } from "./sign.ts";

const secret = "a secret that was made at random";
const service = serviceWith(authToken);
const statusUrl = "https://app.test/status";
const flowUrl = "https://app.test/flow?tenant=7";
const number = "+12025550100";
const call = {
  AccountSid: "AC00000000000000000000000000000001",
  CallSid: "CA00000000000000000000000000000002",
  From: "+12025550199",
  To: number,
  Direction: "outbound-api",
};
const busy = { ...call, CallStatus: "busy", SequenceNumber: "2" };
const answered = { ...call, CallStatus: "in-progress" };

/** The same request without Twilio's signature. */
const unsigned = (request: Request): Request => {
  request.headers.delete("X-Twilio-Signature");
  return request;
};

/** A request whose body is read only if the test says so. */
const refusalOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof RefusedException ? error.reason : error),
  );

describe("receive", () => {
  const signedUrl = () => signUrl(statusUrl, { secret, context: { order: 17 } });

  test("reads a notification that Twilio signed, with the context of the signed URL", async () => {
    const { event, context } = await receive(signed(await signedUrl(), busy), { secret, service });
    expect(event).toMatchObject({
      known: true,
      type: "call.failed",
      call_id: call.CallSid,
      data: { reason: "busy", from: call.From, to: call.To },
    });
    expect(context).toEqual({ order: 17 });
  });

  test("takes Twilio's signature alone as a check, and the signed URL alone", async () => {
    const alone = await receive(signed(statusUrl, busy), { service });
    expect(alone.context).toEqual({});
    const withoutToken = serviceWith();
    const request = unsigned(signed(await signedUrl(), busy));
    const { context } = await receive(request, { secret, service: withoutToken });
    expect(context).toEqual({ order: 17 });
  });

  test("demands both if it has both secrets", async () => {
    const url = await signedUrl();
    for (const [request, reason] of [
      [unsigned(signed(url, busy)), "no_signature"],
      [signed(url, busy, url, "another token"), "wrong_signature"],
      [signed(url, busy, statusUrl), "wrong_signature"],
      [signed(statusUrl, busy), "no_token"],
      [signed(`${url}x`, busy), "no_token"],
      [signed(url.replace("status?", "flow?"), busy), "wrong_token"],
    ] as const) {
      expect(await refusalOf(receive(request, { secret, service }))).toBe(reason);
    }
  });

  test("needs a check: a service without its auth token is none", async () => {
    const request = signed(statusUrl, busy);
    await expect(receive(request, { service: serviceWith() })).rejects.toMatchObject({
      message: "secret is missing, as are webhookSecret and verify",
    });
    for (const wrong of [null, "twilio", []]) {
      const options = { secret, service: wrong } as never;
      await expect(receive(request, options)).rejects.toThrow("service must be made by twilio()");
    }
  });

  test("asks a function for the token at each request, and fails without one", async () => {
    const token = vi.fn<() => Promise<string | readonly string[] | undefined>>(
      async () => authToken,
    );
    const changing = serviceWith(token);
    await receive(signed(statusUrl, busy), { service: changing });
    token.mockResolvedValue("another");
    expect(await refusalOf(receive(signed(statusUrl, busy), { service: changing }))).toBe(
      "wrong_signature",
    );
    for (const wrong of [undefined, "", [], [authToken, ""]]) {
      token.mockResolvedValue(wrong);
      const request = signed(statusUrl, busy);
      await expect(receive(request, { service: changing })).rejects.toMatchObject({
        param: "authToken",
      });
    }
    expect(token).toHaveBeenCalledTimes(6);
  });

  test("a list of tokens is accepted, while one replaces another", async () => {
    const both = serviceWith(["another token", authToken]);
    expect((await receive(signed(statusUrl, busy), { service: both })).event.type).toBe(
      "call.failed",
    );
  });

  test("what Twilio signed, but is no notification of its, is refused", async () => {
    expect(await refusalOf(receive(signed(statusUrl, { A: "1" }), { service }))).toBe(
      "wrong_shape",
    );
    for (const twice of ["CallStatus", "Digits"]) {
      const fields: [string, string][] = [...Object.entries(busy), [twice, "1"], [twice, "2"]];
      expect(await refusalOf(receive(signed(statusUrl, fields), { service }))).toBe("wrong_shape");
    }
    const request = new Request(await signUrl(statusUrl, { secret }), {
      method: "POST",
      body: new Uint8Array([0xff]),
    });
    expect(await refusalOf(receive(request, { secret, service: serviceWith() }))).toBe("not_utf8");
  });

  test("behind a proxy, publicUrl is the URL that Twilio was given", async () => {
    const publicUrl = "https://app.test/voice/status";
    const url = await signUrl(publicUrl, { secret, context: { order: 17 } });
    const inside = url.replace("https://app.test/voice", "http://10.0.0.7:8080");
    const request = () => signed(inside, busy, url);
    const options = { secret, service, publicUrl };
    expect((await receive(request(), options)).context).toEqual({ order: 17 });
    expect(await refusalOf(receive(request(), { secret, service }))).toBe("wrong_token");
    expect(await refusalOf(receive(request(), { service }))).toBe("wrong_signature");
  });

  test("the fragment that asks Twilio to deliver again changes neither signature", async () => {
    const url = await signUrl(`${statusUrl}#rc=5&rp=ct,rt,5xx`, { secret });
    expect(url).toMatch(/#rc=5&rp=ct,rt,5xx$/);
    const [sent = ""] = url.split("#");
    for (const [seen, by] of [
      [sent, url],
      [url, sent],
    ] as const) {
      const { event } = await receive(signed(seen, busy, by), { secret, service });
      expect(event.type).toBe("call.failed");
    }
  });
});

const lost = new Error("the vault is away");

describe("callbackHandler", () => {
  const handle = async (request: Request, onEvent: (received: Received) => unknown = () => {}) => {
    const onError = vi.fn();
    const response = await callbackHandler({ service, onEvent, onError })(request);
    return { status: response.status, text: await response.text(), onError };
  };

  test("answers 204 to a notification that Twilio signed", async () => {
    const onEvent = vi.fn();
    expect(await handle(signed(statusUrl, busy), onEvent)).toMatchObject({ status: 204, text: "" });
    expect(onEvent).toHaveBeenCalledTimes(1);
  });

  test("answers with a fixed sentence and a status after which Twilio delivers again, or not", async () => {
    const onEvent = vi.fn();
    const none = await handle(unsigned(signed(statusUrl, busy)), onEvent);
    expect(none).toMatchObject({ status: 503, text: "X-Twilio-Signature is missing." });
    const wrong = await handle(signed(statusUrl, busy, flowUrl), onEvent);
    expect(wrong).toMatchObject({
      status: 401,
      text: "X-Twilio-Signature was made for another URL or body, or with another auth token. Behind a proxy, set publicUrl.",
    });
    for (const { onError } of [none, wrong]) {
      expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(RefusedException);
    }
    expect(onEvent).not.toHaveBeenCalled();
  });

  test("answers 503 when onEvent throws: Twilio delivers again after a 5xx", async () => {
    const lost = new Error("the database is away");
    const { status, onError } = await handle(signed(statusUrl, busy), () => Promise.reject(lost));
    expect(status).toBe(503);
    expect(onError).toHaveBeenCalledWith(lost, expect.any(Request), expect.any(String));
  });

  test.each<[string, () => Promise<string[]>, unknown]>([
    ["fails", () => Promise.reject(lost), lost],
    ["gives no token", async () => [], expect.objectContaining({ param: "authToken" })],
  ])("answers 503 when a function that %s is asked for the token", async (_, token, error) => {
    const onError = vi.fn();
    const handler = callbackHandler({ service: serviceWith(token), onEvent: () => {}, onError });
    expect((await handler(signed(statusUrl, busy))).status).toBe(503);
    expect(onError).toHaveBeenCalledWith(error, expect.any(Request));
  });
});

/** Answers a flow request, and follows the call to the URLs in the TwiML. */
const flow = (options: Pick<FlowOptions, "onAnswer"> & Partial<FlowOptions>) => {
  const onError = vi.fn();
  const handler = flowHandler({ secret, service, onError, ...options });
  const ask = async (url: string, fields: Readonly<Record<string, string>> = answered) => {
    const response = await handler(signed(url, fields));
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      xml: await response.text(),
    };
  };
  return { ask, onError };
};

/** The URL in the `action` of a TwiML document. */
const actionIn = (xml: string): string =>
  /action="([^"]*)"/.exec(xml)?.[1]?.replaceAll("&amp;", "&") ?? "";

describe("flowHandler", () => {
  test("answers TwiML to a request that Twilio signed, with the call and the context", async () => {
    const got: StepInput[] = [];
    const action = play("https://app.test/hello.wav");
    const { ask, onError } = flow({
      onAnswer: (answered) => {
        got.push(answered);
        return action;
      },
    });
    const url = await signUrl(flowUrl, { secret, context: { order: 17 } });
    expect(await ask(url, { ...answered, AnsweredBy: "human" })).toEqual({
      status: 200,
      type: "text/xml",
      xml: twimlOf(action),
    });
    expect(got).toEqual([
      {
        call: {
          ...answered,
          AnsweredBy: "human",
          call_id: call.CallSid,
          account_id: call.AccountSid,
          from_number: call.From,
          to_number: call.To,
          direction: "outbound",
          answered_by: "human",
        },
        context: { order: 17 },
        ...{ variables: {}, digits: "", attempt: 1, answers: {}, answered_by: "human" },
      },
    ]);
    expect(onError).not.toHaveBeenCalled();
  });

  test("refuses what Twilio did not sign", async () => {
    const onAnswer = vi.fn(hangup);
    const handler = flowHandler({ secret, service, onAnswer, onError: () => {} });
    const url = await signUrl(flowUrl, { secret });
    expect((await handler(unsigned(signed(url, answered)))).status).toBe(503);
    expect((await handler(signed(url, answered, flowUrl))).status).toBe(401);
    expect((await handler(signed(flowUrl, answered))).status).toBe(401);
    expect((await handler(signed(url, { AccountSid: call.AccountSid }))).status).toBe(400);
    const other = { ...answered, AccountSid: `AC${"2".repeat(32)}` };
    expect((await handler(signed(url, other))).status).toBe(401);
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test.each<[string, FlowOptions["onAnswer"], unknown]>([
    ["throws", () => Promise.reject(new TypeError("a bug")), { name: "TypeError" }],
    ["breaks a rule", () => ({ action: "play" }) as never, { param: "media_url" }],
    [
      "asks what Twilio can't do",
      () => stream("wss://app.test/media", { sample_rate: "16k" }),
      { param: "sample_rate" },
    ],
  ])("an onAnswer that %s is reported, and the answer hangs up", async (_, onAnswer, expected) => {
    const { ask, onError } = flow({ onAnswer });
    const url = await signUrl(flowUrl, { secret });
    expect(await ask(url)).toEqual({ status: 200, type: "text/xml", xml: twimlOf(hangup()) });
    expect(onError.mock.calls).toEqual([
      [expect.objectContaining(expected), expect.any(Request), expect.any(String)],
    ]);
  });

  test("has 12 s: Twilio waits 15", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let asked = () => {};
      const isAsked = new Promise<void>((resolve) => {
        asked = resolve;
      });
      const { ask, onError } = flow({
        onAnswer: () => {
          asked();
          return new Promise<never>(() => {});
        },
      });
      const response = ask(await signUrl(flowUrl, { secret }));
      await isAsked;
      await vi.advanceTimersByTimeAsync(11_999);
      expect(onError).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      expect((await response).xml).toBe(twimlOf(hangup()));
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ name: "TimeoutError" });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("what follows a dial", () => {
  const next = "https://app.test/flow/2";
  const busyMedia = "https://app.test/busy.wav?a=1&b=2";
  const branching = dial(number, {
    flow_url: next,
    on_busy: play(busyMedia, { flow_url: next }),
    on_failure: hangup(),
  });

  /** Dials, and returns what is answered once that has ended. */
  const follow = async (
    action: Action,
    DialCallStatus: string,
    options: Partial<FlowOptions> = {},
  ) => {
    const onAnswer = vi.fn(() => action);
    const { ask, onError } = flow({ ...options, onAnswer });
    const { xml } = await ask(await signUrl(flowUrl, { secret, context: { order: 17 } }));
    const after = await ask(actionIn(xml), { ...answered, DialCallStatus });
    expect(onError).not.toHaveBeenCalled();
    expect(onAnswer).toHaveBeenCalledTimes(1);
    return after.xml;
  };

  test.each<[string, string]>([
    ["busy", twimlOf(play(busyMedia, { flow_url: next }))],
    ["failed", twimlOf(hangup())],
    ...["no-answer", "completed", "canceled", "toString"].map((status): [string, string] => [
      status,
      twimlOf({ action: "redirect", flow_url: `${next}?DialCallStatus=${status}` }),
    ]),
  ])("%s is answered without onAnswer", async (status, xml) => {
    expect(await follow(branching, status)).toBe(xml);
  });

  test("a flow_url beside a branch gets what Twilio says of the second leg, but for its numbers and its recording", async () => {
    const said = {
      DialCallStatus: "completed",
      DialCallSid: "CA2",
      DialCallDuration: "5",
      DialBridged: "true",
    };
    const { ask } = flow({
      onAnswer: () => dial(number, { flow_url: `${next}?a=1#rc=2`, on_busy: hangup() }),
    });
    const { xml } = await ask(await signUrl(flowUrl, { secret }));
    const after = await ask(actionIn(xml), {
      ...{ ...answered, ...said },
      ...{ DialRingTo: number, RecordingUrl: "https://api.twilio.com/recording" },
    });
    expect(after.xml).toBe(
      twimlOf({ action: "redirect", flow_url: `${next}?a=1&${new URLSearchParams(said)}#rc=2` }),
    );
  });

  test("a flow_url that signUrl has signed is requested as it is", async () => {
    const flow_url = await signUrl(next, { secret });
    const xml = await follow(dial(number, { flow_url, on_busy: hangup() }), "completed");
    expect(xml).toBe(twimlOf({ action: "redirect", flow_url }));
  });

  test("on_no_answer follows, and without flow_url nothing else does", async () => {
    const on_no_answer = play(busyMedia);
    const action = dial(number, { on_no_answer });
    expect(await follow(action, "no-answer")).toBe(twimlOf(on_no_answer));
    expect(await follow(action, "completed")).toBe(twimlOf(hangup()));
  });

  test("the signed URL is the flow's own, keeps its query, and has the first of the secrets", async () => {
    const secrets = [secret, "another secret, which is older"];
    const { ask } = flow({ secret: secrets, onAnswer: () => branching });
    const { xml } = await ask(await signUrl(flowUrl, { secret }));
    const url = new URL(actionIn(xml));
    expect(url.href.replace(url.search, "")).toBe("https://app.test/flow");
    expect([...url.searchParams.keys()]).toEqual(["tenant", "outdial"]);
    expect(xml).not.toContain(next);
    const { ask: askNext } = flow({ onAnswer: hangup });
    expect((await askNext(url.href, { ...answered, DialCallStatus: "busy" })).status).toBe(200);
  });

  test("a URL that was changed is refused", async () => {
    const { ask } = flow({ onAnswer: () => branching });
    const { xml } = await ask(await signUrl(flowUrl, { secret }));
    const url = actionIn(xml);
    for (const changed of [
      url.replace("tenant=7", "tenant=8"),
      url.replace("tenant=7", "tenant=7&outdial-leg=1"),
    ]) {
      expect((await ask(changed)).status).toBe(401);
    }
  });

  test("a URL that only begins as that one is any other URL of the application", async () => {
    const onAnswer = vi.fn(hangup);
    const { ask } = flow({ onAnswer });
    await ask(await signUrl("https://app.test/flow?outdial-dial=1&outdial=1&a=2", { secret }));
    expect(onAnswer).toHaveBeenCalledTimes(1);
  });

  test("behind a proxy it has the origin and path of publicUrl", async () => {
    const publicUrl = "https://app.test/voice/flow";
    const onAnswer = vi.fn(() => branching);
    const handler = flowHandler({ secret, service, publicUrl, onAnswer });
    const inside = (url: string) => url.replace("https://app.test/voice", "http://10.0.0.7");
    const ask = async (url: string, fields: Readonly<Record<string, string>>) =>
      (await handler(signed(inside(url), fields, url))).text();
    const url = actionIn(await ask(await signUrl(publicUrl, { secret }), answered));
    expect(url).toMatch(/^https:\/\/app\.test\/voice\/flow\?outdial=/);
    expect(await ask(url, { ...answered, DialCallStatus: "failed" })).toBe(twimlOf(hangup()));
    expect(onAnswer).toHaveBeenCalledTimes(1);
  });

  test.each<[string, Action, string, Partial<FlowOptions>?]>([
    ["without secret", branching, "on_busy needs the option secret of flowHandler", {}],
    [
      "with URLs that are too long together",
      dial(number, {
        on_busy: play(`https://app.test/${"x".repeat(1900)}`),
        on_failure: play(`https://app.test/${"x".repeat(1900)}`),
      }),
      "on_busy needs a URL of 5560 characters, above 4000",
      { secret },
    ],
  ])("%s a branch is refused by its name", async (_, action, message, options = {}) => {
    const onError = vi.fn();
    const handler = flowHandler({ service, onAnswer: () => action, onError, ...options });
    const url = await signUrl(flowUrl, { secret });
    const response = await handler(signed(url, answered));
    expect(await response.text()).toBe(twimlOf(hangup()));
    expect(onError.mock.calls[0]?.[0]).toBeInstanceOf(BadParametersException);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ message });
  });

  test("a request's URL that Twilio can't be given is refused, and publicUrl mends it", async () => {
    const onError = vi.fn();
    const options = { secret, service: serviceWith(), onAnswer: () => branching, onError };
    const url = (await signUrl(flowUrl, { secret })).replace("https", "http");
    const response = await flowHandler(options)(signed(url, answered));
    expect(await response.text()).toBe(twimlOf(hangup()));
    expect(onError.mock.calls[0]?.[0]).toMatchObject({
      message:
        "on_busy is answered at a signed URL, which must be https: plain http is for localhost only",
    });
    const publicUrl = "https://app.test/flow";
    const mended = await flowHandler({ ...options, publicUrl })(signed(url, answered));
    expect(await mended.text()).toContain("<Number>");
  });

  test("whoever has no secret can't decide what follows", async () => {
    const onAnswer = vi.fn(hangup);
    const context = { on_busy: play(busyMedia) };
    const forged = await signUrl("https://app.test/flow?outdial-dial=1", {
      secret: "a secret that somebody made up",
      context,
    });
    const fields = { ...answered, DialCallStatus: "busy" };
    const handler = flowHandler({ secret, service, onAnswer, onError: () => {} });
    expect((await handler(signed(forged, fields))).status).toBe(401);
    const withoutSecret = flowHandler({ service, onAnswer });
    expect(await (await withoutSecret(signed(forged, fields))).text()).toBe(twimlOf(hangup()));
    expect(onAnswer).toHaveBeenCalledTimes(1);
  });
});
