import { describe, expect, test, vi } from "vitest";
import { RefusedException } from "../../../src/callbacks/errors.ts";
import { callbackHandler, receive } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { texmlOf } from "../../../src/carriers/telnyx/texml.ts";
import { type Action, dial, hangup, play, stream } from "../../../src/flows/actions.ts";
import { type FlowOptions, flowHandler } from "../../../src/flows/handler.ts";
import { service, serviceWith } from "./service.ts";
import { headersOf, now, publicKey, signed } from "./sign.ts";

const secret = "a secret that was made at random";
const statusUrl = "https://app.test/status";
const flowUrl = "https://app.test/flow?tenant=7";
const number = "+12025550100";
const call = {
  AccountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
  CallSid: "v3:9X2vxPDFY2RHSJ1EdMS0RHRksMTg7ldNxdjWbVr9zBjbGjGsSe-aiQ",
  ConnectionId: "1494404757140276705",
  From: "+12025550199",
  To: number,
};
const busy = { ...call, CallStatus: "busy", SequenceNumber: "2" };
const answered = { ...call, CallStatus: "in-progress" };

/** The same request with other headers of Telnyx's, or without. */
const resigned = (request: Request, headers: Readonly<Record<string, string>> = {}): Request => {
  for (const name of ["Telnyx-Signature-Ed25519", "Telnyx-Timestamp"]) request.headers.delete(name);
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
  return request;
};

const refusalOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "accepted",
    (error: unknown) => (error instanceof RefusedException ? error.reason : error),
  );

describe("receive", () => {
  const signedUrl = () => signUrl(statusUrl, { secret, context: { order: 17 } });

  test("reads a notification that Telnyx signed, with the context of the signed URL", async () => {
    const { event, context } = await receive(signed(await signedUrl(), busy), { secret, service });
    expect(event).toMatchObject({ known: true, type: "call.failed", call_id: call.CallSid });
    expect(context).toEqual({ order: 17 });
  });

  test("takes Telnyx's signature alone as a check, and the signed URL alone", async () => {
    expect((await receive(signed(statusUrl, busy), { service })).context).toEqual({});
    const request = resigned(signed(await signedUrl(), busy));
    const { context } = await receive(request, { secret, service: serviceWith() });
    expect(context).toEqual({ order: 17 });
  });

  test("demands both if it has both secrets", async () => {
    const url = await signedUrl();
    const body = new URLSearchParams(busy).toString();
    for (const [request, reason] of [
      [resigned(signed(url, busy)), "no_signature"],
      [resigned(signed(url, busy), headersOf(`${body}&A=1`)), "wrong_signature"],
      [resigned(signed(url, busy), headersOf(body, String(now() - 310))), "expired_signature"],
      [signed(statusUrl, busy), "no_token"],
      [signed(url.replace("status?", "flow?"), busy), "wrong_token"],
    ] as const) {
      expect(await refusalOf(receive(request, { secret, service }))).toBe(reason);
    }
  });

  test("needs a check: a service without its public key is none", async () => {
    const request = signed(statusUrl, busy);
    await expect(receive(request, { service: serviceWith() })).rejects.toMatchObject({
      message: "secret is missing, as are webhookSecret and verify",
    });
  });

  test("asks a function for the key at each request, and fails without one", async () => {
    const key = vi.fn<() => Promise<string | string[] | undefined>>(async () => publicKey);
    const changing = serviceWith(key);
    await receive(signed(statusUrl, busy), { service: changing });
    for (const wrong of [undefined, "", [], [publicKey, "11qY"]]) {
      key.mockResolvedValue(wrong);
      await expect(receive(signed(statusUrl, busy), { service: changing })).rejects.toMatchObject({
        param: "publicKey",
      });
    }
    expect(key).toHaveBeenCalledTimes(5);
  });

  test("behind a proxy, publicUrl is the URL that was signed; Telnyx's signature covers none", async () => {
    const publicUrl = "https://app.test/voice/status";
    const url = await signUrl(publicUrl, { secret, context: { order: 17 } });
    const request = () => signed(url.replace("https://app.test/voice", "http://10.0.0.7"), busy);
    const options = { secret, service };
    expect((await receive(request(), { ...options, publicUrl })).context).toEqual({ order: 17 });
    expect(await refusalOf(receive(request(), options))).toBe("wrong_token");
  });
});

test("callbackHandler answers 204, 503 for what Telnyx shall deliver again, and 401 for a forgery", async () => {
  const lost = new Error("the database is away");
  const onEvent = vi.fn();
  const onError = vi.fn();
  const handler = callbackHandler({ service, onEvent, onError });
  expect((await handler(signed(statusUrl, busy))).status).toBe(204);
  expect((await handler(resigned(signed(statusUrl, busy)))).status).toBe(503);
  const forged = await handler(resigned(signed(statusUrl, busy), headersOf("CallStatus=busy")));
  expect(forged.status).toBe(401);
  expect(await forged.text()).toBe(
    "The signature of Telnyx was made for another body or time, or with another key.",
  );
  expect(onEvent).toHaveBeenCalledTimes(1);
  onEvent.mockRejectedValue(lost);
  expect((await handler(signed(statusUrl, busy))).status).toBe(503);
  expect(onError).toHaveBeenLastCalledWith(lost, expect.any(Request), expect.any(String));
});

/** Answers a flow request, and follows the call to the URLs in the TeXML. */
const flow = (options: Pick<FlowOptions, "onAnswer"> & Partial<FlowOptions>) => {
  const onError = vi.fn();
  const handler = flowHandler({ secret, service, onError, ...options });
  const ask = async (url: string, fields: Readonly<Record<string, string>> = answered) => {
    const response = await handler(signed(url, fields));
    const type = response.headers.get("content-type");
    return { status: response.status, type, xml: await response.text() };
  };
  return { ask, onError };
};

describe("flowHandler", () => {
  test("answers TeXML to a request that Telnyx signed", async () => {
    const action = play("https://app.test/hello.wav");
    const { ask } = flow({ onAnswer: () => action });
    const url = await signUrl(flowUrl, { secret });
    expect(await ask(url)).toEqual({ status: 200, type: "text/xml", xml: texmlOf(action) });
    expect((await ask(flowUrl)).status).toBe(401);
  });

  test("what Telnyx can't do is reported, and the answer hangs up", async () => {
    const { ask, onError } = flow({
      onAnswer: () => stream("wss://app.test/media", { sample_rate: "16k" }),
    });
    expect((await ask(await signUrl(flowUrl, { secret }))).xml).toBe(texmlOf(hangup()));
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ param: "sample_rate" }),
      expect.any(Request),
      expect.any(String),
    );
  });

  test("a dial shows the number of the call, unless it is none", async () => {
    const { ask } = flow({ onAnswer: () => dial(number) });
    const url = await signUrl(flowUrl, { secret });
    expect((await ask(url)).xml).toContain(`<Dial callerId="${call.From}">`);
    for (const From of ["anonymous", "sip:a@b", '+1"/><Hangup/>']) {
      expect((await ask(url, { ...answered, From })).xml).toContain("<Dial><Number>");
    }
  });
});

describe("what follows a dial", () => {
  const next = "https://app.test/flow/2";
  const branching = dial(number, {
    flow_url: next,
    on_busy: play("https://app.test/busy.wav?a=1&b=2", { flow_url: next }),
    on_failure: hangup(),
  });

  test.each<[string, Action | { readonly action: "redirect"; readonly flow_url: string }]>([
    ["busy", branching.on_busy ?? hangup()],
    ["failed", hangup()],
    ["no-answer", { action: "redirect", flow_url: `${next}?DialCallStatus=no-answer` }],
    ["completed", { action: "redirect", flow_url: `${next}?DialCallStatus=completed` }],
    ["canceled", { action: "redirect", flow_url: `${next}?DialCallStatus=canceled` }],
  ])("%s is answered at a signed URL, without onAnswer", async (DialCallStatus, action) => {
    const onAnswer = vi.fn(() => branching);
    const { ask, onError } = flow({ onAnswer });
    const { xml } = await ask(await signUrl(flowUrl, { secret }));
    const url = /action="([^"]*)"/.exec(xml)?.[1]?.replaceAll("&amp;", "&") ?? "";
    expect((await ask(url, { ...answered, DialCallStatus })).xml).toBe(texmlOf(action));
    expect((await ask(url.replace("tenant=7", "tenant=8"))).status).toBe(401);
    expect(onAnswer).toHaveBeenCalledTimes(1);
    expect(onError).toHaveBeenCalledTimes(1);
  });
});
