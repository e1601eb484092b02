import { assert } from "chai";
import { callbackHandler, RefusedException, signUrl } from "outdial/callbacks";
import { flowHandler } from "outdial/flows";
import type { Case } from "../case.ts";
import { post, secret, trap, webhookSecret } from "./fixtures.ts";

const flowRequest = {
  call_id: "cs_1",
  account_id: "acc_1",
  from_number: "+12025550199",
  to_number: "+12025550188",
  direction: "outbound",
};

/** Runs work, and returns what it printed by `console.error`. */
const printing = async (work: () => Promise<unknown>): Promise<unknown[]> => {
  const { error } = console;
  const printed: unknown[] = [];
  console.error = (...values: unknown[]) => printed.push(...values);
  try {
    await work();
    await new Promise((resolve) => setTimeout(resolve, 0));
    return printed;
  } finally {
    console.error = error;
  }
};

export const cases: readonly Case[] = [
  {
    name: "a bug in your functions is printed, with its call once that is known, unless onError is given",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const bug = new Error("a bug of the application");
      const fail = () => Promise.reject(bug);
      const handlers = [
        callbackHandler({ secret, onEvent: fail }),
        callbackHandler({ secret, onEvent() {}, verify: fail }),
        callbackHandler({ secret, onEvent: fail, waitUntil: () => {} }),
        callbackHandler({ secret, onEvent() {}, waitUntil: fail }),
        flowHandler({ secret, onAnswer: fail }),
      ];
      for (const [index, handler] of handlers.entries()) {
        const body = index === 4 ? JSON.stringify(flowRequest) : undefined;
        const name = index === 4 ? "flowHandler" : "callbackHandler";
        const about = index === 1 ? [] : [`outdial: ${name}, call "cs_1":`];
        assert.deepEqual(
          await printing(() => handler(post(url, body))),
          [...about, bug],
          `${index}`,
        );
      }
      const reported: unknown[] = [];
      const onError = (error: unknown, _: Request, call_id?: string) =>
        reported.push(error, call_id);
      const handler = callbackHandler({ secret, onEvent: fail, onError });
      assert.deepEqual(await printing(() => handler(post(url))), []);
      assert.deepEqual(reported, [bug, "cs_1"]);
    },
  },
  {
    name: "the first refusal is printed, then one a minute with the count, unless onError is given",
    run: async () => {
      const signed = await signUrl("https://app.test/status", { secret });
      const url = await signUrl("https://app.test/status", { secret: `another ${secret}` });
      const { now } = Date;
      const start = now() + 3_600_000;
      const refuse = () => callbackHandler({ secret, onEvent() {} })(post(url));
      // Other cases may have been refused before, and platforms make a handler for each request.
      Date.now = () => start;
      try {
        await printing(refuse);
        Date.now = () => start + 120_000;
        const line = `outdial: callbackHandler refused a request: ${new RefusedException("wrong_token").message}`;
        assert.deepEqual(await printing(refuse), [line]);
        Date.now = () => start + 179_999;
        assert.deepEqual(await printing(() => Promise.all([refuse(), refuse()])), []);
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const other = callbackHandler({ secret, onEvent() {}, onError });
        Date.now = () => start + 180_000;
        assert.deepEqual(await printing(() => other(post(url))), []);
        assert.lengthOf(reported, 1);
        const flow = flowHandler({ secret, onAnswer: () => ({ action: "hangup" }) });
        assert.lengthOf(await printing(() => flow(post(url))), 1);
        assert.deepEqual(await printing(refuse), [`${line} (3 since the last line)`]);
        assert.equal((await callbackHandler({ secret, onEvent() {} })(post(signed))).status, 204);
      } finally {
        Date.now = now;
      }
    },
  },
  {
    name: "a refusal that is printed names the call that the body has, and no telephone number",
    run: async () => {
      const { now } = Date;
      let at = now() + 7_200_000;
      const handlers = [
        callbackHandler({ verify: () => false, onEvent() {} }),
        flowHandler({ verify: () => false, onAnswer: () => ({ action: "hangup" }) }),
      ];
      const named = [
        ['{"type":"call.ringing","call_id": "cs_1"}', " about the call cs_1"],
        ["AccountSid=AC1&CallSid=CA0a&To=%2B12025550100", " about the call CA0a"],
        ["AccountSid=AC1&CallSid=v3%3Aab_c-d", " about the call v3:ab_c-d"],
        ['{"conversation_uuid":"CON-1","uuid":"0a-1b"}', " about the call 0a-1b"],
        ['{"call_id":"+12025550100"}', ""],
        ["CallSid=%2B12025550100", ""],
        ['{"call_id":"12025550100"}', ""],
        ["CallSid=a%0Ab&", " about the call a"],
        ["CallSid=%", ""],
        ["", ""],
      ] as const;
      try {
        for (const [body, about] of named) {
          for (const [index, handler] of handlers.entries()) {
            at += 120_000;
            Date.now = () => at;
            const name = index ? "flowHandler" : "callbackHandler";
            const [line] = await printing(() => handler(post("https://app.test/", body)));
            const start = `outdial: ${name} refused a request${about}: not_verified: `;
            assert.isTrue(String(line).startsWith(start), `${line}`);
          }
        }
      } finally {
        Date.now = now;
      }
    },
  },
  {
    name: "HEAD and OPTIONS are answered by the URL's token alone, and call nothing",
    run: async () => {
      const base = "https://app.test/status";
      const url = await signUrl(base, { secret });
      let called = 0;
      const call = () => {
        called++;
        return Promise.reject(new Error("called"));
      };
      const given = { verify: call, webhookSecret, onError: call };
      const handlers = (checks: object) => [
        callbackHandler({ dangerouslyAllowUnverified: true, ...given, ...checks, onEvent: call }),
        flowHandler({ dangerouslyAllowUnverified: true, ...given, ...checks, onAnswer: call }),
      ];
      for (const method of ["HEAD", "OPTIONS"]) {
        for (const handler of handlers({ secret })) {
          for (const [asked, status, reason] of [
            [url, 204, null],
            [base, 401, "no_token"],
            [url.replace("/status", "/other"), 401, "wrong_token"],
            [await signUrl(base, { secret: `another ${secret}` }), 401, "wrong_token"],
            [await signUrl(base, { secret, expiresIn: 1 }), 401, "expired_token"],
          ] as const) {
            const { now } = Date;
            if (reason === "expired_token") Date.now = () => now() + 10_000;
            let response: Response;
            try {
              response = await handler(new Request(asked, { method }));
            } finally {
              Date.now = now;
            }
            assert.equal(response.status, status, `${method} ${reason}`);
            assert.equal(response.headers.get("outdial-refused"), reason);
          }
        }
        const proxied = await signUrl("https://app.test/public/status", { secret });
        const publicUrl = "https://app.test/public/status";
        for (const handler of handlers({ secret, publicUrl })) {
          const rewritten = proxied.replace("/public", "");
          assert.equal((await handler(new Request(rewritten, { method }))).status, 204);
        }
        assert.equal(called, 0);
        for (const handler of handlers({})) {
          const response = await handler(new Request(url, { method }));
          assert.equal(response.status, 405);
          assert.equal(response.headers.get("allow"), "POST");
        }
        called = 0;
      }
    },
  },
  {
    name: "the response to a refusal is one fixed sentence, with nothing of the request in it",
    run: async () => {
      const url = await signUrl("https://app.test/MARKED", { secret });
      const handler = callbackHandler({ secret, webhookSecret, onEvent() {} });
      for (const [wrong, sentence] of [
        [url.replace("MARKED", "MARKED2"), /^The token of the URL was made for another path/],
        ["https://app.test/MARKED", /^The URL has no token/],
        [url, /^The signature headers are missing/],
      ] as const) {
        const response = await handler(post(wrong, "MARKED", { "x-header": "MARKED" }));
        const text = await response.text();
        assert.match(text, sentence);
        assert.notInclude(text, "MARKED");
      }
    },
  },
  {
    name: "the handler gives event and context to onEvent, and answers 204",
    run: async () => {
      const context = { order: 17 };
      const url = await signUrl("https://app.test/status", { secret, context });
      const got: unknown[] = [];
      const handler = callbackHandler({ secret, onEvent: (received) => got.push(received) });
      const response = await handler(post(url));
      assert.equal(response.status, 204);
      assert.equal(await response.text(), "");
      const data = { to: "+12025550188" };
      const event = { known: true, type: "call.ringing", call_id: "cs_1", data };
      assert.deepEqual(got, [{ event, context }]);
    },
  },
  {
    name: "an onEvent that throws is answered 500, so that the service delivers again",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const lost = new Error("the database is away");
      for (const onEvent of [
        () => {
          throw lost;
        },
        () => Promise.reject(lost),
      ]) {
        const reported: unknown[] = [];
        const onError = (error: unknown, { url }: Request) => reported.push(error, url);
        const response = await callbackHandler({ secret, onEvent, onError })(post(url));
        assert.equal(response.status, 500);
        assert.equal(await response.text(), "");
        assert.deepEqual(reported, [lost, url]);
        assert.equal((await callbackHandler({ secret, onEvent })(post(url))).status, 500);
      }
    },
  },
  {
    name: "whatever onEvent throws is a failure, and only reported: a refusal and a proxy too",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const thrown of [new RefusedException("no_token"), trap(), null, undefined, "text"]) {
        const reported: unknown[] = [];
        const onEvent = () => Promise.reject(thrown);
        const onError = (error: unknown) => reported.push(error);
        const response = await callbackHandler({ secret, onEvent, onError })(post(url));
        assert.equal(response.status, 500);
        assert.lengthOf(reported, 1);
        assert.isTrue(reported[0] === thrown);
      }
    },
  },
  {
    name: "an onError that changes what it gets doesn't change the answer",
    run: async () => {
      for (const status of [42, 204, "x", Number.NaN, undefined]) {
        const onError = (error: unknown) => Object.assign(Object(error), { status });
        const handler = callbackHandler({ secret, onEvent() {}, onError });
        assert.equal((await handler(post("https://app.test/status"))).status, 401);
      }
    },
  },
  {
    name: "an onError that fails, or never settles, changes nothing",
    run: async () => {
      const fail = () => {
        throw new Error("the log is full");
      };
      const hostile = new Proxy({}, { get: fail });
      for (const onError of [
        fail,
        async () => fail(),
        () => new Promise(() => {}),
        () => hostile,
      ]) {
        const handler = callbackHandler({ secret, onEvent() {}, onError });
        assert.equal((await handler(post("https://app.test/status"))).status, 401);
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
  },
  {
    name: "a waitUntil that throws is reported, and the answer waits for onEvent after all",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const illegal = new TypeError("Illegal invocation");
      const lost = new Error("the database is away");
      const waitUntil = () => {
        throw illegal;
      };
      let events = 0;
      for (const [onEvent, status, errors] of [
        [() => ++events, 204, [illegal]],
        [() => Promise.reject(lost), 500, [illegal, lost]],
      ] as const) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const handler = callbackHandler({ secret, onEvent, onError, waitUntil });
        assert.equal((await handler(post(url))).status, status);
        assert.deepEqual(reported, [...errors]);
      }
      assert.equal(events, 1);
    },
  },
  {
    name: "a promise of waitUntil isn't waited for, and reported when it rejects",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const lost = new Error("the log is full");
      for (const [waitUntil, errors] of [
        [() => Promise.reject(lost), [lost]],
        [() => new Promise(() => {}), []],
      ] as const) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const handler = callbackHandler({ secret, onEvent() {}, onError, waitUntil });
        assert.equal((await handler(post(url))).status, 204);
        await new Promise((resolve) => setTimeout(resolve, 0));
        assert.deepEqual(reported, [...errors]);
      }
    },
  },
  {
    name: "with waitUntil the answer comes first, and a late failure is only reported",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const works: Promise<unknown>[] = [];
      const reported: unknown[] = [];
      const lost = new Error("too late");
      let fail = () => {};
      const handler = callbackHandler({
        secret,
        onEvent: () =>
          new Promise((_, reject) => {
            fail = () => reject(lost);
          }),
        onError: (error) => reported.push(error),
        waitUntil: (work) => works.push(work),
      });
      assert.equal((await handler(post(url))).status, 204);
      assert.deepEqual(reported, []);
      fail();
      assert.lengthOf(works, 1);
      await Promise.all(works);
      assert.deepEqual(reported, [lost]);
    },
  },
];
