import { assert } from "chai";
import type { ClientCase } from "../case.ts";
import { answeringFetch, apiKey, exceptionOf, params } from "../fixtures.ts";

const baseUrl = "https://voice.test";
const dangerouslyAllowBrowser = true;

/** A fetch whose answer comes when it is let go. */
const held = () => {
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => {
    release = resolve;
  });
  const fetch = async () => {
    await gate;
    return Response.json({ id: "cs_1" });
  };
  return { fetch, release };
};

export const cases: readonly ClientCase[] = [
  {
    name: "a client has one resource manager, calls, with one operation, create, that needs no this",
    run: async ({ Client }) => {
      const { fetch } = answeringFetch();
      const client = new Client(apiKey, { baseUrl, fetch, dangerouslyAllowBrowser });
      assert.deepEqual(Object.keys(client), ["calls"]);
      assert.deepEqual(Object.keys(client.calls), ["create"]);
      const { create } = client.calls;
      assert.equal((await create(params)).id, "cs_1");
    },
  },
  {
    name: "an empty key is refused at construction",
    run: async ({ Client }) => {
      const error = await exceptionOf(
        (async () => new Client("", { baseUrl, dangerouslyAllowBrowser }))(),
      );
      assert.equal(error.name === "BadParametersException" && error.param, "apiKey");
    },
  },
  {
    name: "options of a call win over the client's, for that call",
    run: async ({ Client }) => {
      const { fetch, sent } = answeringFetch();
      const client = new Client(apiKey, {
        baseUrl,
        fetch,
        path: "calls",
        headers: { "x-a": "1" },
        dangerouslyAllowBrowser,
      });
      await client.calls.create(params, {
        path: "voice/calls",
        headers: { "x-b": "2" },
        apiKey: "ak_other",
      });
      await client.calls.create(params);
      assert.deepEqual(
        sent.map(({ url }) => new URL(url).pathname),
        ["/api/v1/voice/calls/initiate", "/api/v1/calls/initiate"],
      );
      const headers = sent.map(({ init }) => new Headers(init.headers));
      assert.deepEqual(
        headers.map((each) => [each.get("x-a"), each.get("x-b"), each.get("x-api-key")]),
        [
          [null, "2", "ak_other"],
          ["1", null, apiKey],
        ],
      );
      assert.equal(
        (await exceptionOf(client.calls.create(params, { timeout: -1 }))).name,
        "BadParametersException",
      );
    },
  },
  {
    name: "the options of a client are those of its construction, whatever becomes of the object",
    run: async ({ Client }) => {
      const { fetch, sent } = answeringFetch();
      const headers = { "x-a": "1" };
      const given = { baseUrl, fetch, headers, dangerouslyAllowBrowser };
      const client = new Client(apiKey, given);
      given.baseUrl = "https://other.test";
      Object.assign(headers, { "x-a": "2", Host: "other.test" });
      await client.calls.create(params);
      await client.calls.create(params, { retries: 1 });
      for (const { url, init } of sent) {
        assert.match(url, /^https:\/\/voice\.test\//);
        assert.equal(new Headers(init.headers).get("x-a"), "1");
        assert.isFalse(new Headers(init.headers).has("host"));
      }
      assert.lengthOf(sent, 2);
    },
  },
  {
    name: "using refuses calls after the block and lets those in flight end",
    run: async ({ Client }) => {
      const { fetch, release } = held();
      const client = new Client(apiKey, { baseUrl, fetch, dangerouslyAllowBrowser });
      const call = client.calls.create(params);
      client[Symbol.dispose]();
      const error = await exceptionOf(client.calls.create(params));
      assert.equal(error.message, "client was disposed of (no call was placed)");
      release();
      assert.equal((await call).id, "cs_1");
    },
  },
  {
    name: "await using waits for the calls in flight, those that fail too",
    run: async ({ Client }) => {
      const { fetch, release } = held();
      const client = new Client(apiKey, { baseUrl, fetch, dangerouslyAllowBrowser });
      const ended: string[] = [];
      const create = client.calls.create(params).then(() => ended.push("placed"));
      const failing = client.calls.create(params, { timeout: 30 }).catch(() => ended.push("late"));
      const disposed = Promise.resolve(client[Symbol.asyncDispose]()).then(() =>
        ended.push("disposed"),
      );
      assert.equal((await exceptionOf(client.calls.create(params))).placed, "no");
      await failing;
      release();
      await Promise.all([create, disposed]);
      assert.deepEqual(ended, ["late", "placed", "disposed"]);
      await client[Symbol.asyncDispose]();
    },
  },
  {
    name: "1 000 calls leave no listener on the caller's signal and no timer",
    run: async ({ calls }) => {
      const { signal } = new AbortController();
      let listeners = 0;
      const counted = new Proxy(signal, {
        get: (target, name) => {
          if (name === "addEventListener") return () => listeners++;
          if (name === "removeEventListener") return () => listeners--;
          return Reflect.get(target, name, target);
        },
      });
      const { setTimeout: set, clearTimeout: clear } = globalThis;
      const timers = new Set<unknown>();
      globalThis.setTimeout = ((act: () => void, delay?: number) => {
        const timer = set(act, delay);
        if (delay === 10_000) timers.add(timer);
        return timer;
      }) as typeof setTimeout;
      globalThis.clearTimeout = (timer) => {
        timers.delete(timer);
        clear(timer);
      };
      let most = 0;
      const fetch = async () => {
        most = Math.max(most, listeners);
        return Response.json({ id: "cs_1" });
      };
      try {
        for (let round = 0; round < 10; round++) {
          const create = () =>
            calls.create(params, {
              apiKey,
              baseUrl,
              fetch,
              signal: counted,
              dangerouslyAllowBrowser,
            });
          await Promise.all(Array.from({ length: 100 }, create));
        }
      } finally {
        globalThis.setTimeout = set;
        globalThis.clearTimeout = clear;
      }
      assert.isAbove(most, 0);
      assert.equal(listeners, 0);
      assert.equal(timers.size, 0);
    },
  },
];
