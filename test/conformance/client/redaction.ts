import { assert } from "chai";
import { answering } from "../../stub-server/answer.ts";
import type { ClientCase, ClientEnv } from "../case.ts";
import { apiKey, exceptionOf, from_number, options, params, to_number } from "../fixtures.ts";

const echo = `sent ${apiKey} from ${from_number} to ${encodeURIComponent(to_number)}`;

/** An error as a wrapper of the caller's might throw it: the whole request inside. */
const telling = () =>
  Object.assign(new TypeError(echo, { cause: new Error(echo, { cause: echo }) }), {
    code: echo,
    request: { headers: { "X-API-Key": apiKey }, body: JSON.stringify(params) },
  });

/** One attempt for each way in which a call fails, all of them with secrets in reach. */
const failures = ({ calls, peer }: ClientEnv): readonly (() => Promise<unknown>)[] => {
  const create = (more: object) =>
    calls.create(params, { ...options, baseUrl: "https://voice.test", timeout: 3_000, ...more });
  const answered = (status: number, json: unknown, headers = {}) =>
    create({ baseUrl: answering(peer, { status, json, headers }).baseUrl, path: "calls" });
  return [
    ...[400, 401, 403, 404, 409, 422, 429, 500, 503].map(
      (status) => () => answered(status, { detail: echo }),
    ),
    () =>
      answered(422, {
        detail: [{ loc: ["body", to_number], msg: echo, type: echo, input: echo, ctx: { apiKey } }],
      }),
    () =>
      answered(
        422,
        { message: echo, errors: [{ loc: [echo], msg: echo, type: apiKey }] },
        { "x-request-id": apiKey },
      ),
    () => answered(202, { [apiKey]: echo }),
    () => answered(307, {}, { location: `${peer}/?key=${apiKey}` }),
    () => create({ baseUrl: answering(peer, { instead: "drop" }).baseUrl }),
    () => create({ baseUrl: answering(peer, { instead: "silence" }).baseUrl, timeout: 50 }),
    () => create({ baseUrl: "http://127.0.0.1:4" }),
    () => create({ fetch: () => Promise.reject(telling()) }),
    () => create({ fetch: () => Promise.reject(echo) }),
    () =>
      create({
        fetch: async () =>
          new Response(new ReadableStream({ pull: () => Promise.reject(telling()) })),
      }),
    () => create({ apiKey: () => Promise.reject(telling()) }),
    () => create({ apiKey: `${apiKey}\n` }),
    () => create({ headers: { "x-extra": `${apiKey}\n` } }),
    () => create({ [apiKey]: 1 }),
    () =>
      calls.create({ ...params, to_number: `${to_number}00000` } as never, {
        ...options,
        baseUrl: "https://voice.test",
      }),
    () =>
      calls.create({ ...params, [to_number]: 1, [apiKey]: 1 } as never, {
        ...options,
        baseUrl: "https://voice.test",
      }),
    () =>
      calls.create(
        { ...params, flow_url: `http://app.test/${apiKey}` },
        { ...options, baseUrl: "https://voice.test" },
      ),
  ];
};

const assertClean = (text: string | undefined) => {
  for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
    assert.isFalse(
      `${text}`.includes(secret),
      `${text}`.replaceAll(secret, "[SECRET]").slice(0, 500),
    );
  }
};

export const cases: readonly ClientCase[] = [
  {
    name: "neither key nor numbers are in an exception, however it is printed, copied or walked",
    run: async (env) => {
      for (const fail of failures(env)) {
        const error = await exceptionOf(fail());
        // The launcher's output is searched by whoever started it.
        console.log(error);
        console.log("%o %s %j", error, error, error);
        for (const print of [env.inspect, String, JSON.stringify]) assertClean(print(error));
        for (const text of [error.message, error.stack, error.detail, error.requestId])
          assertClean(text);
        assertClean(JSON.stringify(Object.entries(Object.getOwnPropertyDescriptors(error))));
        assert.isUndefined(error.cause);
        const copy = structuredClone(error);
        assertClean(env.inspect(copy));
        assert.include(copy.message, error.message);
      }
    },
  },
  {
    name: "what the service said is kept, but for the secrets in it",
    run: async ({ calls, peer }) => {
      const { baseUrl } = answering(peer, {
        status: 403,
        json: { detail: `${from_number} is not yours, ${apiKey}` },
      });
      assert.equal(
        (await exceptionOf(calls.create(params, { ...options, baseUrl }))).detail,
        "*** is not yours, ***",
      );
    },
  },
  {
    name: "after another key was tried, neither of the two is in the exception",
    run: async ({ calls, peer, inspect }) => {
      const keys = ["ak_new-MARKED", "ak_old-MARKED"];
      const detail = `${keys.join()} are not valid`;
      const { baseUrl, seen } = answering(peer, { status: 403, json: { detail } });
      const given = [...keys];
      const error = await exceptionOf(
        calls.create(params, { ...options, baseUrl, apiKey: () => given.pop() ?? "" }),
      );
      assert.lengthOf(await seen(), 2);
      assert.notInclude(inspect(error), "MARKED");
    },
  },
  {
    name: "a client shows neither its key nor its options",
    run: async ({ Client, inspect }) => {
      const client = new Client(apiKey, {
        baseUrl: "https://voice.test",
        dangerouslyAllowBrowser: true,
      });
      console.log(client);
      for (const text of [
        inspect(client),
        inspect(client.calls),
        JSON.stringify(client),
        String(client.calls.create),
      ])
        assertClean(text);
    },
  },
  {
    name: "the name of an exception is whole in minified code",
    run: async ({ calls }) => {
      const error = await exceptionOf(
        calls.create({} as never, { ...options, baseUrl: "https://voice.test" }),
      );
      assert.equal(error.name, "BadParametersException");
      assert.match(String(error), /^BadParametersException: from_number is missing/);
    },
  },
  {
    name: "this console is the one that is searched",
    run: () => console.log("CANARY: this line must be found in the launcher's output"),
  },
];
