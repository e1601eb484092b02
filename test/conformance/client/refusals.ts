import { assert } from "chai";
import { ServiceException } from "outdial";
import { type Answer, answering } from "../../stub-server/answer.ts";
import type { ClientCase, ClientEnv } from "../case.ts";
import { answeringFetch, exceptionOf, options, params } from "../fixtures.ts";

/** What comes of one answer of the service, and how many requests it saw. */
const answered = async (
  { calls, peer }: ClientEnv,
  answer: Answer,
  path: "calls" | "auto" = "calls",
) => {
  const { baseUrl, seen } = answering(peer, answer);
  const error = await exceptionOf(
    calls.create(params, { ...options, baseUrl, path, timeout: 5_000 }),
  );
  assert.instanceOf(error, ServiceException);
  assert.instanceOf(error, Error);
  return { error, posts: (await seen()).length };
};

const fieldErrors = [{ loc: ["body", "to_number"], msg: "not a number", type: "value_error" }];

export const cases: readonly ClientCase[] = [
  {
    name: "each HTTP status has its exception, its code and its placed; one POST each",
    run: async (env) => {
      for (const status of [
        400, 401, 402, 403, 404, 405, 408, 409, 410, 413, 415, 418, 422, 425, 429, 451, 499, 500,
        501, 502, 503, 504, 599,
      ]) {
        const { error, posts } = await answered(env, { status, json: { detail: "no" } });
        const name =
          { 401: "UnauthorizedException", 403: "ForbiddenException" }[status] ?? "ServiceException";
        assert.equal(error.name, name);
        assert.equal(error.code, status);
        assert.equal(error.placed, env.refuses(status) ? "no" : "maybe");
        assert.equal(error.detail, "no");
        assert.equal(posts, 1);
      }
    },
  },
  {
    name: "a refusal tells the status, the service's words and what is known of the telephone",
    run: async (env) => {
      const no = await answered(env, { status: 403, json: { detail: "Invalid API Key." } });
      assert.equal(no.error.message, "HTTP 403 Invalid API Key. (no call was placed)");
      const maybe = await answered(env, { status: 503 });
      assert.equal(maybe.error.message, "HTTP 503 (a call may have been placed)");
    },
  },
  {
    name: "field errors are understood in both forms",
    run: async (env) => {
      for (const json of [
        { detail: fieldErrors },
        { success: false, message: "Check the fields.", errors: fieldErrors },
      ]) {
        const { error } = await answered(env, { status: 422, json });
        assert.deepEqual(error.errors, fieldErrors);
        assert.equal(
          error.detail,
          "message" in json ? "Check the fields." : "body.to_number: not a number",
        );
      }
      const { error } = await answered(env, {
        status: 422,
        json: { detail: [{ loc: ["header", 0], msg: 7 }, "junk", null] },
      });
      assert.deepEqual(
        error.errors?.map(({ msg }) => msg),
        ["7", "", ""],
      );
    },
  },
  {
    name: "the service's words are understood in both forms",
    run: async (env) => {
      for (const json of [
        { detail: "Not yours." },
        { success: false, message: "Not yours.", code: "from_number_not_provisioned" },
      ]) {
        const { error } = await answered(env, { status: 400, json });
        assert.equal(error.detail, "Not yours.");
        assert.isUndefined(error.errors);
      }
    },
  },
  {
    name: "Retry-After is read as seconds or as a date, and junk counts as absent",
    run: async (env) => {
      const inAMinute = new Date(Date.now() + 60_000).toUTCString();
      for (const [value, least, most] of [
        ["7", 7, 7],
        ["0", 0, 0],
        [inAMinute, 50, 61],
        ["Wed, 21 Oct 2015 07:28:00 GMT", 0, 0],
      ] as const) {
        const { error } = await answered(env, { status: 503, headers: { "retry-after": value } });
        assert.isAtLeast(error.retryAfter ?? -1, least);
        assert.isAtMost(error.retryAfter ?? -1, most);
      }
      for (const value of ["soon", "soon 5", "-1", "1.5", "1.5.2", "Mon 99", ""]) {
        const { error } = await answered(env, { status: 503, headers: { "retry-after": value } });
        assert.isUndefined(error.retryAfter, value);
      }
    },
  },
  {
    name: "requestId is read from a usual header",
    run: async (env) => {
      const { calls } = env;
      const { error } = await answered(env, { status: 500, headers: { "x-request-id": "req_1" } });
      assert.equal(error.requestId, "req_1");
      const { fetch } = answeringFetch(
        () => new Response("", { status: 500, headers: { "request-id": "req_2" } }),
      );
      assert.equal(
        (
          await exceptionOf(
            calls.create(params, { ...options, baseUrl: "https://voice.test", fetch }),
          )
        ).requestId,
        "req_2",
      );
    },
  },
  {
    name: "a refusal in HTML, empty, truncated, as junk or as a list still has its status and its placed",
    run: async (env) => {
      for (const body of [
        "<h1>403</h1>",
        "",
        '{"detail":"Inv',
        "null",
        "[]",
        '"text"',
        "7",
        '{"detail":7}',
        '{"detail":{"a":1}}',
        '{"errors":{}}',
        "\u0000",
      ]) {
        const { error, posts } = await answered(env, {
          status: 403,
          headers: { "content-type": "text/html" },
          body,
        });
        assert.equal(error.name, "ForbiddenException");
        assert.equal(error.placed, "no");
        assert.equal(posts, 1);
      }
    },
  },
  {
    name: "a 2xx without the id of a call is a ServiceException, and the call may have been placed",
    run: async (env) => {
      for (const body of [
        "<h1>ok</h1>",
        "",
        '{"data":{"id":"cs',
        "null",
        "[]",
        "7",
        "{}",
        '{"id":""}',
        '{"id":7}',
        '{"data":{"id":null}}',
        '{"data":null}',
      ]) {
        const { error, posts } = await answered(env, { status: 202, body });
        assert.equal(error.name, "ServiceException");
        assert.equal(error.code, 202);
        assert.equal(error.placed, "maybe");
        assert.equal(posts, 1);
      }
      const { error } = await answered(env, { status: 204 });
      assert.equal(error.code, 204);
    },
  },
  {
    name: "an answer past 1 MiB is refused unread; just below it is read",
    run: async (env) => {
      const { calls } = env;
      const mebibyte = { body: " ".repeat(2 ** 10), times: 2 ** 10 };
      const { error } = await answered(env, { status: 202, ...mebibyte, times: 10 * 2 ** 10 });
      assert.equal(error.code, 202);
      assert.equal(error.placed, "maybe");
      const { error: refused } = await answered(env, {
        status: 403,
        ...mebibyte,
        times: 10 * 2 ** 10,
      });
      assert.equal(refused.name, "ForbiddenException");
      const most = JSON.stringify({ id: "cs_1", text: "x".repeat(2 ** 20 - 23) });
      assert.lengthOf(most, 2 ** 20);
      const { fetch } = answeringFetch(() => new Response(most));
      assert.equal(
        (await calls.create(params, { ...options, baseUrl: "https://voice.test", fetch })).id,
        "cs_1",
      );
      const { fetch: more } = answeringFetch(() => new Response(`${most} `));
      assert.equal(
        (
          await exceptionOf(
            calls.create(params, { ...options, baseUrl: "https://voice.test", fetch: more }),
          )
        ).placed,
        "maybe",
      );
    },
  },
  {
    name: "__proto__ in an answer is data, and changes no prototype",
    run: async ({ calls, peer }) => {
      const { baseUrl } = answering(peer, {
        body: '{"id":"cs_1","__proto__":{"polluted":1},"data":{"id":"cs_2","__proto__":{"polluted":1}}}',
      });
      const call = await calls.create(params, { ...options, baseUrl });
      assert.equal(call.id, "cs_2");
      assert.notProperty({}, "polluted");
      assert.strictEqual(Object.getPrototypeOf(call), Object.prototype);
    },
  },
  {
    name: "a redirect of any kind is refused, and the key goes nowhere else",
    run: async (env) => {
      for (const status of [300, 301, 302, 303, 305, 306, 307, 308]) {
        for (const host of ["localhost", "127.0.0.1"]) {
          const thief = answering(env.peer.replace("127.0.0.1", host), {
            status: 202,
            json: { id: "cs_stolen" },
          });
          const { error, posts } = await answered(env, {
            status,
            headers: { location: thief.baseUrl },
          });
          assert.equal(error.name, "ServiceException");
          assert.equal(posts, 1);
          assert.lengthOf(await thief.seen(), 0);
          // A browser hides the status of a redirect that it was asked not to follow.
          const isHidden = env.runtime === "chromium" && ![300, 305, 306].includes(status);
          assert.equal(error.code, isHidden ? 0 : status);
          // 307 and 308 ask for the same POST elsewhere; others often answer one that was processed.
          assert.equal(error.placed, !isHidden && env.refuses(status) ? "no" : "maybe");
        }
      }
    },
  },
  {
    name: "a redirect that a fetch of the caller's followed is no answer, and may have placed a call",
    run: async ({ calls }) => {
      const followed = Object.defineProperty(Response.json({ id: "cs_1" }), "redirected", {
        value: true,
      });
      const error = await exceptionOf(
        calls.create(params, {
          ...options,
          baseUrl: "https://voice.test",
          fetch: async () => followed,
        }),
      );
      assert.equal(error.placed, "maybe");
    },
  },
];
