import { assert } from "chai";
import { answering } from "../../stub-server/answer.ts";
import type { ClientCase } from "../case.ts";
import { accepted, answeringFetch, exceptionOf, options, params } from "../fixtures.ts";

const forbidden = { status: 403, json: { detail: "Invalid API Key." } };

/** A function that gives one key after the other, and the last for ever. */
const giving = (...keys: readonly string[]) => {
  let asked = 0;
  const apiKey = () => keys[Math.min(asked++, keys.length - 1)] ?? "";
  return { apiKey, asked: () => asked };
};

export const cases: readonly ClientCase[] = [
  {
    name: "the key may come from a function, at once or later, asked once a call",
    run: async ({ Client }) => {
      for (const later of [false, true]) {
        const { fetch, sent } = answeringFetch();
        const { apiKey, asked } = giving("ak_1", "ak_2");
        const client = new Client(later ? async () => apiKey() : apiKey, {
          baseUrl: "https://voice.test",
          fetch,
          dangerouslyAllowBrowser: true,
        });
        await client.calls.create(params);
        await client.calls.create(params);
        assert.equal(asked(), 2);
        assert.deepEqual(
          sent.map(({ init }) => new Headers(init.headers).get("x-api-key")),
          ["ak_1", "ak_2"],
        );
      }
    },
  },
  {
    name: "after a 403 the function is asked again, and another key is tried once",
    run: async ({ calls, peer }) => {
      const { baseUrl, seen } = answering(peer, forbidden, accepted);
      const { apiKey, asked } = giving("ak_old", "ak_new");
      assert.equal((await calls.create(params, { ...options, baseUrl, apiKey })).id, "cs_1");
      assert.equal(asked(), 2);
      assert.deepEqual(
        (await seen()).map(({ headers }) => headers["x-api-key"]),
        ["ak_old", "ak_new"],
      );
    },
  },
  {
    name: "after a 403 the same key is not tried again, nor a third key, nor a key that is a string",
    run: async ({ calls, peer }) => {
      for (const [apiKey, posts] of [
        [() => "ak_1", 1],
        [giving("ak_1", "ak_2", "ak_3").apiKey, 2],
        ["ak_1", 1],
      ] as const) {
        const { baseUrl, seen } = answering(peer, forbidden);
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl, apiKey }));
        assert.equal(error.name, "ForbiddenException");
        assert.equal(error.placed, "no");
        assert.lengthOf(await seen(), posts);
      }
    },
  },
  {
    name: "only a 403 asks again",
    run: async ({ calls, peer }) => {
      for (const status of [401, 422, 500]) {
        const { apiKey, asked } = giving("ak_1", "ak_2");
        const { baseUrl, seen } = answering(peer, { status });
        await exceptionOf(calls.create(params, { ...options, baseUrl, apiKey }));
        assert.equal(asked(), 1);
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "a function that throws, rejects or gives no legal key is a BadParametersException, without its words",
    run: async ({ calls, inspect }) => {
      const { fetch, sent } = answeringFetch();
      const wrong = [
        () => {
          throw new Error("MARKED");
        },
        () => Promise.reject(new Error("MARKED")),
        () => "MARKED\n",
        () => "",
        () => undefined as never,
      ];
      for (const apiKey of wrong) {
        const error = await exceptionOf(
          calls.create(params, { ...options, baseUrl: "https://voice.test", fetch, apiKey }),
        );
        assert.equal(error.name === "BadParametersException" && error.param, "apiKey");
        assert.equal(error.placed, "no");
        assert.notInclude(inspect(error), "MARKED");
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "a function that never answers ends with the deadline, and nothing was placed",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const apiKey = () => new Promise<string>(() => {});
      const error = await exceptionOf(
        calls.create(params, {
          ...options,
          baseUrl: "https://voice.test",
          fetch,
          apiKey,
          timeout: 50,
        }),
      );
      assert.equal(error.name, "TimeoutException");
      assert.equal(error.placed, "no");
      assert.lengthOf(sent, 0);
    },
  },
];
