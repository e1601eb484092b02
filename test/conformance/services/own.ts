import { assert } from "chai";
import { answering, type Seen } from "../../stub-server/answer.ts";
import type { ClientCase } from "../case.ts";
import { answeringFetch, apiKey, exceptionOf, options, params } from "../fixtures.ts";
import { type Carrier, tokenIn } from "./carrier.ts";

const baseUrl = "https://voice.test";

const tokenOf = ({ headers }: Seen): string =>
  tokenIn({ authorization: `${headers.authorization}` });

/** What holds with every carrier in the place of the cases that are about outdial's own request and answers. */
export const ownCases = (carrier: Carrier): readonly ClientCase[] => [
  {
    name: "a call is one POST to the carrier's path, in its form, with the credentials in one header",
    run: async ({ calls, peer }) => {
      for (const end of ["", "/", "/eu", "/eu//"]) {
        const { baseUrl, seen } = answering(peer, { status: 201, json: { id: "cs_1" } });
        const call = await calls.create(params, { ...options, baseUrl: `${baseUrl}${end}` });
        assert.equal(call.id, "cs_1");
        const [request, ...others] = await seen();
        assert.lengthOf(others, 0);
        assert.isDefined(request);
        assert.equal(request.method, "POST");
        assert.equal(request.path, end.replace(/\/+$/, "") + carrier.path);
        assert.equal(request.headers["content-type"], carrier.contentType);
        assert.isUndefined(request.headers["x-api-key"]);
        assert.deepEqual(carrier.readCall(request.body), params);
        await carrier.assertToken(tokenOf(request), apiKey);
        for (const text of [request.path, request.body, JSON.stringify(call)])
          assert.isFalse(carrier.showsKey(text));
      }
    },
  },
  {
    name: "a carrier keeps no Idempotency-Key: idempotent and idempotencyKey are refused by their names",
    run: async ({ calls, Client }) => {
      const { fetch, sent } = answeringFetch();
      const { apiKey: key, ...kept } = { ...options, baseUrl, fetch };
      for (const [param, value] of [
        ["idempotent", true],
        ["idempotencyKey", "message-1"],
      ] as const) {
        const own = { [param]: value };
        for (const call of [
          calls.create(params, { ...kept, apiKey: key, ...own }),
          new Client(key, kept).calls.create(params, own),
        ]) {
          const error = await exceptionOf(call);
          assert.equal(
            error.message,
            `${param} must be left out with a service (no call was placed)`,
          );
        }
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "a call has every field that the carrier sent",
    run: async ({ calls }) => {
      const { fetch } = answeringFetch(() =>
        Response.json({ id: "cs_1", extra: { deep: [1] } }, { status: 201 }),
      );
      const { id, ...rest } = await calls.create(params, { ...options, baseUrl, fetch });
      assert.equal(id, "cs_1");
      assert.deepInclude(rest, { extra: { deep: [1] } });
    },
  },
  {
    name: "after a 401 or a 403 the key function is asked again, and another key is tried once",
    run: async ({ calls, peer }) => {
      for (const status of [401, 403]) {
        for (const [keys, posts] of [
          [["ak_old", "ak_new", "ak_newest"], 2],
          [["ak_old", "ak_old"], 1],
        ] as const) {
          const given = [...keys];
          const { baseUrl, seen } = answering(peer, { status });
          const error = await exceptionOf(
            calls.create(params, { ...options, baseUrl, apiKey: () => given.shift() ?? "" }),
          );
          assert.deepEqual([error.code, error.placed], [status, "no"]);
          const requests = await seen();
          assert.lengthOf(requests, posts);
          for (const [at, request] of requests.entries())
            await carrier.assertToken(tokenOf(request), keys[at] ?? "");
        }
      }
    },
  },
  {
    name: "no other refusal asks for another key or another path, and is one POST",
    run: async ({ calls, peer }) => {
      for (const status of [400, 404, 405, 408, 409, 410, 422, 500, 503]) {
        let asked = 0;
        const { baseUrl, seen } = answering(peer, { status });
        const given = { ...options, baseUrl, apiKey: () => `ak_${asked++}` };
        await exceptionOf(calls.create(params, given));
        assert.equal(asked, 1);
        assert.lengthOf(await seen(), 1);
      }
    },
  },
  {
    name: "onAttempt hears of each POST: the carrier's URL, its status, and the id of the request",
    run: async ({ calls, peer }) => {
      const { baseUrl } = answering(
        peer,
        { status: 429, headers: { "retry-after": "0" } },
        { status: 201, json: { id: "cs_1" }, headers: { "x-request-id": "req_1" } },
      );
      const heard: unknown[] = [];
      await calls.create(params, {
        ...options,
        baseUrl,
        retries: 1,
        onAttempt: ({ url, milliseconds: _, ...rest }) =>
          heard.push({ ...rest, path: url.slice(-carrier.path.length) }),
      });
      const each = { method: "POST", path: carrier.path };
      assert.deepEqual(heard, [
        { ...each, attempt: 1, status: 429, requestId: undefined, placed: "no" },
        { ...each, attempt: 2, status: 201, requestId: "req_1", placed: "yes" },
      ]);
    },
  },
  {
    name: "the credentials of the request are in no exception, whichever refusal repeats them",
    run: async ({ calls, peer, inspect }) => {
      const { echoedKey } = carrier;
      const detail = `{token} and ${echoedKey} are not valid for ${params.to_number}`;
      for (const status of [400, 401, 403, 404, 429, 500, 503]) {
        for (const json of [
          { detail },
          { detail, code: "{token}", type: "{token}" },
          { detail, errors: [{ loc: ["{token}"], msg: detail, type: "{token}" }] },
        ]) {
          const headers = { "x-request-id": "{token}", "retry-after": "{token}" };
          const { baseUrl } = answering(peer, { status, json, headers });
          const error = await exceptionOf(calls.create(params, { ...options, baseUrl }));
          for (const shown of [inspect(error), JSON.stringify(error), String(error.stack)]) {
            assert.isFalse(carrier.showsKey(shown));
            assert.notInclude(shown, params.to_number.slice(1));
          }
        }
      }
    },
  },
  {
    name: "Authorization is the client's own header, and no other option may set it",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      for (const name of ["Authorization", "authorization", "AUTHORIZATION"]) {
        const headers = { [name]: "Bearer of_somebody" };
        const error = await exceptionOf(
          calls.create(params, { ...options, baseUrl, fetch, headers }),
        );
        assert.equal(error.name === "BadParametersException" && error.param, "headers");
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "an answer past 1 MiB is refused unread, and the call may have been placed",
    run: async ({ calls, peer }) => {
      const endless = { body: " ".repeat(2 ** 10), times: 10 * 2 ** 10 };
      for (const [status, placed] of [
        [201, "maybe"],
        [403, "no"],
      ] as const) {
        const { baseUrl, seen } = answering(peer, { status, ...endless });
        const error = await exceptionOf(calls.create(params, { ...options, baseUrl }));
        assert.deepEqual([error.code, error.placed], [status, placed]);
        assert.lengthOf(await seen(), 1);
      }
    },
  },
];
