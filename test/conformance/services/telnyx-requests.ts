import { assert } from "chai";
import { callbackHandler, RefusedException, receive, signUrl } from "outdial/callbacks";
import { dial, flowHandler, hangup, play, stream } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import { at, post, secret } from "../callbacks/fixtures.ts";
import type { Case } from "../case.ts";

export const applicationId = "1494404757140276705";

/** A body and its signature by the key of RFC 8032's first test, made with Node's own Ed25519. */
const vector = {
  publicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
  time: 1_793_404_800,
  form: "AccountSid=acc_1&CallSid=v3%3Aabc&CallStatus=completed&From=%2B12025550199&To=%2B12025550100",
  signature:
    "46wohDF+cRhXx2CdriwomR55HlvqYRwYQUvXRgBi/0dzBzh9bmnzntq/4p5PjFo3npOH3vWu6kEj59A5ngdTCA==",
};
const service = telnyx({ applicationId, publicKey: vector.publicKey });
const form = { "content-type": "application/x-www-form-urlencoded" };

/** The body of the vector, with its signature or another, at any URL. */
const signed = (
  url: string,
  { body = vector.form, signature = vector.signature, time = vector.time } = {},
): Request =>
  post(url, body, {
    ...form,
    "telnyx-signature-ed25519": signature,
    "telnyx-timestamp": String(time),
  });

const reasonOf = async (request: Request): Promise<unknown> =>
  receive(request, { service }).then(
    () => undefined,
    (error: unknown) => (error instanceof RefusedException ? error.reason : error),
  );

/** Runs at the second at which the vector was signed. */
const thenAt = <T>(work: () => Promise<T>, later = 0): Promise<T> => at(vector.time + later, work);

/** Of an answered call, whose flow requests are verified by the signed URL alone. */
const answered = new URLSearchParams({
  AccountSid: "acc_1",
  CallSid: "v3:abc",
  CallStatus: "in-progress",
  From: "+12025550199",
  To: "+12025550188",
});

export const requests: readonly Case[] = [
  {
    name: "telnyx: an Ed25519 signature is accepted for 5 minutes, and refused for any other body or time",
    run: async () => {
      const url = "https://app.test/status";
      const { form: body, signature, time } = vector;
      assert.isUndefined(await thenAt(() => reasonOf(signed(url)), 299));
      assert.equal(await thenAt(() => reasonOf(signed(url)), 301), "expired_signature");
      assert.equal(await thenAt(() => reasonOf(signed(url)), -301), "expired_signature");
      for (const wrong of [
        { body: `${body}&a=b` },
        { time: time + 1 },
        { signature: `A${signature.slice(1)}` },
        { signature: signature.slice(4) },
        { signature: btoa("x".repeat(64)) },
      ]) {
        const reason = await thenAt(() => reasonOf(signed(url, wrong)));
        assert.equal(reason, "wrong_signature");
      }
      assert.equal(await thenAt(() => reasonOf(post(url, body, form))), "no_signature");
    },
  },
  {
    name: "telnyx: a notification that it signed becomes an event, with the context of the signed URL",
    run: () =>
      thenAt(async () => {
        const url = await signUrl("https://app.test/status", { secret, context: { order: 17 } });
        const { event, context } = await receive(signed(url), { secret, service });
        assert.deepEqual(context, { order: 17 });
        assert.deepInclude(event, {
          known: true,
          type: "call.completed",
          account_id: "acc_1",
          call_id: "v3:abc",
        });
        assert.deepInclude(event.data, { from: "+12025550199", to: "+12025550100" });
      }),
  },
  {
    name: "telnyx: an unsigned request is answered 503, a forged one 401",
    run: () =>
      thenAt(async () => {
        const url = await signUrl("https://app.test/status", { secret });
        const handler = callbackHandler({ secret, service, onEvent() {}, onError() {} });
        const statuses = [
          post(url, vector.form, form),
          signed(url, { body: `${vector.form}&a=b` }),
          signed(url),
        ].map(async (request) => (await handler(request)).status);
        assert.deepEqual(await Promise.all(statuses), [503, 401, 204]);
      }),
  },
  {
    name: "telnyx: actions are answered as TeXML, and what it can't do is reported and hung up",
    run: async () => {
      const ws_url = await signUrl("wss://app.test/media?a=1", { secret });
      for (const [action, expected, errors] of [
        [
          play("https://app.test/a.wav?b=<&c"),
          "<Play>https://app.test/a.wav?b=%3C&amp;c</Play><Hangup/></Response>",
          0,
        ],
        [stream(ws_url), '<Connect><Stream url="wss://app.test/media" codec="PCMU"', 0],
        [stream(ws_url), '<Parameter name="outdial.0" value="a=1&amp;', 0],
        [dial("sip:a&b@c"), "<Sip>sip:a&amp;b@c</Sip></Dial>", 0],
        [hangup(), "<Response><Hangup/></Response>", 0],
        [stream(ws_url, { sample_rate: "16k" }), "<Response><Hangup/></Response>", 1],
      ] as const) {
        const reported: unknown[] = [];
        const flow = flowHandler({
          secret,
          service: telnyx({ applicationId }),
          onAnswer: () => action,
          onError: (error) => reported.push(error),
        });
        const url = await signUrl("https://app.test/flow", { secret });
        const response = await flow(post(url, answered.toString(), form));
        assert.equal(response.headers.get("content-type"), "text/xml");
        assert.include(await response.text(), expected);
        assert.lengthOf(reported, errors);
      }
    },
  },
];
