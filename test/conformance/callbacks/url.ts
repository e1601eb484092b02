import { assert } from "chai";
import { BadParametersException } from "outdial";
import {
  callbackHandler,
  type Refusal,
  RefusedException,
  receive,
  signUrl,
  verifyUrl,
} from "outdial/callbacks";
import type { Case } from "../case.ts";
import { assertRefused, at, flipped, other, post, rejection, secret, trap } from "./fixtures.ts";
import { now, signed, thousand, thousandDigest } from "./vectors.ts";

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
  [
    "with a path that is encoded twice",
    (url) => url.replace("/status", "/%2573tatus"),
    "wrong_token",
  ],
  [
    "with an encoded slash in its path",
    (url) => url.replace("/status", "/%2Fstatus"),
    "wrong_token",
  ],
  ["with an encoded equals sign", (url) => url.replace("=", "%3D"), "no_token"],
  ["with an expiry that isn't a number", (url) => url.replace(/=\d+/, "=1e9"), "no_token"],
];

/** A path and query, and how others spell it. */
const spelledAlike: readonly (readonly [given: string, ...spellings: string[]])[] = [
  ["/\u00e9~a", "/%C3%A9~a", "/%c3%a9~a", "/%c3%A9%7Ea", "/%C3%A9%7e%61"],
  ["/a!b(c)*d'e", "/a%21b%28c%29%2Ad%27e"],
  ["/a b|c", "/a%20b%7Cc", "/a%20b%7cc"],
  ["/100%", "/100%25"],
  ["/a/./b/../c", "/a/c", "/a/%2e/c", "/x/%2E%2e/a/c"],
  ["/a?b='c'", "/a?b=%27c%27"],
  ["/a?b=%ff%FE", "/a?b=%FF%fe"],
  ["/a?b=\u20ac[]", "/a?b=%E2%82%AC%5B%5D", "/a?b=%e2%82%ac[]"],
];

const different: readonly (readonly [given: string, other: string])[] = [
  ["/a/b", "/a%2Fb"],
  ["/a/b", "/a//b"],
  ["/a", "/A"],
  ["/a;b", "/a%3Bb"],
  ["/a?b=c+d", "/a?b=c%20d"],
  ["/a?b=c+d", "/a?b=c%2Bd"],
  ["/a?b=c&d", "/a?b=c%26d"],
  ["/a?b=c", "/a?b%3Dc"],
  ["/a%2525", "/a%25"],
  ["/a%252F", "/a%2F"],
  ["/a%252e%252e/b", "/a%2e%2e/b"],
  ["/a%2e%2e%2fb", "/a../b"],
  ["/a%00", "/a"],
  ["/a?", "/a?&"],
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
      const url = await signUrl("https://app.test/a^b|c[d]{e}`f'?g=^|[]{}`'\\", { secret });
      assert.notMatch(url.replace("https://", ""), /[[\]\\^`{|}']/);
      assert.equal(new URL(url).href, url);
      assert.deepEqual(await verifyUrl(new Request(url).url, { secret }), {});
    },
  },
  {
    name: "a URL is verified in every spelling that a client, a proxy or a server gives it",
    run: async () => {
      for (const [given, ...spellings] of spelledAlike) {
        const signed = await signUrl(`https://app.test${given}`, {
          secret,
          context: { order: 17 },
        });
        const token = `${given.includes("?") ? "&" : "?"}${signed.replace(/.*[?&](?=outdial=)/, "")}`;
        for (const spelling of [given, ...spellings]) {
          for (const url of [`https://app.test${spelling}${token}`, `${spelling}${token}`]) {
            assert.deepEqual(await verifyUrl(url, { secret }), { order: 17 }, url);
          }
        }
      }
    },
  },
  {
    name: "what every URL parser drops is no change: a tab, and spaces and control characters at the end",
    run: async () => {
      const url = await signUrl("https://app.test/status?a=1", { secret, context: { order: 17 } });
      for (const same of [
        url.replace("/st", "/s\tt"),
        `${url} `,
        `${url}\u0000`,
        `${url}\t\u001f`,
      ]) {
        assert.equal(new URL(same).href, url);
        assert.deepEqual(await verifyUrl(same, { secret }), { order: 17 });
      }
    },
  },
  {
    name: "what the RFCs call different URLs stays different",
    run: async () => {
      for (const [given, other] of different) {
        const signed = await signUrl(`https://app.test${given}`, { secret });
        const [, query = ""] = /[?&](outdial=.*)/.exec(signed) ?? [];
        const moved = `https://app.test${other}${other.includes("?") ? "&" : "?"}${query}`;
        const error = await rejection(verifyUrl(moved, { secret }));
        assert.equal(error instanceof RefusedException && error.reason, "wrong_token", moved);
      }
    },
  },
  {
    name: "behind a proxy that rewrites the path, publicUrl says what was signed",
    run: async () => {
      const publicUrl = "https://app.test/voice/status";
      const signed = await signUrl(`${publicUrl}?a=1`, { secret, context: { order: 17 } });
      const other = await signUrl("https://app.test/voice/flow?a=1", { secret });
      const inside = (url: string) => url.replace("https://app.test/voice", "http://10.0.0.7:8080");
      const options = { secret, publicUrl };
      await assertRefused(() => post(inside(signed)), { secret }, "wrong_token");
      await assertRefused(() => post(inside(other)), options, "wrong_token");
      await assertRefused(() => post(inside(signed).replace("a=1", "a=2")), options, "wrong_token");
      const { context } = await receive(post(inside(signed)), options);
      assert.deepEqual(context, { order: 17 });
      assert.deepEqual(await verifyUrl(inside(signed), options), { order: 17 });
      const handler = callbackHandler({ ...options, onEvent() {} });
      assert.equal((await handler(post(inside(signed)))).status, 204);
    },
  },
  {
    name: "only https and wss are signed, and http and ws on loopback",
    run: async () => {
      for (const [url, start] of [
        ["HTTPS://App.Test:443/a?", "https://app.test/a?outdial="],
        ["wss://app.test/a#top", "wss://app.test/a?outdial="],
        ["http://localhost:8787/a", "http://localhost:8787/a?outdial="],
        ["ws://127.0.0.1/a?outdial=5", "ws://127.0.0.1/a?outdial=5&outdial="],
        ["http://[::1]/a;b=1/../c d?e f", "http://[::1]/c%20d?e%20f&outdial="],
        ["https://bücher.test/é", "https://xn--bcher-kva.test/%C3%A9?outdial="],
      ] as const) {
        const signed = await signUrl(url, { secret });
        assert.equal(signed.slice(0, start.length), start);
        assert.deepEqual(await verifyUrl(signed, { secret }), {});
      }
      for (const url of [
        "http://app.test",
        "ws://app.test",
        "http://localhost.app.test",
        "http://127.0.0.1@app.test",
        "javascript:alert(1)",
        "javascript://localhost/%0aalert(1)",
        "file:///etc/passwd",
        "ftp://app.test/",
        "data:text/plain,a",
        "blob:https://app.test/1",
        "sip:ann@app.test",
        "https:app.test",
        "https:/app.test",
        "https:///app.test",
        "https:\\\\app.test",
        "//app.test",
        " https://app.test",
        "https://app.test/a\nb",
        "https://app.test/a\tb",
        "https://user@app.test",
        "https://user:word@app.test",
        "https://",
      ]) {
        const error = await rejection(signUrl(url, { secret }));
        assert.equal(error instanceof BadParametersException && error.param, "url", url);
      }
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
    name: "to sign and to verify, options that can't be read are refused like those that break a rule",
    run: async () => {
      const signed = await signUrl("https://app.test/", { secret });
      const hostile = new Proxy([secret], { get: () => assert.fail("trap") });
      for (const options of [
        undefined,
        null,
        {},
        { secret: "short" },
        { secret: hostile },
        trap(),
      ]) {
        for (const work of [signUrl, verifyUrl]) {
          const error = await rejection(work(signed, options as never));
          assert.instanceOf(error, BadParametersException, String(error));
        }
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
];
