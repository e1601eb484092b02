import { assert } from "chai";
import type { ClientCase } from "../case.ts";
import { answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";

const baseUrl = "https://voice.test";

const refused: readonly (readonly [option: string, wrong: readonly unknown[]])[] = [
  [
    "apiKey",
    [
      undefined,
      "",
      7,
      null,
      {},
      ["ak_1"],
      "ak 1\n",
      " ak_1",
      "ak_1 ",
      "ak\u00001",
      "ak_ü",
      "ak_1\r\nX-Evil: 1",
      "ключ",
    ],
  ],
  [
    "baseUrl",
    [
      undefined,
      "",
      "voice.test",
      "http://voice.test",
      "http://127.0.0.1.evil.test",
      "http://localhost.evil.test",
      "ftp://voice.test",
      "https://user:pass@voice.test",
      "https://@voice.test",
      "http://@localhost:4010",
      "https://voice.test?key=1",
      "https://voice.test/#x",
      "https://",
      7,
      new URL("https://voice.test"),
      null,
    ],
  ],
  ["timeout", [-1, 0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "1000", true, null]],
  ["signal", ["abort", {}, 7, null]],
  ["beforeSend", [1, "now", {}, null]],
  ["notAfter", [0, "2026-06-03", new Date(Number.NaN), {}, null]],
  ["fetch", ["fetch", {}, null, 7]],
  ["path", ["", "call", "/api", null, 7]],
  ["idempotent", ["yes", 1, null, {}]],
  ["idempotencyKey", ["", "a b", "a.b", "ü", "a\n", "m".repeat(65), 7, true, null]],
  ["retries", [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null]],
  [
    "headers",
    [
      { "X-API-Key": "other" },
      { "x-api-key": "other" },
      { "Content-Type": "text/plain" },
      { "content-length": "1" },
      { Host: "other" },
      { "bad name": "1" },
      { "x-extra": "a\nb" },
      { "x-extra": 1 },
      new Headers({ "x-extra": "1" }),
      [["x-extra", "1"]],
      "x-extra: 1",
      null,
    ],
  ],
  ["dangerouslyAllowBrowser", ["yes", 1, null]],
];

export const cases: readonly ClientCase[] = [
  {
    name: "the first mistakes are reported with what to do about them, and without a value",
    run: async ({ calls }) => {
      const reported = async (given: unknown, own: object = params) =>
        (await exceptionOf(calls.create(own as never, given as never))).message;
      const good = { ...options, baseUrl: "https://voice.test" };
      for (const [message, rule] of [
        [await reported(undefined), "apiKey is missing; baseUrl is missing"],
        [await reported({ ...good, apiKey: undefined }), "is the environment variable set?"],
        [
          await reported({ ...good, baseUrl: "https://voice.test/api/v1/calls/initiate" }),
          "endpoint",
        ],
        [await reported({ ...good, timeOut: 1 }), "timeOut is unknown: did you mean timeout?"],
        [await reported({ ...good, baseURL: 1 }), "baseURL is unknown: did you mean baseUrl?"],
        [await reported({ ...good, quux: 1 }), "quux is unknown ("],
        [await reported(good, { ...params, to: 1 }), "to is unknown: did you mean to_number?"],
        [
          await reported({ ...good, maxRetries: 1 }),
          "maxRetries is unknown: did you mean retries?",
        ],
        [await reported(good, null as never), "params must be an object, not null"],
        [await reported(good, "params" as never), "params must be an object, not a string"],
      ] as const)
        assert.include(message, rule);
    },
  },
  {
    name: "each mistake in an option or a URL has a message of its own, with the next step",
    run: async ({ calls }) => {
      const later = Promise.resolve("https://app.test/flow");
      const cases: readonly (readonly [given: object, own: object, message: string])[] = [
        [{ baseUrl: "voice.test" }, {}, 'baseUrl must be an absolute URL: add "https://"'],
        [
          { baseUrl: "http://voice.test" },
          {},
          "baseUrl must be https: plain http is for localhost",
        ],
        [{ baseUrl: "https://a:b@voice.test" }, {}, "baseUrl must be without user and password"],
        [{ baseUrl: "https://voice.test?a=1" }, {}, "baseUrl must be without a query"],
        [
          { baseUrl: "https://voice.test/api/v1/calls/initiate" },
          {},
          'baseUrl must be without the endpoint: drop "/api/v1/calls/initiate", the client adds it',
        ],
        [{ baseUrl: 7 }, {}, "baseUrl must be a string, not a number"],
        [{ timeout: "5s" }, {}, "timeout must be a number of milliseconds, not a string"],
        [{ timeout: -1 }, {}, "timeout must be above 0 ms"],
        [{}, { flow_url: later }, "flow_url is a Promise: await it"],
        [{}, { flow_url: null }, "flow_url must be a string, not null"],
        [{}, { flow_url: "app.test" }, 'flow_url must be an absolute URL: add "https://"'],
        [{}, { flow_url: "wss://app.test" }, "flow_url must be a valid https URL"],
        [{}, { flow_url: "https://@app.test" }, "flow_url must be without user and password"],
      ];
      for (const [given, own, message] of cases) {
        const call = calls.create(
          { ...params, ...own } as never,
          { ...options, baseUrl, ...given } as never,
        );
        assert.include((await exceptionOf(call)).message, message);
      }
    },
  },
  ...refused.map(
    ([option, wrong]): ClientCase => ({
      name: `a wrong ${option} is refused by its name before any request, by create and by Client`,
      run: async ({ Client, calls }) => {
        for (const value of wrong) {
          const { fetch, sent } = answeringFetch();
          const given = { ...options, baseUrl, fetch, [option]: value };
          const { apiKey: key, ...kept } = given;
          const make = async () => new Client(key, kept).calls.create(params);
          for (const attempt of [calls.create(params, given), make()]) {
            const error = await exceptionOf(attempt);
            assert.equal(error.name, "BadParametersException", String(value));
            assert.equal(
              error.name === "BadParametersException" && error.param,
              option,
              String(value),
            );
            assert.equal(error.placed, "no");
            assert.match(error.message, new RegExp(`^${option} (must|is missing)`));
            assert.notInclude(error.message, "evil");
          }
          assert.lengthOf(sent, 0);
        }
      },
    }),
  ),
  {
    name: "an unknown option is refused by its name",
    run: async ({ calls }) => {
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl, retires: 3 } as never),
      );
      assert.equal(error.message, "retires is unknown: did you mean retries? (no call was placed)");
    },
  },
  {
    name: "options that are absent, or that throw when read, are refused",
    run: async ({ Client, calls }) => {
      const throwing = {
        ...options,
        get baseUrl(): string {
          throw new Error("MARKED");
        },
      };
      for (const wrong of [undefined, null, 7, throwing]) {
        const error = await exceptionOf(calls.create(params, wrong as never));
        assert.equal(error.name, "BadParametersException");
        const construction = (async () => new Client(apiKey, wrong as never))();
        assert.equal((await exceptionOf(construction)).name, "BadParametersException");
      }
    },
  },
  {
    name: "an option that is undefined counts as absent",
    run: async ({ Client, calls }) => {
      const { fetch, sent } = answeringFetch();
      const absent = {
        timeout: undefined,
        signal: undefined,
        path: undefined,
        retries: undefined,
        headers: undefined,
      };
      await calls.create(params, { ...options, baseUrl, fetch, ...absent });
      await new Client(apiKey, {
        baseUrl,
        fetch,
        dangerouslyAllowBrowser: true,
        ...absent,
      }).calls.create(params, { ...absent, fetch: undefined });
      assert.lengthOf(sent, 2);
    },
  },
  {
    name: "fetch is called without this, and the platform's is looked up at each call",
    run: async ({ calls }) => {
      const platform = globalThis.fetch;
      let seen: unknown = "not called";
      globalThis.fetch = async function (this: unknown) {
        seen = this;
        return Response.json({ id: "cs_1" });
      };
      try {
        await calls.create(params, { ...options, baseUrl });
      } finally {
        globalThis.fetch = platform;
      }
      assert.isUndefined(seen);
    },
  },
  {
    name: "in a web page construction is refused unless it is allowed by name; elsewhere it is not",
    run: async ({ Client, calls }) => {
      const { fetch, sent } = answeringFetch();
      const page = "window" in globalThis && "document" in globalThis;
      const attempts = [
        calls.create(params, { apiKey, baseUrl, fetch }),
        (async () =>
          new Client(apiKey, { baseUrl, fetch, dangerouslyAllowBrowser: false }).calls.create(
            params,
          ))(),
      ];
      for (const attempt of attempts) {
        if (page) {
          const error = await exceptionOf(attempt);
          assert.equal(
            error.name === "BadParametersException" && error.param,
            "dangerouslyAllowBrowser",
          );
        } else await attempt;
      }
      assert.lengthOf(sent, page ? 0 : 2);
      await calls.create(params, { apiKey, baseUrl, fetch, dangerouslyAllowBrowser: true });
    },
  },
];
