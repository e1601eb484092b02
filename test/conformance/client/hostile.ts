import { assert } from "chai";
import { ServiceException } from "outdial";
import { type Answer, answering } from "../../stub-server/answer.ts";
import { type ClientCase, type ClientEnv, isVague } from "../case.ts";
import { accepted, answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";
import { settle, shortestRun, until, withHeldTimers } from "../timers.ts";

const baseUrl = "https://voice.test";

/** A fetch that heeds no signal, gives one answer after the other, and counts what it sends. */
const deafFetch = (...answers: readonly (() => Response)[]) => {
  let sent = 0;
  const fetch = async () => {
    const answer = answers[Math.min(sent++, answers.length - 1)];
    return answer?.() ?? Response.json({ id: "cs_1" });
  };
  return { fetch, sent: () => sent };
};

const status =
  (code: number, body: string | ReadableStream = "", headers = {}) =>
  () =>
    new Response(body, { status: code, headers });

/** What comes only once the test releases it, and what waits for it. */
const gate = () => {
  let release = () => {};
  let waiting = 0;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const pass = () => {
    waiting++;
    return released;
  };
  return { pass, release: () => release(), waiting: () => waiting };
};

const answered = async ({ peer, calls }: ClientEnv, answer: Answer, more: object = {}) => {
  const { baseUrl, seen } = answering(peer, answer);
  const error = await exceptionOf(
    calls.create(params, { ...options, baseUrl, timeout: 5_000, ...more }),
  );
  return { error, posts: (await seen()).length };
};

/** A key whose characters are written otherwise in a URL. */
const special = "ak_?>~+/ MARKED-key-end";

const spelled = (key: string): readonly string[] =>
  [
    encodeURIComponent(key),
    encodeURIComponent(key).toLowerCase(),
    btoa(key),
    btoa(`user:${key}`),
    btoa(`a:${key}`).replaceAll("+", "-").replaceAll("/", "_"),
  ].map((text) => text.replaceAll(" ", ""));

export const cases: readonly ClientCase[] = [
  {
    name: "nothing is sent once a call has settled, though its fetch heeds no signal",
    run: async ({ calls, refuses }) => {
      const timeout = 10_007;
      type Way = readonly [
        posts: number,
        options: (pass: () => Promise<void>) => object,
        ...answers: readonly ((body: () => ReadableStream) => Response)[],
      ];
      const lateKey = (pass: () => Promise<void>, early: number) => {
        let asked = 0;
        return async () => {
          if (asked++ >= early) await pass();
          return `ak_${asked}`;
        };
      };
      const none = () => ({});
      const lateSecondKey = (pass: () => Promise<void>) => ({ apiKey: lateKey(pass, 1) });
      const retryAfter = { "retry-after": "0" };
      const ways: readonly Way[] = [
        [0, (pass) => ({ apiKey: lateKey(pass, 0) })],
        ...[404, 405]
          .filter(refuses)
          .map((code): Way => [1, none, (body) => status(code, body())()]),
        [1, lateSecondKey, status(403)],
        [1, lateSecondKey, (body) => status(403, body())()],
        [1, () => ({ retries: 1 }), (body) => status(429, body(), retryAfter)()],
      ];
      for (const [posts, more, ...answers] of ways) {
        for (const end of ["the deadline", "an abort"]) {
          await withHeldTimers(
            (delay) => delay === timeout,
            async ({ fire }) => {
              const { pass, release, waiting } = gate();
              const body = () =>
                new ReadableStream({
                  pull: async (controller) => {
                    await pass();
                    controller.close();
                  },
                });
              const { fetch, sent } = deafFetch(...answers.map((answer) => () => answer(body)));
              const controller = new AbortController();
              const { signal } = controller;
              const call = calls
                .create(params, { ...options, baseUrl, fetch, signal, timeout, ...more(pass) })
                .then(
                  () => assert.fail("it was to end early"),
                  (error) => error,
                );
              await until(waiting);
              await settle();
              if (end === "an abort") controller.abort("enough");
              else await fire(timeout);
              const error = await call;
              if (end === "an abort") assert.equal(error, "enough");
              else assert.deepEqual([error.name, error.placed], ["TimeoutException", "no"]);
              release();
              await settle();
              assert.equal(sent(), posts, `after ${end}`);
            },
          );
        }
      }
    },
  },
  {
    name: "an answer that came through a redirect tells nothing: maybe, and no second POST",
    run: async ({ calls }) => {
      for (const code of [200, 202, 307, 400, 403, 404, 405, 429, 500]) {
        let asked = 0;
        const { fetch, sent } = deafFetch(() =>
          Object.defineProperty(
            status(code, '{"id":"cs_1"}', { "retry-after": "0" })(),
            "redirected",
            {
              value: true,
            },
          ),
        );
        const error = await exceptionOf(
          calls.create(params, {
            ...options,
            baseUrl,
            fetch,
            retries: 3,
            apiKey: () => `ak_${asked++}`,
          }),
        );
        assert.deepEqual([error.placed, error.code, sent()], ["maybe", code, 1]);
      }
    },
  },
  {
    name: "a redirect that a fetch of the caller's follows is known by its mark or its address",
    run: async ({ calls, peer, runtime }) => {
      const { fetch: platform } = globalThis;
      const end = answering(peer, { status: 404 });
      const { baseUrl, seen } = answering(peer, {
        status: 303,
        headers: { location: `${end.baseUrl}/elsewhere` },
      });
      const fetch = (url: string, init: RequestInit) =>
        platform(url, { ...init, redirect: "follow" });
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
      assert.equal(error.placed, "maybe", runtime);
      assert.lengthOf(await seen(), 1);
    },
  },
  {
    name: "no text of the URL makes a lost connection one that was never made",
    run: async (env) => {
      for (const path of ["CERT", "ECONNREFUSED", "bad%20port", "client%20error%20(Connect):%20"]) {
        const { baseUrl } = answering(env.peer, { instead: "drop" });
        const error = await exceptionOf(
          env.calls.create(params, { ...options, baseUrl: `${baseUrl}/${path}`, timeout: 5_000 }),
        );
        assert.equal(error.placed, "maybe", error.message);
      }
    },
  },
  {
    name: "a port that fetch blocks was never sent to, where the runtime says so",
    run: async (env) => {
      const error = await exceptionOf(
        env.calls.create(params, { ...options, baseUrl: "http://127.0.0.1:6000", timeout: 5_000 }),
      );
      assert.equal(error.name, "NetworkException");
      assert.equal(error.placed, isVague(env) ? "maybe" : "no", error.message);
    },
  },
  {
    name: "a fetch of the caller's that sends and then fails to connect may have placed a call",
    run: async ({ calls, peer }) => {
      const { fetch: platform } = globalThis;
      const { baseUrl, seen } = answering(peer, accepted);
      const fetch = async (url: string, init: RequestInit) => {
        await platform(url, init);
        throw Object.assign(new Error("connect ECONNREFUSED 192.0.2.1:9"), {
          ...{ code: "ECONNREFUSED", syscall: "connect" },
        });
      };
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
      assert.equal(error.placed, "maybe");
      assert.lengthOf(await seen(), 1);
    },
  },
  {
    name: "a 403 is reported even when the key can't be had again",
    run: async ({ calls }) => {
      for (const again of [
        () => {
          throw new Error("no");
        },
        () => Promise.reject(new Error("no")),
        () => "not\nlegal",
        () => "voice.test", // It stands in the URL.
        () => undefined as never,
      ]) {
        let asked = 0;
        const { fetch, sent } = deafFetch(status(403, '{"detail":"Invalid API Key."}'));
        const error = await exceptionOf(
          calls.create(params, {
            ...options,
            baseUrl,
            fetch,
            apiKey: () => (asked++ ? again() : apiKey),
          }),
        );
        assert.deepEqual([error.name, error.code, sent()], ["ForbiddenException", 403, 1]);
      }
    },
  },
  {
    name: "whatever bytes a refusal has, there is its exception with its placed, and it is bounded",
    run: async ({ calls, inspect, refuses }) => {
      const deep = (open: string, close: string, levels: number) =>
        open.repeat(levels) + close.repeat(levels);
      for (const body of [
        '{"detail":{"toString":1,"valueOf":1}}',
        '{"detail":[{"loc":{"toString":null},"msg":{"toString":1},"type":{"toString":[]}}]}',
        `{"detail":[{"loc":${deep("[", "]", 5_000)},"msg":${deep("[", "]", 5_000)}}]}`,
        deep("[", "]", 100_000),
        `{"errors":${deep('{"a":', "}", 50_000)}`,
        '{"detail":[null,[],{},7,true,"x"],"message":null,"code":{},"type":[]}',
        `{"detail":[${'{"loc":["a"],"msg":"b"},'.repeat(20_000)}{}]}`,
        `{"detail":"${"x".repeat(500_000)}"}`,
        "\u0000\ufffd",
      ]) {
        for (const code of [422, 503]) {
          const placed = refuses(code) ? "no" : "maybe";
          const { fetch, sent } = deafFetch(status(code, body));
          const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
          assert.deepEqual(
            [error.name, error.code, error.placed, sent()],
            ["ServiceException", code, placed, 1],
          );
          assert.isBelow(inspect(error).length, 60_000);
        }
      }
    },
  },
  {
    name: "the service's own constants are passed on: reason and type",
    run: async (env) => {
      const json = { message: "Not yours.", code: "from_number_not_provisioned", type: "invalid" };
      const { error } = await answered(env, { status: 400, json });
      assert.deepEqual([error.reason, error.type], ["from_number_not_provisioned", "invalid"]);
    },
  },
  {
    name: "what comes is counted, whatever length the head gives",
    run: async ({ calls }) => {
      const most = JSON.stringify({ id: "cs_1", text: "x".repeat(2 ** 20 - 23) });
      const create = (body: string, length: number) => {
        const headers = { "content-length": `${length}` };
        const { fetch } = answeringFetch(() => new Response(body, { headers }));
        return calls.create(params, { ...options, baseUrl, fetch });
      };
      assert.equal((await create(most, 5)).id, "cs_1");
      assert.equal((await exceptionOf(create(`${most} `, 5))).placed, "maybe");
    },
  },
  {
    name: "an endless body of empty chunks ends",
    run: async ({ calls }) => {
      let chunks = 0;
      const pull = (controller: ReadableStreamDefaultController) => {
        chunks++;
        controller.enqueue(new Uint8Array(0));
      };
      const fetch = async () => new Response(new ReadableStream({ pull }), { status: 202 });
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl, fetch, timeout: false }),
      );
      assert.equal(error.placed, "maybe");
      // While chunks are at hand, no timer fires: their number is what ends it.
      assert.isAtMost(chunks, 40_000);
    },
  },
  {
    name: "an answer of odd parts is an exception, or the call that is in it",
    run: async ({ calls }) => {
      const no = () => {
        throw new Error("no");
      };
      const odd: readonly object[] = [
        { status: 500 },
        { status: 500, headers: null, body: null },
        { status: 500, headers: { get: no }, body: { getReader: no } },
        Object.defineProperty({}, "status", { get: no }),
        Object.defineProperty({ status: 500 }, "headers", { get: no }),
        Object.defineProperty({ status: 202 }, "body", { get: no }),
        { status: 202, body: { getReader: () => ({ read: async () => undefined }) } },
        { status: 202, body: { getReader: () => ({ read: async () => ({ value: "text" }) }) } },
        { status: 202, body: { getReader: () => ({ read: async () => ({ value: [] }) }) } },
        { status: 202, text: no },
      ];
      for (const answer of odd) {
        const fetch = async () => answer as Response;
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
        assert.include(["NetworkException", "ServiceException"], error.name);
        assert.equal(error.placed, "maybe");
      }
    },
  },
  {
    name: "what a fetch throws may have getters that throw",
    run: async ({ calls }) => {
      const no = () => {
        throw new Error("no");
      };
      for (const thrown of [
        new Proxy({}, { get: no }),
        Object.defineProperty(new Error("x"), "cause", { get: no }),
        { message: { toString: no }, code: Object.create(null) },
        { message: Symbol("x") },
      ]) {
        const fetch = () => Promise.reject(thrown);
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
        assert.deepEqual([error.name, error.placed], ["NetworkException", "maybe"]);
      }
    },
  },
  {
    name: "a signal of any make is refused at once, or heard, or left alone; the deadline holds",
    run: async ({ calls }) => {
      const { fetch } = answeringFetch();
      const create = (signal: object, more: object = {}) =>
        calls.create(params, { ...options, baseUrl, fetch, signal: signal as never, ...more });
      const no = () => {
        throw new Error("no");
      };
      for (const signal of [
        {},
        { addEventListener: () => {} },
        { removeEventListener: () => {} },
      ]) {
        assert.equal((await exceptionOf(create(signal))).name, "BadParametersException");
      }
      const throwing = { addEventListener: no, removeEventListener: no, aborted: false };
      assert.equal((await create(throwing)).id, "cs_1");
      const never = () => new Promise<never>(() => {});
      const error = await exceptionOf(create(throwing, { fetch: never, timeout: 50 }));
      assert.equal(error.name, "TimeoutException");
    },
  },
  {
    name: "a base URL of slashes takes no longer than another, and one that names the API is understood",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const create = (end: string) =>
        calls.create(params, { ...options, baseUrl: `${baseUrl}${end}`, fetch, path: "calls" });
      const letters = await shortestRun(() => create(`/${"x".repeat(1_999)}`));
      for (const end of ["/".repeat(2_000), "/x".repeat(900)]) {
        assert.isBelow(await shortestRun(() => create(end)), 100 * Math.max(letters, 1));
      }
      for (const end of ["//api/v1//", "/api/v1", ""]) await create(end);
      const paths = sent.map(({ url }) => new URL(url).pathname);
      assert.deepEqual(
        new Set(paths.filter((path) => !path.includes("x"))),
        new Set(["/api/v1/calls/initiate"]),
      );
    },
  },
  {
    name: "Retry-After of any length is a number of seconds",
    run: async (env) => {
      for (const digits of [10, 400]) {
        const headers = { "retry-after": "9".repeat(digits) };
        const { error } = await answered(env, { status: 503, headers });
        assert.equal(error.retryAfter, 2 ** 31);
      }
    },
  },
  {
    name: "a key function that holds the thread past the deadline is no call: nothing was sent",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const hold = () => {
        for (const end = performance.now() + 120; performance.now() < end; );
        return apiKey;
      };
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl, fetch, apiKey: hold, timeout: 40 }),
      );
      assert.deepEqual([error.name, error.placed, sent.length], ["TimeoutException", "no", 0]);
    },
  },
  {
    name: "an exception of this package that a fetch throws says nothing of this call",
    run: async ({ calls, inspect }) => {
      const refused = new ServiceException(`not ${apiKey}`, { placed: "no", code: 403 });
      const throwing = new Proxy(refused, {
        getPrototypeOf: () => {
          throw new Error(apiKey);
        },
      });
      const body = () => new ReadableStream({ pull: () => Promise.reject(refused) });
      for (const fetch of [
        () => Promise.reject(refused),
        () => Promise.reject(throwing),
        async () => new Response(body(), { status: 202 }),
      ]) {
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
        assert.deepEqual([error.name, error.placed], ["NetworkException", "maybe"]);
        assert.isFalse(inspect(error).includes(apiKey));
      }
    },
  },
  {
    name: "a fetch that was put in the place of the platform's may have done more: maybe",
    run: async ({ calls }) => {
      const { fetch: platform } = globalThis;
      const refused = { code: "ECONNREFUSED", syscall: "connect" };
      globalThis.fetch = () => Promise.reject(Object.assign(new Error("connect"), refused));
      const call = exceptionOf(calls.create(params, { ...options, baseUrl }));
      const error = await call.finally(() => {
        globalThis.fetch = platform;
      });
      assert.equal(error.placed, "maybe");
    },
  },
  {
    name: "headers are read once: what becomes of the object later is not sent",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      let reads = 0;
      const headers = {
        get "x-a"() {
          if (reads++) throw new Error(apiKey);
          return "1";
        },
      };
      const late: Record<string, string> = { "x-a": "1" };
      const change = () => {
        Object.assign(late, { "x-api-key": "other", Host: "other.test", "x-b": "a\r\nb" });
        return apiKey;
      };
      await calls.create(params, { ...options, baseUrl, fetch, headers });
      await calls.create(params, { ...options, baseUrl, fetch, headers: late, apiKey: change });
      for (const { init } of sent) {
        const names = Object.keys(init.headers ?? {}).map((name) => name.toLowerCase());
        assert.sameMembers(
          names.filter((name) => name !== "user-agent"),
          ["content-type", "x-a", "x-api-key"],
        );
      }
      assert.lengthOf(sent, 2);
    },
  },
  {
    name: "the key has one place: a parameter, a URL or another header that holds it is refused",
    run: async ({ calls, inspect }) => {
      const { fetch, sent } = answeringFetch();
      for (const [own, more] of [
        [{ flow_url: `https://app.test/flow?key=${apiKey}` }, {}],
        [{ status_callback_url: `https://app.test/${apiKey}` }, {}],
        [{}, { baseUrl: `https://voice.test/${apiKey}` }],
        [{}, { headers: { Authorization: `Bearer ${apiKey}` } }],
        [{}, { headers: { Authorization: apiKey }, apiKey: () => apiKey }],
        ...spelled(special).flatMap((spelling) => [
          [{ flow_url: `https://app.test/flow?key=${spelling}` }, { apiKey: special }] as const,
          [{}, { baseUrl: `https://voice.test/${spelling}`, apiKey: special }] as const,
          [{}, { headers: { Authorization: `Basic ${spelling}` }, apiKey: special }] as const,
        ]),
      ]) {
        const call = calls.create({ ...params, ...own }, { ...options, baseUrl, fetch, ...more });
        const error = await exceptionOf(call);
        assert.equal(error.name === "BadParametersException" && error.param, "apiKey");
        assert.isFalse(inspect(error).includes(apiKey));
      }
      assert.lengthOf(sent, 0);
      // A key of less than 8 characters may stand in a URL by chance.
      await calls.create(params, { ...options, baseUrl, fetch, apiKey: "voice" });
      assert.lengthOf(sent, 1);
    },
  },
  {
    name: "a signal without a reason rejects with an AbortError",
    run: async ({ calls }) => {
      const signal = {
        aborted: true,
        addEventListener: () => {},
        removeEventListener: () => {},
      };
      const { fetch } = answeringFetch();
      const call = calls.create(params, { ...options, baseUrl, fetch, signal: signal as never });
      const error = await call.catch((reason) => reason);
      assert.instanceOf(error, DOMException);
      assert.equal(error.name, "AbortError");
    },
  },
  {
    name: "a dispatcher that can't be seen to send once, whatever its name, makes a refused connection maybe",
    run: async (env) => {
      class DispatcherBase {
        dispatch() {}
      }
      // Named where they are used: a bundler renames classes.
      const named = (name: string) => {
        const made = class extends DispatcherBase {};
        Object.defineProperty(made, "name", { value: name });
        return new made();
      };
      const create = () =>
        exceptionOf(
          // A port that fetch blocks, so that no dispatcher of this case is used.
          env.calls.create(params, {
            ...options,
            baseUrl: "http://127.0.0.1:6000",
            timeout: 5_000,
          }),
        );
      assert.equal((await create()).placed, isVague(env) ? "maybe" : "no");
      for (const version of [1, 2]) {
        const symbol = Symbol.for(`undici.globalDispatcher.${version}`);
        const before = Reflect.get(globalThis, symbol);
        for (const dispatcher of [
          named("Agent"),
          named("EnvHttpProxyAgent"),
          named("RetryAgent"),
          { dispatch() {} },
        ]) {
          Reflect.set(globalThis, symbol, dispatcher);
          const error = await create().finally(() =>
            before
              ? Reflect.set(globalThis, symbol, before)
              : Reflect.deleteProperty(globalThis, symbol),
          );
          assert.equal(error.placed, "maybe", dispatcher.constructor.name);
        }
      }
    },
  },
  {
    name: "a refusal of a thousand texts takes little longer than one of a single text of its length",
    run: async ({ calls }) => {
      const text = "abcdefgh.abcdefabcdefab.".repeat(40);
      const entry = { loc: Array(32).fill(text), msg: text, type: text };
      const body = JSON.stringify({ errors: Array(32).fill(entry) });
      const create = async (text: string) => {
        const { fetch } = answeringFetch(() => new Response(text, { status: 400 }));
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
        assert.equal(error.placed, "no");
      };
      const plain = await shortestRun(() => create(JSON.stringify({ x: "x".repeat(body.length) })));
      assert.isBelow(await shortestRun(() => create(body)), 100 * Math.max(plain, 1));
    },
  },
  {
    name: "an answer in the smallest pieces is the call that it tells of",
    run: async ({ calls }) => {
      const bytes = new TextEncoder().encode(
        JSON.stringify({ id: "cs_1", text: "x".repeat(20_000) }),
      );
      let next = 0;
      const pull = (controller: ReadableStreamDefaultController) => {
        if (next < bytes.length) controller.enqueue(bytes.slice(next, ++next));
        else controller.close();
      };
      const fetch = async () => new Response(new ReadableStream({ pull }), { status: 202 });
      assert.equal((await calls.create(params, { ...options, baseUrl, fetch })).id, "cs_1");
    },
  },
];
