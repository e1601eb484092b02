import { assert } from "chai";
import { BadParametersException } from "outdial";
import { callbackHandler, RefusedException, receive, signUrl } from "outdial/callbacks";
import { dial, flowHandler, hangup, play, stream } from "outdial/flows";
import { twilio } from "outdial/twilio";
import type { Case } from "../case.ts";
import { post, rejection, secret } from "./fixtures.ts";

const accountSid = "AC00000000000000000000000000000001";
const authToken = "12345";
const service = twilio({ accountSid, authToken });
const call = {
  AccountSid: accountSid,
  CallSid: "CA00000000000000000000000000000002",
  From: "+12025550199",
  To: "+12025550188",
  Direction: "outbound-api",
};

/** Signs what Twilio's documentation says: the URL, and the fields by their names. */
const signatureOf = async (url: string, fields: Readonly<Record<string, string>>) => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const key = await crypto.subtle.importKey(
    "raw",
    bytes(authToken),
    { name: "HMAC", hash: "SHA-1" },
    false,
    ["sign"],
  );
  const names = Object.keys(fields).sort();
  const text = url + names.map((name) => `${name}${fields[name]}`).join("");
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(text)));
  return btoa(String.fromCharCode(...mac));
};

const form = { "content-type": "application/x-www-form-urlencoded" };

/** A request of Twilio's, signed for this URL. */
const signed = async (url: string, fields: Readonly<Record<string, string>>): Promise<Request> =>
  post(url, new URLSearchParams(fields).toString(), {
    ...form,
    "x-twilio-signature": await signatureOf(url.replace(/#.*/, ""), fields),
  });

const specUrl = "https://mycompany.com/myapp.php?foo=1&bar=2";

/** What Twilio's documentation and the tests of its client publish. */
const vectors: readonly (readonly [url: string, body: string, signature: string])[] = [
  [
    "https://example.com/myapp.php?foo=1&bar=2",
    "CallSid=CA1234567890ABCDE&Caller=%2B14158675310&Digits=1234&From=%2B14158675310&To=%2B18005551212",
    "L/OH5YylLD5NRKLltdqwSvS0BnU=",
  ],
  [
    specUrl,
    "CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212",
    "RSOYDt4T1cUTdK1PDd93/VVr8B8=",
  ],
  [
    specUrl,
    "Sid=CA123&SidAccount=AC123&Digits=5678&Digits=1234&Digits=1234",
    "IK+Dwps556ElfBT0I3Rgjkr1wJU=",
  ],
  [
    `${specUrl}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
    '{"property": "value", "boolean": true}',
    "a9nBmqA0ju/hNViExpshrM61xv4=",
  ],
];

const reasonOf = async (url: string, body: string, signature: string) => {
  const request = post(url, body, { "X-Twilio-Signature": signature });
  const bytes = new TextEncoder().encode(body);
  return (await service.application.verify?.(request, bytes, undefined))?.[0];
};

const answered = { ...call, CallStatus: "in-progress" };

export const cases: readonly Case[] = [
  {
    name: "twilio: every published signature is accepted, and refused for any other body",
    run: async () => {
      for (const [url, body, signature] of vectors) {
        assert.isUndefined(await reasonOf(url, body, signature), url);
        assert.isUndefined(await reasonOf(url.replace("com/", "com:443/"), body, signature));
        assert.equal(await reasonOf(url, `${body}&a=b`, signature), "wrong_signature");
        assert.equal(await reasonOf(`${url}&a=b`, body, signature), "wrong_signature");
        assert.equal(await reasonOf(url, body, `A${signature.slice(1)}`), "wrong_signature");
      }
    },
  },
  {
    name: "twilio: a notification that it signed becomes an event, with the context of the signed URL",
    run: async () => {
      const fields = {
        ...call,
        CallStatus: "no-answer",
        SequenceNumber: "2",
        Timestamp: "Sun, 22 Nov 2026 04:00:07 +0000",
        ToCity: "São Paulo & 'Co'",
      };
      const url = await signUrl("https://app.test/status#rc=5&rp=ct,rt,5xx", {
        secret,
        context: { order: 17 },
      });
      const { event, context } = await receive(await signed(url, fields), { secret, service });
      assert.deepEqual(context, { order: 17 });
      const occurred_at = "2026-11-22T04:00:07.000Z";
      assert.deepEqual(event, {
        known: true,
        id: `${call.CallSid}.2`,
        type: "call.failed",
        occurred_at,
        account_id: accountSid,
        call_id: call.CallSid,
        data: {
          ...fields,
          from: call.From,
          to: call.To,
          reason: "no_answer",
          hangup_time: occurred_at,
        },
      });
    },
  },
  {
    name: "twilio: an unsigned request is answered 503, a forged one 401, and a failure 503",
    run: async () => {
      const fields = { ...call, CallStatus: "ringing" };
      const url = await signUrl("https://app.test/status", { secret });
      const body = new URLSearchParams(fields).toString();
      const forged = await signatureOf("https://app.test/status", fields);
      const reported: unknown[] = [];
      const onError = (error: unknown) => reported.push(error);
      const onEvent = () => Promise.reject(new Error("the database is away"));
      const handler = callbackHandler({ secret, service, onEvent, onError });
      const statuses = [
        post(url, body, form),
        post(url, body, { ...form, "x-twilio-signature": forged }),
        await signed(url, fields),
      ].map(async (request) => (await handler(request)).status);
      assert.deepEqual(await Promise.all(statuses), [503, 401, 503]);
      assert.sameMembers(
        reported.map((error) => (error instanceof RefusedException ? error.reason : String(error))),
        ["no_signature", "wrong_signature", "Error: the database is away"],
      );
      const without = twilio({ accountSid });
      const alone = callbackHandler({ secret, service: without, onEvent() {} });
      assert.equal((await alone(post(url, body, form))).status, 204);
      const error = await rejection(receive(post(url, body, form), { service: without }));
      assert.instanceOf(error, BadParametersException);
    },
  },
  {
    name: "twilio: actions are answered as TwiML, and what it can't do is reported and hung up",
    run: async () => {
      const start = '<?xml version="1.0" encoding="UTF-8"?><Response>';
      const ws_url = await signUrl("wss://app.test/media?a=1", { secret });
      const query = ws_url.slice(ws_url.indexOf("?") + 1).replaceAll("&", "&amp;");
      for (const [action, xml, errors] of [
        [
          play("https://app.test/a.wav?b=<&c"),
          "<Play>https://app.test/a.wav?b=%3C&amp;c</Play><Hangup/>",
          0,
        ],
        [
          stream(ws_url),
          `<Connect><Stream url="wss://app.test/media"><Parameter name="outdial.0" value="${query}"/></Stream></Connect>`,
          0,
        ],
        [dial("sip:a&b@c"), "<Dial><Sip>sip:a&amp;b@c</Sip></Dial>", 0],
        [hangup(), "<Hangup/>", 0],
        [stream(ws_url, { sample_rate: "16k" }), "<Hangup/>", 1],
      ] as const) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const flow = flowHandler({ secret, service, onAnswer: () => action, onError });
        const url = await signUrl("https://app.test/flow", { secret });
        const response = await flow(await signed(url, answered));
        assert.equal(response.headers.get("content-type"), "text/xml");
        assert.equal(await response.text(), `${start}${xml}</Response>`);
        assert.lengthOf(reported, errors);
      }
    },
  },
  {
    name: "twilio: what follows a dial is answered at a signed URL of the flow's own",
    run: async () => {
      let asked = 0;
      const flow = flowHandler({
        secret,
        service,
        onAnswer: () => {
          asked++;
          return dial("+12025550100", { on_busy: play("https://app.test/é.wav") });
        },
      });
      const url = await signUrl("https://app.test/flow/%C3%A9?a=1", { secret });
      const dialled = await (await flow(await signed(url, answered))).text();
      const action = /action="([^"]+)"/.exec(dialled)?.[1]?.replaceAll("&amp;", "&") ?? "";
      for (const [DialCallStatus, element] of [
        ["busy", "<Play>https://app.test/%C3%A9.wav</Play>"],
        ["completed", "<Response><Hangup/>"],
      ] as const) {
        const response = await flow(await signed(action, { ...answered, DialCallStatus }));
        assert.include(await response.text(), element);
      }
      const forged = action.replace("a=1", "a=2");
      assert.equal((await flow(await signed(forged, answered))).status, 401);
      assert.equal(asked, 1);
    },
  },
];
