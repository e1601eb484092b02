import { assert } from "chai";
import { BadParametersException, CallParams } from "outdial";
import { is } from "valibot";
import type { ClientCase } from "../case.ts";
import { answeringFetch, exceptionOf, options, params } from "../fixtures.ts";

const long = (length: number) => `https://app.test/${"x".repeat(length - 17)}`;

const refused: readonly (readonly [field: string, wrong: readonly unknown[]])[] = [
  [
    "from_number",
    [
      undefined,
      "",
      "12025550177",
      "+02025550177",
      "+120255",
      "+1202555017712345",
      "+1 202 555 0177",
      "+12025550177\n",
      "+١٢٠٢٥٥٥٠١٧٧",
      12025550177,
      null,
      ["+12025550177"],
    ],
  ],
  ["to_number", [undefined, "", "0170 123", "tel:+12025550177", "+1-202-555-0177", {}, true]],
  [
    "flow_url",
    [
      undefined,
      "",
      "app.test",
      "/flow",
      "http://app.test/flow",
      "ftp://app.test",
      "https://",
      "https:app.test",
      "https:\\\\app.test",
      "https://user:pass@app.test",
      "https://user@app.test",
      "https://app.test/a b",
      " https://app.test",
      "https://app.test\n",
      "javascript:alert(1)",
      long(2084),
      7,
      null,
    ],
  ],
  [
    "status_callback_url",
    // With a carrier it may be absent: the rule of outdial's own interface is in `flow.ts`.
    ["", "wss://app.test", "http://app.test/status", long(2084), new Date(0)],
  ],
  ["record", ["true", 1, 0, null, "", {}]],
];

export const cases: readonly ClientCase[] = [
  ...refused.map(
    ([field, wrong]): ClientCase => ({
      name: `a ${field} that breaks its rule is refused before any request, by its name`,
      run: async ({ calls }) => {
        for (const value of wrong) {
          const { fetch, sent } = answeringFetch();
          const create = calls.create(
            { ...params, [field]: value },
            { ...options, baseUrl: "https://voice.test", fetch },
          );
          const error = await exceptionOf(create);
          assert.instanceOf(error, BadParametersException, JSON.stringify(value));
          assert.equal(error.name === "BadParametersException" && error.param, field);
          assert.equal(error.placed, "no");
          assert.match(error.message, new RegExp(`^${field} (must be|is missing)`));
          assert.lengthOf(sent, 0);
        }
      },
    }),
  ),
  {
    name: "a refused value is never in the exception",
    run: async ({ calls, inspect }) => {
      const marked = {
        from_number: "MARKED1",
        to_number: "MARKED2",
        flow_url: "MARKED3",
        status_callback_url: "MARKED4",
        record: "MARKED5",
        MARKED6_7777777: "MARKED8",
      };
      const error = await exceptionOf(
        calls.create(marked as never, { ...options, baseUrl: "https://voice.test" }),
      );
      assert.deepEqual(
        error.name === "BadParametersException" && error.issues.map(({ param }) => param),
        [
          "from_number",
          "to_number",
          "flow_url",
          "status_callback_url",
          "record",
          "a field", // A name with digits may be a secret.
        ],
      );
      for (const text of [
        error.message,
        JSON.stringify(error),
        String(error.stack),
        inspect(error),
      ])
        assert.notMatch(text, /MARKED[1-58]/);
    },
  },
  {
    name: "an unknown field is refused by its name: a typo must not dial with a default",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const error = await exceptionOf(
        calls.create({ ...params, recrod: false } as never, {
          ...options,
          baseUrl: "https://voice.test",
          fetch,
        }),
      );
      assert.equal(error.message, "recrod is unknown: did you mean record? (no call was placed)");
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "parameters that are not an object, or that throw when read, are refused",
    run: async ({ calls }) => {
      const throwing = new Proxy(
        {},
        {
          get: () => {
            throw new Error("MARKED");
          },
          ownKeys: () => {
            throw new Error("MARKED");
          },
        },
      );
      const { fetch, sent } = answeringFetch();
      for (const wrong of [undefined, null, "params", 7, [], () => 1, throwing]) {
        const error = await exceptionOf(
          calls.create(wrong as never, { ...options, baseUrl: "https://voice.test", fetch }),
        );
        assert.equal(error.name, "BadParametersException");
        assert.notInclude(error.message, "MARKED");
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "plain http is taken for loopback URLs, and only when baseUrl is itself on loopback",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      for (const host of [
        "localhost",
        "app.localhost:80",
        "127.0.0.1:4010",
        "127.9.9.9",
        "[::1]:4010",
      ]) {
        const local = { ...params, flow_url: `http://${host}/flow` };
        await calls.create(local, { ...options, baseUrl: "http://127.0.0.1:4010", fetch });
        await calls.create(local, { ...options, baseUrl: "https://localhost", fetch });
        const error = await exceptionOf(
          calls.create(local, { ...options, baseUrl: "https://voice.test", fetch }),
        );
        assert.equal(error.name === "BadParametersException" && error.param, "flow_url");
      }
      assert.lengthOf(sent, 10);
      for (const host of [
        "127.0.0.1.evil.test",
        "localhost.evil.test",
        "10.0.0.1",
        "[::2]",
        "xlocalhost",
      ]) {
        const remote = { ...params, status_callback_url: `http://${host}/` };
        const error = await exceptionOf(
          calls.create(remote, { ...options, baseUrl: "http://127.0.0.1:4010", fetch }),
        );
        assert.equal(error.name === "BadParametersException" && error.param, "status_callback_url");
      }
    },
  },
  {
    name: "the exported schema takes what create takes",
    run: () => {
      assert.isTrue(is(CallParams, params));
      assert.isTrue(is(CallParams, { ...params, record: undefined, flow_url: long(2083) }));
      for (const [field, wrong] of refused) {
        for (const value of wrong) {
          const local = typeof value === "string" && /^http:/.test(value);
          // In its place there may be `flow`, which the schema of a field doesn't see.
          const other = field === "flow_url" && value === undefined;
          if (!local && !other)
            assert.isFalse(is(CallParams, { ...params, [field]: value }), `${field} ${value}`);
        }
      }
      assert.isFalse(is(CallParams, { ...params, recrod: false }));
    },
  },
];
