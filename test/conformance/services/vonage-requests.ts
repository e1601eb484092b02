import { assert } from "chai";
import { callbackHandler, RefusedException, receive, signUrl } from "outdial/callbacks";
import { dial, flowHandler, hangup, play, stream } from "outdial/flows";
import { vonage } from "outdial/vonage";
import { post, secret } from "../callbacks/fixtures.ts";
import type { Case } from "../case.ts";

export const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
const signatureSecret = "the signature secret of an account";
const service = vonage({ applicationId, signatureSecret });
const uuid = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab";
const call = { from: "12025550199", to: "12025550188", uuid };
const busy = { ...call, status: "busy", timestamp: "2026-11-22T04:00:07Z" };

const bytes = (text: string) => new TextEncoder().encode(text);

const base64url = (text: string): string =>
  btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** The token of a signed webhook: RFC 7519 with HS256, and the hash of the body in a claim. */
const tokenFor = async (body: string, age = 0): Promise<string> => {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes(body)));
  const payload_hash = [...digest].map((each) => each.toString(16).padStart(2, "0")).join("");
  const iat = Math.floor(Date.now() / 1000) - age;
  const claims = { iat, jti: "c0ffee", iss: "Vonage", payload_hash, api_key: "a1b2c3d4" };
  const signed = [{ alg: "HS256", typ: "JWT" }, claims]
    .map((part) => base64url(JSON.stringify(part)))
    .join(".");
  const key = await crypto.subtle.importKey(
    "raw",
    bytes(signatureSecret),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const mac = new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes(signed)));
  return `${signed}.${base64url(String.fromCharCode(...mac))}`;
};

const json = { "content-type": "application/json" };

/** A request of Vonage's, whose token is for a body. */
const signed = async (url: string, fields: object, of = fields, age = 0): Promise<Request> => {
  const authorization = `Bearer ${await tokenFor(JSON.stringify(of), age)}`;
  return post(url, JSON.stringify(fields), { ...json, authorization });
};

const reasonOf = async (request: Request): Promise<unknown> =>
  receive(request, { service }).then(
    () => undefined,
    (error: unknown) => (error instanceof RefusedException ? error.reason : error),
  );

export const requests: readonly Case[] = [
  {
    name: "vonage: a signed webhook is accepted, and refused for any other body or age",
    run: async () => {
      const url = "https://app.test/status";
      assert.isUndefined(await reasonOf(await signed(url, busy)));
      const other = { ...busy, status: "completed" };
      assert.equal(await reasonOf(await signed(url, other, busy)), "wrong_signature");
      assert.equal(await reasonOf(await signed(url, busy, busy, 400)), "expired_signature");
      assert.equal(await reasonOf(await signed(url, busy, busy, -400)), "expired_signature");
      assert.equal(await reasonOf(post(url, JSON.stringify(busy), json)), "no_signature");
      const none = `${base64url('{"alg":"none"}')}.${base64url("{}")}.`;
      const unsigned = post(url, JSON.stringify(busy), {
        ...json,
        authorization: `Bearer ${none}`,
      });
      assert.equal(await reasonOf(unsigned), "wrong_signature");
    },
  },
  {
    name: "vonage: a notification that it signed becomes an event, with the context of the signed URL",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret, context: { order: 17 } });
      const { event, context } = await receive(await signed(url, busy), { secret, service });
      assert.deepEqual(context, { order: 17 });
      assert.deepInclude(event, {
        known: true,
        type: "call.failed",
        account_id: applicationId,
        call_id: uuid,
      });
      assert.deepInclude(event.data, {
        reason: "busy",
        from: "+12025550199",
        to: "+12025550188",
        hangup_time: "2026-11-22T04:00:07.000Z",
      });
      const ended = { ...call, status: "completed", duration: "0", start_time: null };
      const again = await receive(await signed(url, ended), { secret, service });
      assert.equal(again.event.type, "call.ended");
    },
  },
  {
    name: "vonage: an unsigned request is answered 503, a forged one 401, and a failure 503",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const onEvent = () => Promise.reject(new Error("the database is away"));
      const handler = callbackHandler({ secret, service, onEvent, onError: () => {} });
      const statuses = [
        post(url, JSON.stringify(busy), json),
        await signed(url, busy, call),
        await signed(url, busy),
      ].map(async (request) => (await handler(request)).status);
      assert.deepEqual(await Promise.all(statuses), [503, 401, 503]);
    },
  },
  {
    name: "vonage: actions are answered as an NCCO, and what it can't do is reported and hung up",
    run: async () => {
      const media = "wss://app.test/media?outdial=1.e30.x";
      for (const [action, expected, errors] of [
        [
          play("https://app.test/ü.wav"),
          { action: "stream", streamUrl: ["https://app.test/%C3%BC.wav"] },
          0,
        ],
        [
          stream(media, { sample_rate: "16k" }),
          {
            action: "connect",
            endpoint: [
              {
                type: "websocket",
                uri: media,
                "content-type": "audio/l16;rate=16000",
                headers: { call_id: uuid },
              },
            ],
          },
          0,
        ],
        [
          dial("+12025550100"),
          { action: "connect", endpoint: [{ type: "phone", number: "12025550100" }] },
          0,
        ],
        [hangup(), undefined, 0],
        [stream(media, { chunk_size: 100 }), undefined, 1],
      ] as const) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const flow = flowHandler({ secret, service, onAnswer: () => action, onError });
        const url = await signUrl("https://app.test/flow", { secret });
        const response = await flow(await signed(url, call));
        assert.match(String(response.headers.get("content-type")), /^application\/json/);
        const [first, ...others] = await response.json();
        assert.lengthOf(others, 0);
        if (expected) assert.deepInclude(first, expected);
        else assert.isUndefined(first);
        assert.lengthOf(reported, errors);
      }
    },
  },
  {
    name: "vonage: what follows a dial is answered at a signed URL of the flow's own",
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
      const url = await signUrl("https://app.test/flow?a=1", { secret });
      const [connect] = await (await flow(await signed(url, call))).json();
      assert.equal(connect.eventType, "synchronous");
      const leg = String(connect.eventUrl[0]);
      const event = (status: string) => ({ ...call, status, direction: "outbound" });
      const played = await (await flow(await signed(leg, event("busy")))).json();
      assert.deepEqual(played, [{ action: "stream", streamUrl: ["https://app.test/%C3%A9.wav"] }]);
      assert.equal((await flow(await signed(leg, event("ringing")))).status, 204);
      const forged = leg.replace("a=1", "a=2");
      assert.equal((await flow(await signed(forged, event("busy")))).status, 401);
      assert.equal(asked, 1);
    },
  },
];
