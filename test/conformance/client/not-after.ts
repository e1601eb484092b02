import { assert } from "chai";
import type { ClientCase } from "../case.ts";
import { accepted, answeringFetch, exceptionOf, options, params } from "../fixtures.ts";

const baseUrl = "https://voice.test";

/** A moment that has passed once `pass` was called. */
const moment = () => {
  const notAfter = new Date(Date.now() + 3_600_000);
  return { notAfter, pass: () => void notAfter.setTime(0) };
};

const isLate = async (call: Promise<unknown>): Promise<void> => {
  const { name, placed, message, code } = await exceptionOf(call);
  assert.deepEqual(
    { name, placed, message, code },
    {
      ...{ name: "TimeoutException", placed: "no", code: undefined },
      message: "notAfter has passed (no call was placed)",
    },
  );
};

export const cases: readonly ClientCase[] = [
  {
    name: "a call whose notAfter is ahead is placed; from that moment on nothing is sent",
    run: async ({ Client, calls }) => {
      const { fetch, sent } = answeringFetch();
      const given = { ...options, baseUrl, fetch };
      const ahead = new Date(Date.now() + 3_600_000);
      assert.equal((await calls.create(params, { ...given, notAfter: ahead })).id, "cs_1");
      for (const notAfter of [new Date(0), new Date(), new Date(Date.now() - 3_600_000)]) {
        await isLate(calls.create(params, { ...given, notAfter }));
        const { apiKey, ...kept } = given;
        await isLate(new Client(apiKey, kept).calls.create(params, { notAfter }));
      }
      assert.lengthOf(sent, 1);
    },
  },
  {
    name: "notAfter is looked at after the key and the encoding, directly before the POST",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const { notAfter, pass } = moment();
      const apiKey = async () => {
        pass();
        return options.apiKey;
      };
      await isLate(calls.create(params, { ...options, baseUrl, fetch, apiKey, notAfter }));
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "what follows a refusal is no POST once notAfter has passed: another path, another key, a retry",
    run: async ({ calls, service }) => {
      // A carrier has no other path.
      for (const status of [...(service ? [] : [404]), 403, 429]) {
        const { notAfter, pass } = moment();
        const keys = ["ak_first_key_1", "ak_second_key_2"];
        let posts = 0;
        const fetch = async () => {
          if (posts++ > 0) return Response.json(accepted.json);
          pass();
          return new Response(null, { status, headers: { "retry-after": "0" } });
        };
        const apiKey = () => keys.shift() ?? "";
        const given = { ...options, apiKey, baseUrl, fetch, retries: 1 };
        await isLate(calls.create(params, { ...given, notAfter }));
        assert.equal(posts, 1, String(status));
      }
    },
  },
];
