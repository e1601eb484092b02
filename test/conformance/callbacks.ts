import { assert } from "chai";
import { BadParametersException } from "outdial";
import {
  type CallbackOptions,
  callbackHandler,
  type Refusal,
  RefusedException,
  receive,
  signUrl,
  type Verification,
  verifyUrl,
} from "outdial/callbacks";
import { now, signed, thousand, thousandDigest, webhooks } from "./callbacks-vectors.ts";
import type { Case } from "./case.ts";

const secret = "a secret that was made at random";
const other = "another secret, of somebody else";
const [, webhook] = webhooks;
if (!webhook) throw new Error("no vector");
const webhookSecret = webhook.secret;
const ringing = JSON.stringify({
  type: "call.ringing",
  call_id: "cs_1",
  data: { to: "+12025550188" },
});

const post = (url: string, body: BodyInit | null = ringing, headers: HeadersInit = {}): Request =>
  new Request(url, { method: "POST", body, headers });

/** Runs at a second of the test's choice. */
const at = async <T>(seconds: number, work: () => Promise<T>): Promise<T> => {
  const { now } = Date;
  Date.now = () => seconds * 1000;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
};

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("expected an exception"),
    (reason: unknown) => reason,
  );

const statuses: Partial<Record<Refusal, number>> = {
  wrong_method: 405,
  too_large: 413,
  too_slow: 408,
  not_utf8: 400,
  not_json: 400,
  too_deep: 400,
  wrong_shape: 400,
};

/** Refused for this reason by `receive`, and by the handler with the status and nothing else. */
const assertRefused = async (
  make: () => Request,
  options: Verification,
  reason: Refusal,
): Promise<void> => {
  const error = await rejection(receive(make(), options));
  assert.instanceOf(error, RefusedException, String(error));
  assert.equal(error instanceof RefusedException && error.reason, reason);
  const told: unknown[] = [];
  let events = 0;
  const handler = callbackHandler({
    ...options,
    onEvent: () => ++events,
    onError: (error) => told.push(error),
  });
  const response = await handler(make());
  assert.equal(response.status, statuses[reason] ?? 401, reason);
  assert.equal(await response.text(), "");
  assert.equal(response.headers.get("allow"), reason === "wrong_method" ? "POST" : null);
  assert.equal(events, 0);
  assert.deepEqual(
    told.map((error) => error instanceof RefusedException && error.reason),
    [reason],
  );
};

const headersOf = ({ id, timestamp, signature }: (typeof webhooks)[number]) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signature,
});

/** Another printable character, one bit away. */
const flipped = (text: string, index: number): string => {
  const code = text.charCodeAt(index);
  const flip = code === 0x7e || code === 0x21 ? 2 : 1;
  return text.slice(0, index) + String.fromCharCode(code ^ flip) + text.slice(index + 1);
};

const digest = async (text: string): Promise<string> =>
  [...new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");

const tokens: readonly (readonly [
  what: string,
  change: (url: string) => string,
  reason: Refusal,
])[] = [
  ["without its token", (url) => url.replace(/\?.*/, ""), "no_token"],
  ["with an empty token", (url) => url.replace(/=.*/, "="), "no_token"],
  ["with a token that lost its last character", (url) => url.slice(0, -1), "no_token"],
  ["with a token that lost its signature", (url) => url.replace(/[^.]*$/, ""), "no_token"],
  ["with a character after its token", (url) => `${url}A`, "no_token"],
  ["with a parameter after its token", (url) => `${url}&a=1`, "no_token"],
  ["with its token twice", (url) => `${url}&${url.replace(/.*\?/, "")}`, "wrong_token"],
  ["with another parameter", (url) => url.replace("?", "?a=1&"), "wrong_token"],
  ["with another path", (url) => url.replace("/status", "/flow"), "wrong_token"],
  ["with a longer path", (url) => url.replace("/status", "/status/"), "wrong_token"],
  ["with a later expiry", (url) => url.replace(/=(\d+)/, "=1$1"), "wrong_token"],
  ["with an encoded path", (url) => url.replace("/status", "/%73tatus"), "wrong_token"],
  ["with an encoded name of its token", (url) => url.replace("outdial", "%6Futdial"), "no_token"],
  ["with an expiry that isn't a number", (url) => url.replace(/=\d+/, "=1e9"), "no_token"],
];

export const cases: readonly Case[] = [
  {
    name: "signUrl makes what another implementation of its rule makes",
    run: () =>
      at(now, async () => {
        for (const { secret, url, context, expiresIn, signed: expected } of signed) {
          assert.equal(await signUrl(url, { secret, context, expiresIn }), expected);
        }
      }),
  },
  {
    name: "a URL that was signed anywhere is verified, and brings its context back",
    run: () =>
      at(now, async () => {
        for (const { secret, context, signed: url } of signed) {
          assert.deepEqual(await verifyUrl(url, { secret }), context);
          assert.deepEqual(await verifyUrl(url.replace(/^\w+:\/\/[^/]*/, ""), { secret }), context);
        }
      }),
  },
  {
    name: "a thousand random URLs are signed as another implementation signs them, and verified",
    run: () =>
      at(now, async () => {
        const urls: string[] = [];
        for (const { secret, url, context, expiresIn } of thousand()) {
          const signed = await signUrl(url, { secret, context, expiresIn });
          assert.deepEqual(await verifyUrl(new Request(signed).url, { secret }), context);
          urls.push(signed);
        }
        assert.lengthOf(urls, 1000);
        assert.equal(await digest(urls.join("\n")), thousandDigest);
      }),
  },
  {
    name: "a token covers no host: proxies and tunnels rewrite it",
    run: async () => {
      const url = await signUrl("https://app.test/status?a=1", { secret, context: { order: 17 } });
      const { context } = await receive(post(url.replace("app.test", "127.0.0.1:8080")), {
        secret,
      });
      assert.deepEqual(context, { order: 17 });
    },
  },
  {
    name: "characters that HTTP clients encode differently are encoded once and for all",
    run: async () => {
      const url = await signUrl("https://app.test/a^b|c[d]{e}`f?g=^|[]{}`\\", { secret });
      assert.notMatch(url.replace("https://", ""), /[[\]\\^`{|}]/);
      assert.deepEqual(await verifyUrl(new Request(url).url, { secret }), {});
    },
  },
  {
    name: "a secret is rotated: the first of a list signs, and every one is accepted",
    run: async () => {
      const signed = await signUrl("https://app.test/status", { secret: [other, secret] });
      assert.deepEqual(await verifyUrl(signed, { secret: other }), {});
      assert.deepEqual(await verifyUrl(signed, { secret: [secret, other] }), {});
      await assertRefused(() => post(signed), { secret }, "wrong_token");
    },
  },
  {
    name: "signUrl refuses what breaks a rule, by its name and not its value",
    run: async () => {
      const url = "https://app.test/status";
      const cycle: Record<string, unknown> = {};
      cycle.cycle = cycle;
      const wrong: readonly (readonly [string, unknown, unknown])[] = [
        ...[
          "",
          "MARKED",
          undefined,
          null,
          7,
          [],
          ["MARKED"],
          [secret, ""],
          [secret, undefined],
        ].map((secret) => ["secret", url, { secret }] as const),
        ...["", "/status", "MARKED", undefined, `https://app.test/${"MARKED".repeat(400)}`].map(
          (url) => ["url", url, { secret }] as const,
        ),
        ...[0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e300, "60", null].map(
          (expiresIn) => ["expiresIn", url, { secret, expiresIn }] as const,
        ),
        ...["MARKED", 7, null, ["MARKED"], () => 1, cycle, { a: 1n }, { a: "€".repeat(340) }].map(
          (context) => ["context", url, { secret, context }] as const,
        ),
      ];
      for (const [param, url, options] of wrong) {
        const error = await rejection(signUrl(url as string, options as never));
        assert.instanceOf(error, BadParametersException, `${param} ${String(error)}`);
        if (!(error instanceof BadParametersException)) continue;
        assert.equal(error.param, param);
        assert.notInclude(error.message, "MARKED");
      }
    },
  },
  {
    name: "a context of 1 KiB fits, and a signed URL has at most 2083 characters",
    run: async () => {
      const context = { a: "x".repeat(1024 - 8) };
      const signed = await signUrl("https://app.test/", { secret, context });
      assert.deepEqual(await verifyUrl(signed, { secret }), context);
      const room = 2083 - signed.length;
      const full = await signUrl(`https://app.test/${"y".repeat(room)}`, { secret, context });
      assert.lengthOf(full, 2083);
      const over = signUrl(`https://app.test/${"y".repeat(room + 1)}`, { secret, context });
      assert.instanceOf(await rejection(over), BadParametersException);
    },
  },
  ...tokens.map(
    ([what, change, reason]): Case => ({
      name: `a URL ${what} is refused`,
      run: async () => {
        const url = change(await signUrl("https://app.test/status", { secret }));
        await assertRefused(() => post(url), { secret }, reason);
      },
    }),
  ),
  {
    name: "a URL with a changed byte anywhere after its host is refused",
    run: async () => {
      const url = await signUrl("https://app.test/status?a=1", { secret, context: { order: 17 } });
      assert.equal((await receive(post(url), { secret })).context.order, 17);
      for (let index = "https://app.test/".length; index < url.length; index++) {
        const error = await rejection(receive(post(flipped(url, index)), { secret }));
        assert.equal(error instanceof RefusedException && error.status, 401, String(index));
      }
    },
  },
  {
    name: "a MAC is taken in one spelling only: the bits that base64 ignores are none to play with",
    run: () =>
      at(now, async () => {
        const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        const url = await signUrl("https://app.test/status", { secret });
        const headers = headersOf(webhook);
        const { signature } = webhook;
        let taken = 0;
        for (const last of `${letters}-_+/=`) {
          const make = (url: string, signature: string) =>
            post(url, webhook.body, { ...headers, "webhook-signature": signature });
          const changed = `${url.slice(0, -1)}${last}`;
          if (changed === url) taken++;
          else {
            const error = await rejection(receive(make(changed, signature), { secret }));
            assert.equal(error instanceof RefusedException && error.status, 401, changed);
          }
          const other = `${signature.slice(0, -2)}${last}=`;
          if (other === signature) taken++;
          else await assertRefused(() => make(url, other), { webhookSecret }, "wrong_signature");
        }
        assert.equal(taken, 2);
      }),
  },
  {
    name: "the token of one URL is good for no other",
    run: async () => {
      const options = { secret, context: { order: 17 } };
      const status = await signUrl("https://app.test/status", options);
      const flow = await signUrl("https://app.test/flow", options);
      const swapped = status.replace(/\?.*/, flow.replace(/.*\?/, "?"));
      await assertRefused(() => post(swapped), { secret }, "wrong_token");
    },
  },
  {
    name: "a token is good until its second, and not at it",
    run: async () => {
      const options = { secret, expiresIn: 60 };
      const url = await at(now, () => signUrl("https://app.test/status", options));
      assert.deepEqual(await at(now + 59.999, () => verifyUrl(url, { secret })), {});
      await at(now + 60, () => assertRefused(() => post(url), { secret }, "expired_token"));
      await at(now + 86_400, () => assertRefused(() => post(url), { secret }, "expired_token"));
    },
  },
  {
    name: "what the reference package of Standard Webhooks signs is verified",
    run: async () => {
      for (const vector of webhooks) {
        const make = () => post("https://app.test/status", vector.body, headersOf(vector));
        await at(vector.timestamp, async () => {
          const options = { webhookSecret: vector.secret };
          // One of them isn't an event; its signature is right all the same.
          if (vector.body.includes("test")) await assertRefused(make, options, "wrong_shape");
          else assert.isString((await receive(make(), options)).event.call_id);
          await assertRefused(make, { webhookSecret: `whsec_${btoa(other)}` }, "wrong_signature");
        });
      }
    },
  },
  {
    name: "a webhook secret is rotated, on either side",
    run: () =>
      at(now, async () => {
        const headers = headersOf(webhook);
        const [, own = ""] = headers["webhook-signature"].split(",");
        const foreign = `v1,${flipped(own, 3)}`;
        for (const signature of [
          `${foreign} v1,${own}`,
          `v2,abc v1a,${own} v1,${own}`,
          `v1,${own} ${foreign}`,
        ]) {
          const signed = { ...headers, "webhook-signature": signature };
          const request = post("https://app.test/status", webhook.body, signed);
          const secrets = [`whsec_${btoa(other)}`, webhookSecret];
          assert.equal((await receive(request, { webhookSecret: secrets })).event.call_id, "cs_1");
        }
      }),
  },
  {
    name: "a webhook with a changed byte anywhere in its headers or its body is refused",
    run: () =>
      at(now, async () => {
        const url = "https://app.test/status";
        const headers: Record<string, string> = headersOf(webhook);
        const refused = async (body: string, headers: HeadersInit, where: string) => {
          const error = await rejection(receive(post(url, body, headers), { webhookSecret }));
          assert.equal(error instanceof RefusedException && error.status, 401, where);
        };
        for (let index = 0; index < webhook.body.length; index++) {
          await refused(flipped(webhook.body, index), headers, `body ${index}`);
        }
        for (const [name, value] of Object.entries(headers)) {
          for (let index = 0; index < value.length; index++) {
            await refused(
              webhook.body,
              { ...headers, [name]: flipped(value, index) },
              `${name} ${index}`,
            );
          }
        }
      }),
  },
  {
    name: "a webhook with a header that is missing, doubled or of no shape is refused",
    run: () =>
      at(now, async () => {
        const url = "https://app.test/status";
        const headers: Record<string, string> = headersOf(webhook);
        for (const name of Object.keys(headers)) {
          const { [name]: _, ...others } = headers;
          await assertRefused(
            () => post(url, webhook.body, others),
            { webhookSecret },
            "no_signature",
          );
          if (name === "webhook-signature") continue; // A list by nature.
          const twice = () => {
            const request = post(url, webhook.body, headers);
            request.headers.append(name, headers[name] ?? "");
            return request;
          };
          const error = await rejection(receive(twice(), { webhookSecret }));
          assert.equal(error instanceof RefusedException && error.status, 401, name);
        }
        for (const timestamp of ["1e9", "-1", "0x1", `${now}.0`, "now"]) {
          const wrong = { ...headers, "webhook-timestamp": timestamp };
          await assertRefused(
            () => post(url, webhook.body, wrong),
            { webhookSecret },
            "no_signature",
          );
        }
        const dotted = { ...headers, "webhook-id": "evt.1" };
        await assertRefused(
          () => post(url, webhook.body, dotted),
          { webhookSecret },
          "no_signature",
        );
      }),
  },
  {
    name: "a webhook is good for 5 minutes, before and after its time",
    run: async () => {
      const make = () => post("https://app.test/status", webhook.body, headersOf(webhook));
      for (const offset of [-300, 300]) {
        await at(now + offset, () => receive(make(), { webhookSecret }));
      }
      for (const offset of [-301, 301, 86_400]) {
        await at(now + offset, () => assertRefused(make, { webhookSecret }, "expired_signature"));
      }
    },
  },
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
      const told: unknown[] = [];
      const onError = (error: unknown) => told.push(error);
      const response = await callbackHandler({ verify, onEvent: () => {}, onError })(make());
      assert.equal(response.status, 500);
      assert.deepEqual(told, [down]);
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
    name: "only POST is answered, and the others are told so",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const method of ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]) {
        await assertRefused(() => new Request(url, { method }), { secret }, "wrong_method");
      }
    },
  },
  {
    name: "a body of 64 KiB is read, and one byte more is refused, whatever its chunks",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const largest = ringing.padEnd(2 ** 16, " ");
      const inChunks = (text: string) =>
        new Request(url, {
          method: "POST",
          body: new ReadableStream({
            start(controller) {
              const bytes = new TextEncoder().encode(text);
              for (let at = 0; at < bytes.length; at += 10_000) {
                controller.enqueue(bytes.slice(at, at + 10_000));
              }
              controller.close();
            },
          }),
          ...{ duplex: "half" },
        });
      for (const make of [(text: string) => post(url, text), inChunks]) {
        assert.equal((await receive(make(largest), { secret })).event.call_id, "cs_1");
        await assertRefused(() => make(`${largest} `), { secret }, "too_large");
        await assertRefused(() => make(largest.repeat(4)), { secret }, "too_large");
      }
    },
  },
  {
    name: "a body that stalls is refused after 10 s, and let go",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      let canceled = 0;
      const make = () =>
        new Request(url, {
          method: "POST",
          body: new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
            cancel: () => {
              canceled++;
            },
          }),
          ...{ duplex: "half" },
        });
      const { setTimeout } = globalThis;
      const waits: unknown[] = [];
      globalThis.setTimeout = ((late: () => void, wait: number) => {
        waits.push(wait);
        return setTimeout(late, 20);
      }) as never;
      try {
        await assertRefused(make, { secret }, "too_slow");
      } finally {
        globalThis.setTimeout = setTimeout;
      }
      assert.deepEqual(waits, [10_000, 10_000]);
      assert.equal(canceled, 2);
    },
  },
  {
    name: "the body of a sender without a token isn't read",
    run: async () => {
      let read = false;
      const request = post("https://app.test/status");
      const watched = new Proxy(request, {
        get: (target, name) => {
          if (name === "body") read = true;
          return Reflect.get(target, name, target);
        },
      });
      assert.equal((await callbackHandler({ secret, onEvent() {} })(watched)).status, 401);
      assert.isFalse(read);
    },
  },
  {
    name: "a body that isn't UTF-8, JSON or shallow is refused",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const deep = (levels: number, open: string, close: string) =>
        `{"type":"a","call_id":"b","data":${open.repeat(levels)}1${close.repeat(levels)}}`;
      const wrong: readonly (readonly [Refusal, BodyInit | null])[] = [
        ["not_utf8", new Uint8Array([0x7b, 0xff, 0x7d])],
        ["not_utf8", new Uint8Array([0x22, 0xc0, 0x80, 0x22])],
        ["not_utf8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
        ["not_json", null],
        ["not_json", ""],
        ["not_json", "type=call.ringing"],
        ["not_json", ringing.slice(0, -1)],
        ["not_json", `${ringing}x`],
        ["too_deep", deep(40, "[", "]")],
        ["too_deep", deep(40, '{"a":', "}")],
        ["too_deep", deep(10_000, '{"":', "}")],
      ];
      for (const [reason, body] of wrong) {
        await assertRefused(() => post(url, body), { secret }, reason);
      }
      // An engine may give up on the parsing itself.
      const abyss = await rejection(receive(post(url, "[".repeat(2 ** 16)), { secret }));
      assert.equal(abyss instanceof RefusedException && abyss.status, 400);
      await receive(post(url, deep(30, "[", "]").replace("[", '{"a":[').replace("]}", "]}}")), {
        secret,
      });
    },
  },
  {
    name: "JSON that isn't a status notification is refused",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const wrong of [
        "null",
        "7",
        '"call.ringing"',
        "[]",
        "{}",
        '{"type":"call.ringing"}',
        '{"type":"call.ringing","data":{}}',
        '{"type":"","call_id":"cs_1","data":{}}',
        '{"type":7,"call_id":"cs_1","data":{}}',
        '{"type":"call.ringing","call_id":"","data":{}}',
        '{"type":"call.ringing","call_id":"cs_1","data":7}',
        '{"call_id":"cs_1","data":{}}',
      ]) {
        await assertRefused(() => post(url, wrong), { secret }, "wrong_shape");
      }
    },
  },
  {
    name: "the handler gives event and context to onEvent, and answers 204",
    run: async () => {
      const context = { order: 17 };
      const url = await signUrl("https://app.test/status", { secret, context });
      const got: unknown[] = [];
      const handler = callbackHandler({ secret, onEvent: (received) => got.push(received) });
      const response = await handler(post(url));
      assert.equal(response.status, 204);
      assert.equal(await response.text(), "");
      const event = { type: "call.ringing", call_id: "cs_1", data: { to: "+12025550188" } };
      assert.deepEqual(got, [{ event, context }]);
    },
  },
  {
    name: "an onEvent that throws is answered 500, so that the service delivers again",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const lost = new Error("the database is away");
      for (const onEvent of [
        () => {
          throw lost;
        },
        () => Promise.reject(lost),
      ]) {
        const told: unknown[] = [];
        const onError = (error: unknown, { url }: Request) => told.push(error, url);
        const response = await callbackHandler({ secret, onEvent, onError })(post(url));
        assert.equal(response.status, 500);
        assert.equal(await response.text(), "");
        assert.deepEqual(told, [lost, url]);
        assert.equal((await callbackHandler({ secret, onEvent })(post(url))).status, 500);
      }
    },
  },
  {
    name: "an onError that fails changes nothing",
    run: async () => {
      const fail = () => {
        throw new Error("the log is full");
      };
      for (const onError of [fail, async () => fail()]) {
        const handler = callbackHandler({ secret, onEvent() {}, onError });
        assert.equal((await handler(post("https://app.test/status"))).status, 401);
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
  },
  {
    name: "with waitUntil the answer comes first, and a late failure is only told",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const works: Promise<unknown>[] = [];
      const told: unknown[] = [];
      const lost = new Error("too late");
      let fail = () => {};
      const handler = callbackHandler({
        secret,
        onEvent: () =>
          new Promise((_, reject) => {
            fail = () => reject(lost);
          }),
        onError: (error) => told.push(error),
        waitUntil: (work) => works.push(work),
      });
      assert.equal((await handler(post(url))).status, 204);
      assert.deepEqual(told, []);
      fail();
      assert.lengthOf(works, 1);
      await Promise.all(works);
      assert.deepEqual(told, [lost]);
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
