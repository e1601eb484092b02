import { assert } from "chai";
import { callbackHandler, receive, signUrl } from "outdial/callbacks";
import { dial, flowHandler, hangup, stream } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import type { Case } from "../case.ts";
import { post, secret } from "./fixtures.ts";

const applicationId = "1494404757140276705";
/** The key of RFC 8032's first test: no runtime here has to make one. */
const publicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const service = telnyx({ applicationId, publicKey });
const form = { "content-type": "application/x-www-form-urlencoded" };
const call = { AccountSid: "acc_1", CallSid: "v3:abc", From: "+12025550199", To: "+12025550100" };

/** Signed at one time, by another implementation. */
const timestamp = "1793404800";
const vectors: readonly (readonly [body: string, signature: string])[] = [
  [
    '{"data":{"event_type":"call.hangup","id":"0ccc7b54-4df3-4bca-a65a-3da1ecc777f0"}}',
    "Vm4XAU5WSLSOZFohkLf/v+5j9eFrFhmfXBvAozApC/B9115QpAqrioTHKoWYpQaBLkWGoSOOyHzvbBJ5SmD0CQ==",
  ],
  [
    "AccountSid=acc_1&CallSid=v3%3Aabc&CallStatus=completed&From=%2B12025550199&To=%2B12025550100",
    "46wohDF+cRhXx2CdriwomR55HlvqYRwYQUvXRgBi/0dzBzh9bmnzntq/4p5PjFo3npOH3vWu6kEj59A5ngdTCA==",
  ],
];

/** Why a message is refused. A right signature of another day is an expired one. */
const reasonOf = async (body: string, signature: string, at = timestamp) => {
  const headers = { "telnyx-signature-ed25519": signature, "telnyx-timestamp": at };
  const request = post("https://app.test/status", body, headers);
  return (
    await service.application.verify?.(request, new TextEncoder().encode(body), undefined)
  )?.[0];
};

const unverified = telnyx({ applicationId });

export const cases: readonly Case[] = [
  {
    name: "telnyx: a signature is verified by Ed25519, for its time and its body alone",
    run: async () => {
      for (const [body, signature] of vectors) {
        assert.equal(await reasonOf(body, signature), "expired_signature");
        assert.equal(await reasonOf(`${body}&a=b`, signature), "wrong_signature");
        assert.equal(await reasonOf(body, signature, "1793404801"), "wrong_signature");
        assert.equal(await reasonOf(body, `A${signature.slice(1)}`), "wrong_signature");
        assert.equal(await reasonOf(body, `${signature.slice(4, -2)}==`), "wrong_signature");
      }
      const handler = callbackHandler({ secret, service, onEvent() {} });
      const url = await signUrl("https://app.test/status", { secret });
      assert.equal((await handler(post(url, "A=1", form))).status, 503);
    },
  },
  {
    name: "telnyx: a notification becomes an event, with the context of the signed URL",
    run: async () => {
      const fields = {
        ...call,
        ...{ CallStatus: "failed", HangupCause: "call_rejected", SequenceNumber: "2" },
        Timestamp: "2026-11-22T04:00:07Z",
      };
      const url = await signUrl("https://app.test/status", { secret, context: { order: 17 } });
      const request = post(url, new URLSearchParams(fields).toString(), form);
      const { event, context } = await receive(request, { secret, service: unverified });
      assert.deepEqual(context, { order: 17 });
      const occurred_at = "2026-11-22T04:00:07.000Z";
      assert.deepEqual(event, {
        known: true,
        id: "v3:abc.2",
        type: "call.failed",
        occurred_at,
        account_id: call.AccountSid,
        call_id: call.CallSid,
        data: {
          ...fields,
          from: call.From,
          to: call.To,
          reason: "rejected",
          hangup_time: occurred_at,
        },
      });
    },
  },
  {
    name: "telnyx: actions are answered as TeXML, and what it can't do is reported and hung up",
    run: async () => {
      const start = '<?xml version="1.0" encoding="UTF-8"?><Response>';
      const attributes =
        'codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU" enableReconnect="false"';
      for (const [action, xml, errors] of [
        [
          stream("wss://app.test/media?a=1&b=2"),
          `<Connect><Stream url="wss://app.test/media" ${attributes}><Parameter name="outdial.0" value="a=1&amp;b=2"/></Stream></Connect><Hangup/>`,
          0,
        ],
        [dial("sip:a&b@c"), '<Dial callerId="+12025550199"><Sip>sip:a&amp;b@c</Sip></Dial>', 0],
        [dial("sip:{{To}}@c"), "<Hangup/>", 1],
        [hangup(), "<Hangup/>", 0],
      ] as const) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const options = { secret, service: unverified, onError };
        const flow = flowHandler({ ...options, onAnswer: () => action });
        const url = await signUrl("https://app.test/flow", { secret });
        const body = new URLSearchParams({ ...call, CallStatus: "in-progress" }).toString();
        const response = await flow(post(url, body, form));
        assert.equal(response.headers.get("content-type"), "text/xml");
        assert.equal(await response.text(), `${start}${xml}</Response>`);
        assert.lengthOf(reported, errors);
      }
    },
  },
];
