import { assert } from "chai";
import { ServiceException } from "outdial";
import { type Answer, answering } from "../../peer/answer.ts";
import type { ClientCase, ClientEnv } from "../case.ts";
import { accepted, answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";

const baseUrl = "https://voice.test";

const later = (milliseconds: number) =>
  new Promise<void>((resolve) => setTimeout(resolve, milliseconds));

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

/** A body whose end comes late. */
const slowBody = (milliseconds: number) => () =>
  new ReadableStream({
    pull: async (controller) => {
      await later(milliseconds);
      controller.close();
    },
  });

const answered = async ({ peer, calls }: ClientEnv, answer: Answer, more: object = {}) => {
  const { baseUrl, seen } = answering(peer, answer);
  const error = await exceptionOf(
    calls.create(params, { ...options, baseUrl, timeout: 5_000, ...more }),
  );
  return { error, posts: (await seen()).length };
};

export const cases: readonly ClientCase[] = [
  {
    name: "nothing is sent once a call has settled, though its fetch heeds no signal",
    run: async ({ calls }) => {
      const slow = slowBody(600);
      const lateKey = () => {
        let asked = 0;
        return async () => {
          if (asked++ > 0) await later(600);
          return `ak_${asked}`;
        };
      };
      const lateFirstKey = async () => {
        await later(600);
        return apiKey;
      };
      type Way = readonly [posts: number, more: object, answers: readonly (() => Response)[]];
      const ways: readonly Way[] = [
        [0, { apiKey: lateFirstKey }, []],
        [1, {}, [() => status(404, slow())()]],
        [1, {}, [() => status(405, slow())()]],
        [1, { apiKey: lateKey() }, [status(403)]],
        [1, { apiKey: lateKey() }, [() => status(403, slow())()]],
        [1, { retries: 1 }, [() => status(429, slow(), { "retry-after": "0" })()]],
        [1, { retries: 1, timeout: false }, [status(429, "", { "retry-after": "1" })]],
      ];
      const ending = async ([posts, more, answers]: Way, isAborted: boolean): Promise<void> => {
        const { fetch, sent } = deafFetch(...answers);
        const { signal, abort } = (() => {
          const controller = new AbortController();
          return { signal: controller.signal, abort: () => controller.abort("enough") };
        })();
        if (isAborted || "timeout" in more) setTimeout(abort, 300);
        const timeout = isAborted ? 20_000 : 300;
        const own = "apiKey" in more && posts ? { apiKey: lateKey() } : {};
        await calls
          .create(params, { ...options, baseUrl, fetch, signal, timeout, ...more, ...own })
          .then(
            () => assert.fail("it was to end early"),
            (error) => error === "enough" || assert.equal(error.placed, "no"),
          );
        const before = sent();
        await later(900);
        assert.deepEqual([before, sent()], [posts, posts], JSON.stringify(more));
      };
      await Promise.all(ways.flatMap((way) => [ending(way, false), ending(way, true)]));
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
    run: async ({ calls, runtime }) => {
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl: "http://127.0.0.1:6000", timeout: 5_000 }),
      );
      assert.equal(error.name, "NetworkException");
      const isVague = ["workerd", "happy-dom", "chromium"].includes(runtime);
      assert.equal(error.placed, isVague ? "maybe" : "no", error.message);
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
    name: "a 403 is told even when the key can't be had again",
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
    run: async ({ calls, inspect }) => {
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
        for (const [code, placed] of [
          [422, "no"],
          [503, "maybe"],
        ] as const) {
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
    name: "the service's own constants are told: reason and type",
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
      const began = Date.now();
      const pull = (controller: ReadableStreamDefaultController) =>
        controller.enqueue(new Uint8Array(0));
      const fetch = async () => new Response(new ReadableStream({ pull }), { status: 202 });
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl, fetch, timeout: 1_000 }),
      );
      assert.equal(error.placed, "maybe");
      assert.isBelow(Date.now() - began, 4_000);
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
    name: "a base URL of slashes takes no time, and one that names the API is understood",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const began = Date.now();
      for (const end of ["/".repeat(2_000), "/x".repeat(900), "//api/v1//", "/api/v1", ""]) {
        await calls.create(params, {
          ...options,
          baseUrl: `${baseUrl}${end}`,
          fetch,
          path: "calls",
        });
      }
      assert.isBelow(Date.now() - began, 1_000);
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
      ]) {
        const call = calls.create({ ...params, ...own }, { ...options, baseUrl, fetch, ...more });
        const error = await exceptionOf(call);
        assert.equal(error.name === "BadParametersException" && error.param, "apiKey");
        assert.isFalse(inspect(error).includes(apiKey));
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "a refusal of a thousand texts is read at once, and no text of it starves the deadline",
    run: async ({ calls }) => {
      const text = "abcdefgh.abcdefabcdefab.".repeat(40);
      const entry = { loc: Array(32).fill(text), msg: text, type: text };
      const body = JSON.stringify({ errors: Array(32).fill(entry) });
      const began = Date.now();
      const { fetch } = answeringFetch(() => new Response(body, { status: 400 }));
      const error = await exceptionOf(calls.create(params, { ...options, baseUrl, fetch }));
      assert.equal(error.placed, "no");
      assert.isBelow(Date.now() - began, 1_500);
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
