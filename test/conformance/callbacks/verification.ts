import { assert } from "chai";
import { BadParametersException } from "outdial";
import {
  type CallbackOptions,
  callbackHandler,
  RefusedException,
  receive,
  signUrl,
} from "outdial/callbacks";
import type { Case } from "../case.ts";
import {
  assertRefused,
  at,
  headersOf,
  other,
  post,
  rejection,
  ringing,
  ringingAtOnce,
  secret,
  trap,
  webhook,
  webhookSecret,
} from "./fixtures.ts";
import { now } from "./vectors.ts";

export const cases: readonly Case[] = [
  {
    name: "every check that is given must agree",
    run: () =>
      at(now, async () => {
        const url = await signUrl("https://app.test/status", { secret });
        const headers = headersOf(webhook);
        const make = () => post(url, webhook.body, headers);
        const verify = () => true;
        const all = { secret, webhookSecret, verify };
        assert.equal((await receive(make(), all)).event.call_id, "cs_1");
        await assertRefused(make, { ...all, secret: other }, "wrong_token");
        await assertRefused(
          make,
          { ...all, webhookSecret: `whsec_${btoa(other)}` },
          "wrong_signature",
        );
        await assertRefused(make, { ...all, verify: () => false }, "not_verified");
      }),
  },
  {
    name: "a verify of one's own sees the request and the raw body, and only its true is a yes",
    run: async () => {
      const seen: unknown[] = [];
      const verify: CallbackOptions["verify"] = (request, body) => {
        seen.push(request.headers.get("x-signature"), new TextDecoder().decode(body));
        return true;
      };
      const make = () => post("https://app.test/status", ringing, { "x-signature": "mine" });
      await receive(make(), { verify });
      assert.deepEqual(seen, ["mine", ringing]);
      for (const answer of [false, undefined, 1, "yes", {}, Promise.resolve(1)]) {
        await assertRefused(make, { verify: (() => answer) as never }, "not_verified");
      }
    },
  },
  {
    name: "a verify that throws is a failure, answered 500, and not a refusal",
    run: async () => {
      const down = new Error("the key server is down");
      const verify = () => Promise.reject(down);
      const make = () => post("https://app.test/status");
      assert.equal(await rejection(receive(make(), { verify })), down);
      const reported: unknown[] = [];
      const onError = (error: unknown) => reported.push(error);
      const response = await callbackHandler({ verify, onEvent: () => {}, onError })(make());
      assert.equal(response.status, 500);
      assert.deepEqual(reported, [down]);
    },
  },
  {
    name: "a verify that gives no answer within 10 s is a failure, answered 500",
    run: async () => {
      const reported: unknown[] = [];
      const make = () => post("https://app.test/status");
      const waits = await ringingAtOnce(async (ring) => {
        const verify = () => {
          ring();
          return new Promise<boolean>(() => {});
        };
        reported.push(await rejection(receive(make(), { verify })));
        const onError = (error: unknown) => reported.push(error);
        const response = await callbackHandler({ verify, onEvent() {}, onError })(make());
        assert.equal(response.status, 500);
      });
      assert.deepEqual(waits, [10_000, 10_000]);
      for (const error of reported) {
        assert.equal(Object(error).name, "TimeoutError");
        assert.include(Object(error).message, "verify gave no answer within 10000 ms");
      }
      assert.lengthOf(reported, 2);
    },
  },
  {
    name: "a refusal of verify's own is answered by its reason, whatever it was made to say",
    run: async () => {
      for (const [thrown, status] of [
        [Object.assign(new RefusedException("not_verified"), { status: 42 }), 401],
        [
          Object.assign(new RefusedException("too_large"), { status: 200, reason: "no_token" }),
          413,
        ],
        [Object.freeze(new RefusedException("expired_signature")), 401],
        [new RefusedException("toString" as never), 401],
        [new RefusedException("no_signature", [503, "Sign it."]), 503],
        [Object.setPrototypeOf(new Error("made up"), RefusedException.prototype), 500],
        [new Proxy(new RefusedException("no_token"), {}), 500],
        [trap(), 500],
      ] as const) {
        const verify = () => Promise.reject(thrown);
        const handler = callbackHandler({ verify, onEvent() {} });
        assert.equal((await handler(post("https://app.test/status"))).status, status);
      }
    },
  },
  {
    name: "to verify nothing must be asked for by name, and a secret that isn't set isn't nothing",
    run: async () => {
      const wrong: readonly unknown[] = [
        undefined,
        {},
        { dangerouslyAllowUnverified: false },
        { secret: undefined },
        { secret: undefined, webhookSecret },
        { secret: undefined, dangerouslyAllowUnverified: true },
        { webhookSecret: undefined, secret },
        { webhookSecret: "" },
        { webhookSecret: "whsec_" },
        { webhookSecret: "whsec_*MARKED-MARKED-MARKED-MARKED*" },
        { webhookSecret: [] },
        { webhookSecret: [webhookSecret, "short"] },
        { secret: "short" },
        { secret: [] },
        { verify: undefined },
        { verify: true },
        { secret, webhookSecert: webhookSecret },
      ];
      for (const options of wrong) {
        const error = await rejection(receive(post("https://app.test"), options as never));
        assert.instanceOf(error, BadParametersException, JSON.stringify(options));
        assert.notInclude(String(error), "MARKED");
        const make = () => callbackHandler({ ...(options as object), onEvent() {} } as never);
        assert.throws(make, BadParametersException);
      }
      const options = { dangerouslyAllowUnverified: true } as const;
      const { event, context } = await receive(post("https://app.test/?outdial=1.e30.x"), options);
      assert.deepEqual([event.type, context], ["call.ringing", {}]);
    },
  },
  {
    name: "no secret is in an exception",
    run: async ({ inspect }) => {
      const url = await signUrl("https://app.test/status", { secret });
      const error = await rejection(receive(post(`${url}x`), { secret, webhookSecret }));
      const texts = [String(error), inspect(error), JSON.stringify(error)];
      for (const text of texts) {
        assert.notInclude(text, secret);
        assert.notInclude(text, webhookSecret);
        assert.notInclude(text, "e30");
      }
    },
  },
];
