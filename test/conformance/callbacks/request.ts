import { assert } from "chai";
import { BadParametersException } from "outdial";
import {
  callbackHandler,
  type Refusal,
  RefusedException,
  receive,
  signUrl,
} from "outdial/callbacks";
import type { Case } from "../case.ts";
import { assertRefused, post, rejection, ringing, ringingAtOnce, secret } from "./fixtures.ts";

export const cases: readonly Case[] = [
  {
    name: "only POST is answered, and the others are refused",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const method of ["GET", "PUT", "DELETE"]) {
        await assertRefused(() => new Request(url, { method }), { secret }, "wrong_method");
      }
    },
  },
  {
    name: "HEAD and OPTIONS ask whether the token of the URL is valid, and call nothing",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const answer = async (method: string, given: object, at = url) => {
        const called: unknown[] = [];
        const note = (value: unknown) => called.push(value);
        const handler = callbackHandler({
          dangerouslyAllowUnverified: true,
          ...given,
          onEvent: note,
          onError: note,
        });
        const { status, headers } = await handler(new Request(at, { method }));
        return { status, reason: headers.get("outdial-refused"), called: called.length };
      };
      for (const method of ["HEAD", "OPTIONS"]) {
        assert.deepEqual(await answer(method, { secret }), {
          status: 204,
          reason: null,
          called: 0,
        });
        const other = await answer(method, { secret: "another secret of the handler" });
        assert.deepEqual(other, { status: 401, reason: "wrong_token", called: 0 });
        const unsigned = await answer(method, { secret }, "https://app.test/status");
        assert.deepEqual(unsigned, { status: 401, reason: "no_token", called: 0 });
        const { status } = await answer(method, {});
        assert.equal(status, 405);
      }
    },
  },
  {
    name: "a body of 64 KiB is read, and one byte more is refused, whatever its chunks",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const largest = ringing.padEnd(2 ** 16, " ");
      const inChunks = (text: string) =>
        new Request(url, {
          method: "POST",
          body: new ReadableStream({
            start(controller) {
              const bytes = new TextEncoder().encode(text);
              for (let at = 0; at < bytes.length; at += 10_000) {
                controller.enqueue(bytes.slice(at, at + 10_000));
              }
              controller.close();
            },
          }),
          ...{ duplex: "half" },
        });
      for (const make of [(text: string) => post(url, text), inChunks]) {
        assert.equal((await receive(make(largest), { secret })).event.call_id, "cs_1");
        await assertRefused(() => make(`${largest} `), { secret }, "too_large");
        await assertRefused(() => make(largest.repeat(4)), { secret }, "too_large");
      }
    },
  },
  {
    name: "a body that stalls is refused after 10 s, and let go",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      let canceled = 0;
      const make = () =>
        new Request(url, {
          method: "POST",
          body: new ReadableStream({
            start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
            cancel: () => {
              canceled++;
            },
          }),
          ...{ duplex: "half" },
        });
      const waits = await ringingAtOnce((ring) =>
        assertRefused(
          () => {
            queueMicrotask(ring);
            return make();
          },
          { secret },
          "too_slow",
        ),
      );
      assert.deepEqual(waits, [10_000, 10_000]);
      while (canceled < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  },
  {
    name: "the body of a sender without a token isn't read",
    run: async () => {
      let read = false;
      const request = post("https://app.test/status");
      const watched = new Proxy(request, {
        get: (target, name) => {
          if (name === "body") read = true;
          return Reflect.get(target, name, target);
        },
      });
      assert.equal((await callbackHandler({ secret, onEvent() {} })(watched)).status, 401);
      assert.isFalse(read);
    },
  },
  {
    name: "a body that isn't UTF-8, JSON or shallow is refused",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const deep = (levels: number, open: string, close: string) =>
        `{"type":"a","call_id":"b","data":${open.repeat(levels)}1${close.repeat(levels)}}`;
      const wrong: readonly (readonly [Refusal, BodyInit | null])[] = [
        ["not_utf8", new Uint8Array([0x7b, 0xff, 0x7d])],
        ["not_utf8", new Uint8Array([0x22, 0xc0, 0x80, 0x22])],
        ["not_utf8", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22])],
        ["not_json", null],
        ["not_json", ""],
        ["not_json", "type=call.ringing"],
        ["not_json", ringing.slice(0, -1)],
        ["not_json", `${ringing}x`],
        ["too_deep", deep(40, "[", "]")],
        ["too_deep", deep(40, '{"a":', "}")],
        ["too_deep", deep(10_000, '{"":', "}")],
      ];
      for (const [reason, body] of wrong) {
        await assertRefused(() => post(url, body), { secret }, reason);
      }
      // An engine may give up on the parsing itself.
      const abyss = await rejection(receive(post(url, "[".repeat(2 ** 16)), { secret }));
      assert.equal(abyss instanceof RefusedException && abyss.status, 400);
      await receive(post(url, deep(30, "[", "]").replace("[", '{"a":[').replace("]}", "]}}")), {
        secret,
      });
    },
  },
  {
    name: "chunks of no bytes don't starve the clock: they count too",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const make = (chunks: number, text: string) => {
        let left = chunks;
        const body = new ReadableStream({
          pull(controller) {
            if (left-- > 0) return controller.enqueue(new Uint8Array(0));
            controller.enqueue(new TextEncoder().encode(text));
            controller.close();
          },
        });
        // Not through Request: some runtimes join chunks, or refuse such a stream.
        return new Proxy(post(url), {
          get: (target, name) => (name === "body" ? body : Reflect.get(target, name, target)),
        });
      };
      assert.equal((await receive(make(1000, ringing), { secret })).event.call_id, "cs_1");
      await assertRefused(() => make(Number.POSITIVE_INFINITY, ringing), { secret }, "too_large");
    },
  },
  {
    name: "a request of another make is read as far as it consists of bytes, whatever it says of them",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const bytes = new TextEncoder().encode(ringing);
      const saying = (length: unknown) =>
        Object.defineProperty(bytes.slice(), "length", { value: length });
      const ask = async (chunks: readonly unknown[], cancel: () => unknown) => {
        let reads = 0;
        const read = async () => {
          if (reads++ > chunks.length) throw new Error("read on");
          return { value: chunks[reads - 1] };
        };
        const body = { getReader: () => ({ read, cancel }) };
        const headers = { get: () => null };
        const handler = callbackHandler({ secret, onEvent() {} });
        const { status } = await handler({ method: "POST", url, headers, body } as never);
        return { status, reads };
      };
      const fail = () => {
        throw new Error("no cancel");
      };
      for (const cancel of [async () => {}, () => {}, async () => fail(), fail]) {
        assert.deepEqual(await ask([bytes], cancel), { status: 204, reads: 2 });
        for (const length of [-1, 0, 0.5, Number.NaN, "x", undefined]) {
          assert.deepEqual(await ask([saying(length)], cancel), { status: 204, reads: 2 });
          assert.deepEqual(await ask([{ length }], cancel), { status: 500, reads: 1 });
        }
        assert.deepEqual(await ask([ringing], cancel), { status: 500, reads: 1 });
      }
    },
  },
  {
    name: "a body that was read before, and what is no Request, are failures: the service delivers again",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const used = post(url);
      await used.text();
      const locked = post(url);
      locked.body?.getReader();
      const hostile = {
        get method() {
          throw new Error("no method");
        },
      };
      const plain = { method: "POST", url, headers: {} };
      for (const request of [used, locked, plain, {}, undefined]) {
        const error = await rejection(receive(request as never, { secret }));
        assert.instanceOf(error, BadParametersException, String(error));
      }
      for (const request of [used, locked, plain, {}, undefined, hostile]) {
        const reported: unknown[] = [];
        const onError = (error: unknown) => reported.push(error);
        const response = await callbackHandler({ secret, onEvent() {}, onError })(request as never);
        assert.equal(response.status, 500);
        assert.lengthOf(reported, 1);
      }
    },
  },
  {
    name: "a body of another length than its head says is read as it comes",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const length of ["5", "0", "-1", "65536", "none", "5, 5"]) {
        const lying = new Proxy(post(url), {
          get: (target, name) =>
            name === "headers"
              ? { get: (header: string) => (header === "content-length" ? length : null) }
              : typeof Reflect.get(target, name, target) === "function"
                ? Reflect.get(target, name, target).bind(target)
                : Reflect.get(target, name, target),
        });
        assert.equal((await receive(lying, { secret })).event.call_id, "cs_1", length);
      }
    },
  },
  {
    name: "a notification is delivered whatever it is about: a refusal is final, and it would be lost",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      const none = { known: false, call_id: null, data: null };
      for (const [sent, event] of [
        [
          { type: "stream.started", call_id: null, data: null },
          { ...none, type: "stream.started" },
        ],
        [{ type: "stream.started" }, { ...none, type: "stream.started" }],
        [
          { event: "leg.ended", data: null },
          { ...none, type: "leg.ended" },
        ],
        [{ type: "call.ringing" }, { ...none, type: "call.ringing", data: {} }],
        [
          { type: "call.ringing", call_id: "" },
          { ...none, type: "call.ringing", data: {} },
        ],
        [
          { type: "call.ringing", call_id: 7, data: "x" },
          { ...none, type: "call.ringing", data: {} },
        ],
        [
          { type: "recording.completed", call_id: "cs_1", data: { from: 7 } },
          { known: false, type: "recording.completed", call_id: "cs_1", data: { from: 7 } },
        ],
        [
          { type: "call.ringing", call_id: null, data: { call_id: "cs_1" } },
          { known: true, type: "call.ringing", call_id: "cs_1", data: { call_id: "cs_1" } },
        ],
        [
          { type: "call.answered", call_id: "cs_1", data: null },
          { known: true, type: "call.answered", call_id: "cs_1", data: {} },
        ],
        [
          { type: "call.completed", call_id: "cs_1", data: { duration: null, reason: "normal" } },
          { known: true, type: "call.completed", call_id: "cs_1", data: { reason: "normal" } },
        ],
        [
          { type: "__proto__", known: true },
          { ...none, type: "__proto__" },
        ],
      ]) {
        const got: unknown[] = [];
        const handler = callbackHandler({ secret, onEvent: ({ event }) => got.push(event) });
        assert.equal((await handler(post(url, JSON.stringify(sent)))).status, 204);
        assert.deepEqual(got, [event]);
      }
    },
  },
  {
    name: "neither a notification nor a context brings a prototype with it",
    run: async () => {
      const context = JSON.parse('{"__proto__":{"admin":true},"order":17}');
      const url = await signUrl("https://app.test/status", { secret, context });
      const text =
        '{"type":"call.ringing","call_id":"cs_1","__proto__":{"x":1},"data":{"__proto__":{"x":1}}}';
      for (const body of [text, text.replace("call.ringing", "stream.started")]) {
        const received = await receive(post(url, body), { secret });
        const { event, context } = received;
        assert.equal(Object.getPrototypeOf(event), Object.prototype);
        assert.equal(Object.getPrototypeOf(event.data), Object.prototype);
        assert.isFalse(Object.hasOwn(event, "__proto__"));
        assert.isFalse(Object.hasOwn(Object(event.data), "__proto__"));
        assert.isUndefined(context.admin);
        assert.isUndefined(Object.assign({}, context).admin);
        assert.equal(context.order, 17);
      }
    },
  },
  {
    name: "JSON that isn't a status notification is refused",
    run: async () => {
      const url = await signUrl("https://app.test/status", { secret });
      for (const wrong of [
        "null",
        "7",
        '"call.ringing"',
        "[]",
        "{}",
        '{"type":"","call_id":"cs_1","data":{}}',
        '{"type":7,"call_id":"cs_1","data":{}}',
        '{"type":null,"call_id":"cs_1","data":{}}',
        '{"type":["call.ringing"],"call_id":"cs_1","data":{}}',
        '{"call_id":"cs_1","data":{}}',
      ]) {
        await assertRefused(() => post(url, wrong), { secret }, "wrong_shape");
      }
    },
  },
];
