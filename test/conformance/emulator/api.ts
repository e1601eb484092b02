import { assert } from "chai";
import { Client, type Options } from "outdial";
import { createEmulator } from "outdial/emulator";
import type { Case } from "../case.ts";
import { apiKey, exceptionOf, from_number, params } from "../fixtures.ts";
import { settle, until, withHeldTimers } from "../timers.ts";

const origin = "https://emulator.test";
const url = `${origin}/api/v1/calls/initiate`;

/** An emulator that accepts calls and reaches nobody. */
const emulator = () =>
  createEmulator({
    apiKey,
    numbers: [from_number],
    clock: "instant",
    fetch: () => new Response(null, { status: 204 }),
  });

const headers = { "X-API-Key": apiKey, "Content-Type": "application/json" };

type Service = ReturnType<typeof emulator>;

const post = ({ fetch }: Service, body: unknown, init: RequestInit = {}, to = url) =>
  fetch(to, {
    method: "POST",
    headers,
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });

const json = async (response: Response): Promise<readonly [number, unknown]> => [
  response.status,
  await response.json(),
];

const text = (status: number, detail: string) => [status, { detail, message: detail }] as const;

/** A field that breaks a rule; the service's words for it are its own. */
const complaint = async (response: Response): Promise<readonly [number, string, string]> => {
  const [status, body] = await json(response);
  const { loc, msg, type } = Object(body).detail[0];
  assert.isString(msg);
  return [status, loc.join("."), type];
};

const client = (service: Service) =>
  new Client(apiKey, { baseUrl: origin, fetch: service.fetch, dangerouslyAllowBrowser: true });

export const cases: readonly Case[] = [
  {
    name: "emulator: accepts a call on both paths with 202 and the call under data",
    run: async () => {
      const service = emulator();
      for (const path of ["calls", "voice/calls"]) {
        const to = `${origin}/api/v1/${path}/initiate`;
        const [status, body] = await json(await post(service, params, {}, to));
        assert.equal(status, 202);
        const { message, data } = Object(body);
        assert.isString(message);
        const { id, ...others } = data;
        assert.match(id, /^cs_[0-9A-HJKMNP-TV-Z]{26}$/);
        const { flow_url: _, ...echoed } = params;
        assert.deepEqual(others, { ...echoed, record: true });
      }
      await service.close();
    },
  },
  {
    name: "emulator: a key places one call on either path, also at once; another body is a conflict, a malformed key 422",
    run: async () => {
      const service = emulator();
      const own = `key_${Math.random().toString(36).slice(2)}-A`;
      const send = (body: object | string, key = own, path = "calls") =>
        post(
          service,
          body,
          { headers: { ...headers, "Idempotency-Key": key } },
          `${origin}/api/v1/${path}/initiate`,
        );
      const idOf = async (response: Response) => Object(await response.json()).data.id;
      // What is refused is not kept.
      assert.equal((await send({ ...params, to_number: "1" })).status, 422);
      const all = await Promise.all([send(params), send(params), send(params, own, "voice/calls")]);
      for (const { status } of all) assert.equal(status, 202);
      const ids = await Promise.all(all.map(idOf));
      assert.lengthOf(new Set(ids), 1);
      assert.deepEqual(await json(await send(params)), await json(await send(params)));
      for (const body of [{ ...params, record: false }, `${JSON.stringify(params)} `]) {
        const [status, refused] = await json(await send(body));
        assert.deepEqual([status, Object(refused).code], [409, "idempotency_conflict"]);
      }
      assert.equal(await idOf(await send(params)), ids[0]);
      assert.notEqual(await idOf(await send(params, `${own}2`)), ids[0]);
      for (const key of ["", "a b", "a.b", "k".repeat(65)]) {
        const named = [422, "header.idempotency-key", "value_error"];
        assert.deepEqual([...(await complaint(await send(params, key)))], named, key);
      }
      assert.equal((await send(params, "k".repeat(64))).status, 202);
      await service.close();
    },
  },
  {
    name: "emulator: a key is kept for 24 h by the emulator's clock, and until reset",
    run: async () => {
      const { now } = Date;
      const began = now();
      let passed = 0;
      Date.now = () => began + passed;
      try {
        for (const [options, day] of [
          [{ clock: "instant" }, 24 * 3_600_000],
          [{ clock: "real", speed: 1_000 }, 24 * 3_600],
        ] as const) {
          passed = 0;
          const fetch = () => new Response(null, { status: 204 });
          const service = createEmulator({ apiKey, fetch, ...options });
          const place = async () => {
            const init = { headers: { ...headers, "Idempotency-Key": "key" } };
            return Object(await (await post(service, params, init)).json()).data.id;
          };
          const first = await place();
          passed = day - 1;
          assert.equal(await place(), first);
          passed = day;
          const second = await place();
          assert.notEqual(second, first);
          service.reset();
          assert.notEqual(await place(), second);
          service.reset();
          await service.close();
        }
      } finally {
        Date.now = now;
      }
    },
  },
  {
    name: "emulator: with a key each answer that is spoiled or lost is whole the next time, and a call is placed once",
    run: async () => {
      for (const [to_number, lost] of [
        ["+12025550112", 1],
        ["+12025550113", 1],
        ["+12025550114", 1],
        ["+12025550115", 1],
        ["+12025550116", 1],
        ["+12025550117", 2],
        ["+12025550118", 1],
      ] as const) {
        const service = emulator();
        const deadline = 30_021;
        const call = await withHeldTimers(
          (delay) => [deadline, deadline / 3, 200, 400].includes(delay),
          async ({ delays, fire }) => {
            let isOver = false;
            const placed = client(service)
              .calls.create({ ...params, to_number }, { idempotent: true, timeout: deadline })
              .finally(() => {
                isOver = true;
              });
            placed.catch(() => {});
            while (!isOver) {
              await settle();
              const [next] = delays().filter((delay) => delay !== deadline);
              if (next !== undefined) await fire(next);
            }
            return placed;
          },
        );
        assert.deepEqual(
          service.calls.map(({ id }) => id),
          [call.id],
          to_number,
        );
        assert.equal(service.posts.get(to_number), lost + 1);
        await service.close();
      }
    },
  },
  {
    name: "emulator: +12025550116 places nothing, 117 and 118 place the call, and each leaves it open",
    run: async () => {
      const service = emulator();
      for (const [to_number, code, calls] of [
        ["+12025550116", undefined, 0],
        ["+12025550117", undefined, 1],
        ["+12025550118", 503, 2],
      ] as const) {
        const error = await exceptionOf(client(service).calls.create({ ...params, to_number }));
        assert.deepEqual([error.placed, error.code], ["maybe", code]);
        assert.lengthOf(service.calls, calls);
      }
      await service.close();
    },
  },
  {
    name: "emulator: answers a Request, and a string or URL with init, without this",
    run: async () => {
      const service = emulator();
      const init = { method: "POST", headers, body: JSON.stringify(params) };
      const { fetch } = service;
      const other = { "Content-Type": "application/json" };
      assert.equal((await fetch(url, init)).status, 202);
      assert.equal((await fetch(new URL(url), init)).status, 202);
      assert.equal((await fetch(new Request(url, init))).status, 202);
      assert.equal((await fetch(new Request(url, init), { headers: other })).status, 422);
      await service.close();
    },
  },
  {
    name: "emulator: knows the two paths and no others",
    run: async () => {
      const service = emulator();
      for (const path of [
        "/",
        "/api/v1/calls",
        "/api/v1/calls/initiate/",
        "/api/v1/calls/initiate/x",
        "/x/api/v1/calls/initiate",
        "/api/v2/calls/initiate",
        "/api/v1/voice/initiate",
      ]) {
        const response = await post(service, params, {}, origin + path);
        assert.deepEqual(await json(response), text(404, "Not Found"), path);
      }
    },
  },
  {
    name: "emulator: refuses every other method with 405 and Allow",
    run: async () => {
      const service = emulator();
      for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
        const response = await service.fetch(url, { method, headers });
        assert.equal(response.status, 405, method);
        assert.equal(response.headers.get("Allow"), "POST", method);
      }
      const wav = await post(service, params, {}, `${origin}/recordings/cs_1.wav`);
      assert.deepEqual(await json(wav), text(405, "Method Not Allowed"));
      assert.equal(wav.headers.get("Allow"), "GET, HEAD");
    },
  },
  {
    name: "emulator: refuses a request without a key with 422, and with another key with 403",
    run: async () => {
      const service = emulator();
      const missing = { loc: ["header", "x-api-key"], msg: "Field required", type: "missing" };
      // Whatever else is wrong: the key is looked at first.
      const keyless = await post(service, "{", { headers: {} });
      assert.deepEqual(await json(keyless), [
        422,
        { detail: [missing], message: "header.x-api-key: Field required" },
      ]);
      for (const key of ["", "no", apiKey.slice(1), `${apiKey}x`, apiKey.toLowerCase()]) {
        const response = await post(service, "{", { headers: { "X-API-Key": key } });
        assert.deepEqual(await json(response), text(403, "Invalid API Key."), key);
      }
    },
  },
  {
    name: "emulator: takes only application/json, with any parameters and in any case",
    run: async () => {
      const service = emulator();
      const typed = async (type: string) => {
        const response = await post(service, params, {
          headers: { "X-API-Key": apiKey, "Content-Type": type },
        });
        return response.status;
      };
      for (const type of ["text/plain", "application/jsonx", "text/json", "application/x-json"]) {
        assert.equal(await typed(type), 415, type);
      }
      for (const type of ["application/json; charset=utf-8", "Application/JSON ;v=1"]) {
        assert.equal(await typed(type), 202, type);
      }
      const untyped = await post(service, params, { headers: { "X-API-Key": apiKey } });
      assert.equal(untyped.status, 415);
      await service.close();
    },
  },
  {
    name: "emulator: refuses more than 64 KiB with 413, however it comes, before it looks at the JSON",
    run: async () => {
      const service = emulator();
      const exact = 64 * 1024;
      // Two bytes a letter: it is bytes that count.
      const wide = `"${"é".repeat(exact / 2)}"`;
      assert.equal((await post(service, " ".repeat(exact))).status, 400);
      assert.equal((await post(service, " ".repeat(exact + 1))).status, 413);
      assert.equal((await post(service, wide)).status, 413);
      const bytes = new Uint8Array(exact + 1);
      assert.equal((await post(service, "", { body: bytes })).status, 413);
      const lying = { ...headers, "Content-Length": "2" };
      const request = new Request(url, { method: "POST", headers: lying, body: bytes });
      assert.equal((await service.fetch(request)).status, 413);
    },
  },
  {
    name: "emulator: refuses what is not JSON in UTF-8 with 400",
    run: async () => {
      const service = emulator();
      for (const body of ["", "{", "{}{}", "undefined", "\u0000", "{'a':1}"]) {
        assert.equal((await post(service, body)).status, 400, body);
      }
      const broken = new Uint8Array([0x22, 0xff, 0x22]);
      assert.equal((await post(service, "", { body: broken })).status, 400);
    },
  },
  {
    name: "emulator: names the wrong field with 422: missing, unknown, or against its rule",
    run: async () => {
      const service = emulator();
      for (const body of ["[]", "1", '"text"', "null"]) {
        assert.deepEqual(await complaint(await post(service, body)), [422, "body", "value_error"]);
      }
      for (const field of Object.keys(params)) {
        const response = await post(service, { ...params, [field]: undefined });
        assert.deepEqual(await complaint(response), [422, `body.${field}`, "missing"]);
      }
      const extra = await post(service, { ...params, recrod: false });
      assert.deepEqual(await complaint(extra), [422, "body.recrod", "extra_forbidden"]);
      const wrong = {
        from_number: ["12025550177", "+02025550177", "+120255", "+1202555017712345", 1, null],
        to_number: ["+1 202 555 0188", "", "+1202555018x"],
        flow_url: [
          "http://app.test/flow",
          "app.test",
          "https://u:p@app.test/",
          "https:///app.test",
          "ftp://app.test/",
        ],
        status_callback_url: [`https://app.test/${"x".repeat(2083)}`, "http://127.0.0.1/", {}],
        record: [null, 1, "true"],
      };
      for (const [field, values] of Object.entries(wrong)) {
        for (const value of values) {
          const response = await post(service, { ...params, [field]: value });
          const seen = await complaint(response);
          assert.deepEqual(seen, [422, `body.${field}`, "value_error"], `${field} ${value}`);
        }
      }
    },
  },
  {
    name: "emulator: takes plain http on loopback only where it is itself on loopback",
    run: async () => {
      const service = emulator();
      const local = {
        ...params,
        flow_url: "http://localhost:1/",
        status_callback_url: "http://[::1]/",
      };
      assert.equal((await post(service, local)).status, 422);
      const here = "http://127.0.0.1:4010/api/v1/calls/initiate";
      assert.equal((await post(service, local, {}, here)).status, 202);
      await service.close();
    },
  },
  {
    name: "emulator: on a port, that goes by the address it is bound to, and not by what a request says",
    run: async () => {
      const local = {
        ...params,
        flow_url: "http://localhost:1/",
        status_callback_url: "http://[::1]/",
      };
      const here = "http://127.0.0.1:4010/api/v1/calls/initiate";
      for (const [host, status] of [
        ["127.0.0.1", 202],
        ["::1", 202],
        ["localhost", 202],
        ["0.0.0.0", 422],
        ["::", 422],
        ["192.0.2.1", 422],
        ["localhost.evil.test", 422],
      ] as const) {
        const service = createEmulator({
          apiKey,
          host,
          clock: "instant",
          fetch: () => new Response(null, { status: 204 }),
        });
        for (const to of [here, url]) {
          assert.equal((await post(service, local, {}, to)).status, status, `${host} ${to}`);
        }
        await service.close();
      }
    },
  },
  {
    name: "emulator: refuses a from_number of somebody else with 403, after everything else",
    run: async () => {
      const service = emulator();
      const foreign = { ...params, from_number: "+12025550178" };
      const detail = "from_number does not belong to this account.";
      assert.deepEqual(await json(await post(service, foreign)), text(403, detail));
      const wrong = await post(service, { ...foreign, to_number: "" });
      assert.equal(wrong.status, 422);
    },
  },
  {
    name: "emulator: a page on another origin may call it, and read Retry-After",
    run: async () => {
      const service = emulator();
      const preflight = await service.fetch(url, {
        method: "OPTIONS",
        headers: { "Access-Control-Request-Method": "POST" },
      });
      // Browsers keep pages from writing that header: there it is a plain OPTIONS.
      if (preflight.status !== 405) {
        assert.equal(preflight.status, 204);
        assert.match(
          String(preflight.headers.get("Access-Control-Allow-Headers")),
          /X-API-Key.*Content-Type/i,
        );
      }
      const refused = await post(service, "{");
      assert.equal(refused.headers.get("Access-Control-Allow-Origin"), "*");
      assert.match(String(refused.headers.get("Access-Control-Expose-Headers")), /Retry-After/);
    },
  },
  {
    name: "emulator: a regenerated key makes the old one invalid at once",
    run: async () => {
      const service = emulator();
      const key = service.regenerateKey();
      assert.match(key, /^ak_[\w-]{43}$/);
      assert.equal(service.apiKey, key);
      assert.equal((await post(service, params)).status, 403);
      const renewed = { ...headers, "X-API-Key": key };
      assert.equal((await post(service, params, { headers: renewed })).status, 202);
      await service.close();
    },
  },
  {
    name: "emulator: lists the latest 100 requests that it refused, each with the reason, until it is reset",
    run: async () => {
      const service = emulator();
      for (let count = 0; count < 100; count++) await post(service, "{");
      await post(service, { ...params, from_number: "+12025550198" });
      await post(service, params, { headers: { ...headers, "X-API-Key": "another" } });
      await post(service, { ...params, to_number: "1" });
      await post(service, { ...params, to_number: "+12025550110" });
      await post(service, params);
      const { refused } = service;
      assert.lengthOf(refused, 100);
      assert.deepEqual(
        refused.slice(-4).map(({ method, path, status, detail }) => [method, path, status, detail]),
        [
          [403, "from_number does not belong to this account."],
          [403, "Invalid API Key."],
          [422, 'body.to_number: must be an E.164 number: "+" and 7 to 15 digits'],
          [503, "The service is unavailable."],
        ].map((reason) => ["POST", "/api/v1/calls/initiate", ...reason]),
      );
      assert.notInclude(JSON.stringify(refused), "another");
      service.reset();
      assert.deepEqual(service.refused, []);
      await service.close();
    },
  },
  {
    name: "emulator: a key that is regenerated while a body comes is refused",
    run: async () => {
      const service = emulator();
      const text = JSON.stringify(params);
      let more = (_: string): void => {};
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          more = (part) => controller.enqueue(new TextEncoder().encode(part));
          more(text.slice(0, 20));
        },
        pull: (controller) => {
          if (service.apiKey !== apiKey) controller.close();
        },
      });
      // A body that comes piece by piece; some platforms have no such requests.
      const init = { method: "POST", headers, body, duplex: "half" };
      let request: Request;
      try {
        request = new Request(url, init);
      } catch {
        return;
      }
      const answered = service.fetch(request);
      await new Promise((resolve) => setTimeout(resolve, 5));
      service.regenerateKey();
      more(text.slice(20));
      const [status, refusal] = await json(await answered);
      assert.deepEqual(
        [status, refusal],
        [403, { detail: "Invalid API Key.", message: "Invalid API Key." }],
      );
      assert.lengthOf(service.calls, 0);
    },
  },
  {
    name: "emulator: a refusal says the same in detail and in message, field by field or as a text",
    run: async () => {
      const service = emulator();
      const { detail, message } = Object((await json(await post(service, "null")))[1]);
      assert.isArray(detail);
      assert.equal(message, "body: must be an object");
      const wrong = { ...params, to_number: undefined, record: 1 };
      const [, both] = await json(await post(service, wrong));
      assert.match(
        Object(both).message,
        /^body\.to_number: .*; body\.record: must be true or false$/,
      );
    },
  },
  {
    name: "emulator: +12025550110 is an outage, +12025550111 a limit, both with Retry-After: 1",
    run: async () => {
      const service = emulator();
      for (const [to_number, code, placed] of [
        ["+12025550110", 503, "maybe"],
        ["+12025550111", 429, "no"],
      ] as const) {
        const error = await exceptionOf(client(service).calls.create({ ...params, to_number }));
        assert.deepInclude(error, { code, placed, retryAfter: 1 });
      }
      assert.lengthOf(service.calls, 0);
    },
  },
  {
    name: "emulator: +12025550112 to 115 place the call and spoil the answer, each in its way",
    run: async () => {
      const service = emulator();
      const attempt = (to_number: string, more: Partial<Options> = {}) =>
        exceptionOf(client(service).calls.create({ ...params, to_number }, more));
      const deadline = 10_009;
      const late = (to_number: string) =>
        withHeldTimers(
          (delay) => delay === deadline,
          async ({ fire }) => {
            const call = attempt(to_number, { timeout: deadline });
            await until(() => service.posts.has(to_number));
            await settle();
            await fire(deadline);
            return call;
          },
        );
      const silent = await late("+12025550112");
      assert.deepInclude(silent, { name: "TimeoutException", placed: "maybe" });
      assert.notProperty(silent, "code");
      const stalled = await late("+12025550113");
      assert.deepInclude(stalled, { name: "TimeoutException", placed: "maybe", code: 202 });
      const dropped = await attempt("+12025550114");
      assert.deepInclude(dropped, { name: "NetworkException", placed: "maybe" });
      const garbled = await attempt("+12025550115");
      assert.deepInclude(garbled, { name: "ServiceException", placed: "maybe", code: 202 });
      assert.lengthOf(service.calls, 4);
      await service.close();
    },
  },
  {
    name: "emulator: a request rejects with the reason of its signal, before and while it waits",
    run: async () => {
      const service = emulator();
      const reason = new Error("enough");
      const rejection = (promise: Promise<unknown>) =>
        promise.then(
          () => assert.fail("expected a rejection"),
          (error: unknown) => error,
        );
      const aborted = AbortSignal.abort(reason);
      assert.equal(await rejection(post(service, params, { signal: aborted })), reason);
      assert.lengthOf(service.calls, 0);
      const controller = new AbortController();
      const silent = { ...params, to_number: "+12025550112" };
      const waiting = post(service, silent, { signal: controller.signal });
      setTimeout(() => controller.abort(reason), 10);
      assert.equal(await rejection(waiting), reason);
      const another = new AbortController();
      const stalled = { ...params, to_number: "+12025550113" };
      const response = await post(service, stalled, { signal: another.signal });
      setTimeout(() => another.abort(reason), 10);
      // Not by text(), for which Chromium makes an error of its own.
      const reader = response.body?.getReader();
      const reading = (async () => {
        while (!(await reader?.read())?.done);
      })();
      assert.equal(await rejection(reading), reason);
      await service.close();
    },
  },
  {
    name: "emulator: a wrong option is refused by its name",
    run: async () => {
      for (const [option, values] of Object.entries({
        apiKey: ["", "a\nb", 1],
        numbers: ["+12025550177", ["12"]],
        webhookSecret: ["secret", "whsec_", "whsec_AAAA"],
        fetch: ["fetch"],
        clock: ["fast"],
        speed: [0, -1, Number.NaN],
        host: ["", "a b", "http://x", ":::", "localhost:1", 1],
        ringDuration: [-1, Number.NaN, 2 ** 31],
        keep: [-1, 0.5],
        port: [4010],
      })) {
        for (const value of values) {
          const promise = (async () => createEmulator({ [option]: value } as object))();
          const error = await exceptionOf(promise);
          assert.deepInclude(error, { name: "BadParametersException", param: option });
        }
      }
      for (const [name, value] of [
        ["lost", 2],
        ["delay", -1],
        ["duplicateDelay", -1],
        ["gone", 1],
      ]) {
        const promise = (async () =>
          createEmulator(Object({ notifications: { [String(name)]: value } })))();
        const error = await exceptionOf(promise);
        assert.deepInclude(error, { param: `notifications.${name}` });
      }
    },
  },
];
