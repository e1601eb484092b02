import { assert } from "chai";
import { answering } from "../../stub-server/answer.ts";
import type { ClientCase } from "../case.ts";
import { accepted, answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";

const first = "/api/v1/calls/initiate";
const second = "/api/v1/voice/calls/initiate";

export const cases: readonly ClientCase[] = [
  {
    name: "a call is one POST with the key in its header and the parameters as JSON",
    run: async ({ calls, peer }) => {
      const { baseUrl, seen } = answering(peer, accepted);
      const call = await calls.create(
        { ...params, record: false },
        { ...options, baseUrl, headers: { "x-extra": "1" } },
      );
      assert.equal(call.id, "cs_1");
      const [request, ...others] = await seen();
      assert.lengthOf(others, 0);
      assert.equal(request?.method, "POST");
      assert.equal(request?.path, first);
      assert.equal(request?.headers["x-api-key"], apiKey);
      assert.match(String(request?.headers["content-type"]), /^application\/json(;|$)/);
      assert.equal(request?.headers["x-extra"], "1");
      assert.deepEqual(JSON.parse(request?.body ?? ""), { ...params, record: false });
    },
  },
  {
    name: "record is left to the service unless it is given",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const baseUrl = "https://voice.test";
      await calls.create(params, { ...options, baseUrl, fetch });
      await calls.create({ ...params, record: undefined }, { ...options, baseUrl, fetch });
      for (const { init } of sent)
        assert.notInclude(await new Response(init.body).text(), "record");
    },
  },
  {
    name: "the result is the call under data, or the call bare, with every field that the service sent",
    run: async ({ calls, peer }) => {
      const wrapped = answering(peer, {
        status: 202,
        json: { message: "ok", data: { id: "cs_1", extra: { deep: [1] } } },
      });
      assert.deepEqual(await calls.create(params, { ...options, baseUrl: wrapped.baseUrl }), {
        message: "ok",
        id: "cs_1",
        extra: { deep: [1] },
      });
      for (const status of [200, 201, 202, 203]) {
        const bare = answering(peer, { status, json: { id: "any text", data: 7, nothing: null } });
        assert.deepEqual(await calls.create(params, { ...options, baseUrl: bare.baseUrl }), {
          id: "any text",
          data: 7,
          nothing: null,
        });
      }
    },
  },
  {
    name: "baseUrl is taken with and without a slash, a prefix and /api/v1 at its end",
    run: async ({ calls }) => {
      for (const [baseUrl, url] of [
        ["https://voice.test", `https://voice.test${first}`],
        ["https://voice.test/", `https://voice.test${first}`],
        ["https://voice.test//", `https://voice.test${first}`],
        ["https://voice.test/eu", `https://voice.test/eu${first}`],
        ["https://voice.test/eu/", `https://voice.test/eu${first}`],
        ["https://voice.test/api/v1", `https://voice.test${first}`],
        ["https://voice.test/eu/api/v1/", `https://voice.test/eu${first}`],
      ] as const) {
        const { fetch, sent } = answeringFetch();
        await calls.create(params, { ...options, baseUrl, fetch });
        assert.deepEqual(
          sent.map((each) => each.url),
          [url],
        );
      }
    },
  },
  {
    name: "when the first path is absent (404, 405, 410) the second one is tried, once",
    run: async ({ calls, peer }) => {
      for (const status of [404, 405, 410]) {
        const { baseUrl, seen } = answering(peer, { status }, accepted);
        assert.equal((await calls.create(params, { ...options, baseUrl })).id, "cs_1");
        assert.deepEqual(
          (await seen()).map(({ path }) => path),
          [first, second],
        );
      }
      const { baseUrl, seen } = answering(peer, { status: 404 });
      assert.equal((await exceptionOf(calls.create(params, { ...options, baseUrl }))).code, 404);
      assert.lengthOf(await seen(), 2);
    },
  },
  {
    name: "no other answer leads to the second path",
    run: async ({ calls, peer }) => {
      for (const status of [400, 401, 403, 409, 422, 500, 501, 503]) {
        const { baseUrl, seen } = answering(peer, { status });
        assert.equal(
          (await exceptionOf(calls.create(params, { ...options, baseUrl }))).code,
          status,
        );
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "a pinned path is the only one that is tried",
    run: async ({ calls, peer }) => {
      for (const [path, only] of [
        ["calls", first],
        ["voice/calls", second],
      ] as const) {
        const { baseUrl, seen } = answering(peer, { status: 404 });
        await exceptionOf(calls.create(params, { ...options, baseUrl, path }));
        assert.deepEqual(
          (await seen()).map((each) => each.path),
          [only],
        );
      }
    },
  },
  {
    name: "a client remembers which path answered; create on its own does not",
    run: async ({ Client, calls }) => {
      const absent = () => {
        const paths: string[] = [];
        const fetch = async (url: string) => {
          paths.push(new URL(url).pathname);
          return url.includes("voice")
            ? Response.json({ id: "cs_1" })
            : new Response("", { status: 404 });
        };
        return { paths, fetch };
      };
      const baseUrl = "https://prefix.test";
      const kept = absent();
      const client = new Client(apiKey, {
        baseUrl,
        fetch: kept.fetch,
        dangerouslyAllowBrowser: true,
      });
      for (let count = 0; count < 3; count++) await client.calls.create(params);
      assert.deepEqual(kept.paths, [first, second, second, second]);
      const alone = absent();
      for (let count = 0; count < 2; count++)
        await calls.create(params, { ...options, baseUrl, fetch: alone.fetch });
      assert.deepEqual(alone.paths, [first, second, first, second]);
    },
  },
  {
    name: "a remembered path that has gone is left for the other one",
    run: async ({ Client }) => {
      let gone = "calls/";
      const fetch = async (url: string) =>
        new URL(url).pathname.startsWith(`/api/v1/${gone}`)
          ? new Response("", { status: 404 })
          : Response.json({ id: "cs_1" });
      const client = new Client(apiKey, {
        baseUrl: "https://voice.test",
        fetch,
        dangerouslyAllowBrowser: true,
      });
      await client.calls.create(params);
      gone = "voice/";
      await client.calls.create(params);
      gone = "calls/";
      assert.equal((await client.calls.create(params)).id, "cs_1");
    },
  },
];
