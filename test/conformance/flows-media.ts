import { assert } from "chai";
import {
  type AudioFrame,
  FrameException,
  FromApplication,
  type MediaEvent,
  type MediaSocket,
  type StreamHandlers,
  streamSession,
} from "outdial/flows";
import { is } from "valibot";
import type { Case } from "./case.ts";
import { until } from "./timers.ts";

type Listener = (event: MediaEvent) => void;

/** The application's end of a socket, played by the test. */
class Socket implements MediaSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: Record<string, unknown>[] = [];
  readonly closes: unknown[][] = [];
  readonly listeners: [type: string, listener: Listener][] = [];

  send(message: string): void {
    if (this.readyState !== 1) throw new Error("not open");
    this.sent.push(JSON.parse(message));
  }

  close(...how: [code?: number, reason?: string]): void {
    if (how[0] === 1005) throw new RangeError("a code of the protocol");
    this.closes.push(how);
    this.readyState = Math.max(2, this.readyState);
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.push([type, listener]);
  }

  removeEventListener(type: string, listener: Listener): void {
    const index = this.listeners.findIndex((each) => each[0] === type && each[1] === listener);
    if (index >= 0) this.listeners.splice(index, 1);
  }

  emit(type: string, event: Omit<MediaEvent, "type"> = {}): void {
    for (const [name, listener] of [...this.listeners]) {
      if (name === type) listener({ type, ...event });
    }
  }

  receive(message: unknown): void {
    this.emit("message", { data: typeof message === "string" ? message : JSON.stringify(message) });
  }
}

const start = {
  type: "start",
  account_id: "acc_1",
  call_id: "cs_1",
  stream_id: "st_1",
  message_id: 1,
  data: { encoding: "audio/l16", sample_rate: 8000, channels: 1 },
};

const audio = (bytes: readonly number[], more: object = {}) => ({
  type: "audio",
  stream_id: "st_1",
  message_id: 2,
  data: { audio_b64: btoa(String.fromCharCode(...bytes)) },
  ...more,
});

/** A session that writes down what it hears. */
const session = (handlers: StreamHandlers = {}) => {
  const socket = new Socket();
  const heard: AudioFrame[] = [];
  const errors: unknown[] = [];
  const closed: unknown[] = [];
  const started: unknown[] = [];
  const stream = streamSession(socket, {
    onStart: (news) => started.push(news),
    onAudio: (news) => heard.push(news),
    onClose: (news) => closed.push(news),
    onError: (error) => errors.push(error),
    ...handlers,
  });
  return { socket, stream, heard, errors, closed, started };
};

/** What is listened to. */
const types = ({ listeners }: Socket): readonly string[] => listeners.map(([type]) => type);

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Two connected ends: a Worker's own where there are some, else two that the test plays. */
const pair = (): readonly [MediaSocket, MediaSocket] => {
  type End = MediaSocket & { accept(): void };
  const Pair: (new () => { readonly 0: End; readonly 1: End }) | undefined = Reflect.get(
    globalThis,
    "WebSocketPair",
  );
  if (Pair) {
    const { 0: service, 1: application } = new Pair();
    service.accept();
    application.accept();
    return [service, application];
  }
  const [near, far] = [new Socket(), new Socket()];
  for (const [from, to] of [
    [near, far],
    [far, near],
  ] as const) {
    from.send = (data) => queueMicrotask(() => to.emit("message", { data }));
    from.close = (code = 1005, reason = "") => {
      if (from.readyState === 1) queueMicrotask(() => to.emit("close", { code, reason }));
      from.readyState = 3;
    };
  }
  return [near, far];
};

/** What was said, put together again. */
const said = (socket: Socket): readonly number[] =>
  socket.sent.flatMap(({ audio_b64 }) =>
    [...atob(String(audio_b64 ?? ""))].map((byte) => byte.charCodeAt(0)),
  );

const ramp = (length: number) => Uint8Array.from({ length }, (_, index) => index % 251);

/** Enough that a speech of two messages or more stops before the second. */
const full = 2 ** 16 + 1;

const malformed: readonly unknown[] = [
  "",
  "hello",
  "null",
  "7",
  "[]",
  "{}",
  '{"type":"audio"',
  { type: 7 },
  { type: "audio" },
  { type: "audio", stream_id: "st_1", message_id: 2, data: {} },
  audio([], { data: { audio_b64: "MARKED!" } }),
  audio([], { data: { audio_b64: "AAAAA" } }),
  audio([], { data: { audio_b64: 7 } }),
  audio([], { data: { audio_b64: "A".repeat(2 ** 20 + 4) } }),
  audio([1, 2, 3]),
  audio([1, 2], { stream_id: "MARKED" }),
  audio([1, 2], { message_id: -1 }),
  audio([1, 2], { message_id: "2" }),
  start,
  { ...start, data: { ...start.data, sample_rate: 44100 } },
  `"${"x".repeat(2 ** 21)}"`,
];

export const cases: readonly Case[] = [
  {
    name: "a media stream gives its start, and audio as bytes with their time",
    run: () => {
      for (const sample_rate of [8000, 16_000]) {
        const { socket, started, heard, errors } = session();
        const first = { ...start, later: true, data: { ...start.data, sample_rate } };
        socket.receive(first);
        const bytes = Array.from({ length: 640 }, (_, index) => (index * 7) % 256);
        socket.receive(audio(bytes));
        socket.receive(audio([0, 128]));
        socket.receive(audio([255, 127]));
        assert.deepEqual(started, [first]);
        const ms = (samples: number) => (samples / sample_rate) * 1000;
        assert.deepEqual(
          heard.map(({ bytes, time }) => [[...bytes], time]),
          [
            [bytes, 0],
            [[0, 128], ms(320)],
            [[255, 127], ms(321)],
          ],
        );
        assert.deepEqual(errors, []);
      }
    },
  },
  {
    name: "a malformed message is reported without its content, and never ends a call",
    run: () => {
      const { socket, started, heard, errors, closed } = session();
      socket.receive(audio([1, 2]));
      socket.receive(start);
      assert.lengthOf(errors, 1);
      for (const message of malformed) socket.receive(message);
      socket.emit("message", { data: new Uint8Array([1, 2]) });
      socket.emit("message", {});
      assert.lengthOf(errors, malformed.length + 3);
      for (const error of errors) {
        assert.instanceOf(error, FrameException);
        assert.notInclude(String(error), "MARKED");
      }
      const tooLong = errors.filter((error) => Object(error).message === "The message is too long");
      assert.lengthOf(tooLong, 1);
      socket.receive(audio([3, 4]));
      assert.lengthOf(started, 1);
      assert.deepEqual(
        heard.map(({ bytes, time }) => [...bytes, time]),
        [[3, 4, 0]],
      );
      assert.deepEqual([closed, socket.closes], [[], []]);
    },
  },
  {
    name: "what a handler throws is reported, and the call goes on",
    run: async () => {
      const lost = new Error("the agent is away");
      const { socket, errors } = session({
        onStart: () => {
          throw lost;
        },
        onAudio: () => Promise.reject(lost),
      });
      socket.receive(start);
      socket.receive(audio([1, 2]));
      socket.receive(audio([1, 2]));
      await pause(0);
      assert.deepEqual(errors, [lost, lost, lost]);
      const silent = new Socket();
      streamSession(silent, {
        onStart: () => Promise.reject(lost),
        onError: () => Promise.reject(lost),
      });
      silent.receive("{");
      silent.receive(start);
      await pause(0);
    },
  },
  {
    name: "audio goes out in messages of at most 500 ms, in order, each with an id of its own",
    run: async () => {
      const { socket, stream, errors } = session();
      socket.receive(start);
      const bytes = ramp(15_000);
      const samples = new Int16Array(bytes.buffer, 0, 100);
      const all = await Promise.all([
        stream.audio(bytes, "hello"),
        stream.audio(samples),
        stream.audio(bytes.buffer.slice(0, 4), 7),
        stream.audio(new Uint8Array()),
      ]);
      assert.deepEqual(all, [true, true, true, true]);
      assert.deepEqual(said(socket), [...bytes, ...bytes.slice(0, 200), ...bytes.slice(0, 4)]);
      assert.deepEqual(
        socket.sent.map(({ type, audio_b64 }) => [type, atob(String(audio_b64)).length]),
        [8000, 7000, 200, 4].map((bytes) => ["audio", bytes]),
      );
      assert.equal(new Set(socket.sent.map(({ chunk_id }) => chunk_id)).size, 4);
      for (const message of socket.sent) assert.isTrue(is(FromApplication, message));
      assert.equal(stream.waiting, 0);
      assert.deepEqual(errors, []);
    },
  },
  {
    name: "a session can be given the length of its messages, and to nest their audio",
    run: async () => {
      for (const sample_rate of [8000, 16_000]) {
        const socket = new Socket();
        const stream = streamSession(socket, {}, { chunkSize: 20, form: "nested" });
        socket.receive({ ...start, data: { ...start.data, sample_rate } });
        assert.isTrue(await stream.audio(ramp(1000)));
        const sizes = socket.sent.map(({ data }) => atob(Object(data).audio_b64).length);
        assert.deepEqual(sizes, sample_rate === 8000 ? [320, 320, 320, 40] : [640, 360]);
        for (const message of socket.sent) {
          assert.hasAllKeys(message, ["type", "data"]);
          assert.hasAllKeys(message.data, ["audio_b64", "chunk_id"]);
          assert.isTrue(is(FromApplication, message));
        }
      }
    },
  },
  {
    name: "a message of an unknown type goes to the application as it is, and is no error",
    run: () => {
      const others: unknown[] = [];
      const { socket, errors } = session({ onMessage: (message) => others.push(message) });
      const mark = { type: "mark", stream_id: "st_2", data: { nested: [1, null] } };
      socket.receive(mark);
      socket.receive(start);
      socket.receive({ type: "dtmf", digit: "1" });
      assert.deepEqual(others, [mark, { type: "dtmf", digit: "1" }]);
      assert.deepEqual(errors, []);
    },
  },
  {
    name: "audio waits while much waits for the network, visibly, and goes on when it has gone",
    run: async () => {
      const { socket, stream } = session();
      socket.bufferedAmount = full;
      const done = stream.audio(ramp(10_000));
      await pause(60);
      assert.lengthOf(socket.sent, 0);
      assert.deepEqual([stream.waiting, stream.buffered], [10_000, full]);
      const { send } = socket;
      socket.bufferedAmount = 0;
      socket.send = (message) => {
        send.call(socket, message);
        socket.bufferedAmount = full;
      };
      await pause(60);
      assert.lengthOf(socket.sent, 1);
      assert.equal(stream.waiting, 2000);
      socket.send = send;
      socket.bufferedAmount = 0;
      assert.isTrue(await done);
      assert.lengthOf(said(socket), 10_000);
      assert.deepEqual([stream.waiting, stream.buffered], [0, 0]);
    },
  },
  {
    name: "an echo to a service that doesn't read is bounded, and what is long is said whole",
    run: async () => {
      const { socket, stream } = session();
      socket.bufferedAmount = full;
      const long = stream.audio(new Uint8Array(2 ** 23));
      assert.isFalse(await stream.audio(new Uint8Array(640)));
      assert.equal(stream.waiting, 2 ** 23);
      stream.clear();
      assert.isFalse(await long);
      for (let count = 0; count < 30_000; count++) stream.audio(new Uint8Array(640));
      assert.isAtMost(stream.waiting, 2 ** 22 + 640);
      stream.clear();
      for (let count = 0; count < 10_000; count++) stream.audio(new Uint8Array(2));
      assert.isFalse(await stream.audio(new Uint8Array(2)));
      assert.equal(stream.waiting, 20_000);
      stream.close();
    },
  },
  {
    name: "audio waits for a socket that still connects",
    run: async () => {
      const { socket, stream, errors } = session();
      socket.readyState = 0;
      const done = stream.audio(ramp(2));
      await pause(30);
      assert.lengthOf(socket.sent, 0);
      socket.readyState = 1;
      assert.isTrue(await done);
      assert.deepEqual(errors, []);
    },
  },
  {
    name: "interrupt stops what has its name, here and at the service, and nothing else",
    run: async () => {
      const { socket, stream } = session();
      socket.bufferedAmount = full;
      const [first, second] = [stream.audio(ramp(8000), "a"), stream.audio(ramp(100), "b")];
      await pause(0);
      stream.interrupt("a");
      assert.isFalse(await first);
      assert.deepEqual(socket.sent, []);
      assert.equal(stream.waiting, 100);
      socket.bufferedAmount = 0;
      assert.isTrue(await second);
      assert.deepEqual(said(socket), [...ramp(100)]);
    },
  },
  {
    name: "interrupt names every message of what was said by a name, once",
    run: async () => {
      const { socket, stream } = session();
      await stream.audio(ramp(20_000), "a");
      await stream.audio(ramp(100), "b");
      await stream.audio(ramp(100), "a");
      const ids = socket.sent.map(({ chunk_id }) => chunk_id);
      const meant = ids.filter((_, at) => at !== 3);
      for (let times = 0; times < 2; times++) stream.interrupt("a");
      const interrupts = socket.sent.slice(ids.length);
      assert.lengthOf(ids, 5);
      assert.deepEqual(
        interrupts,
        meant.map((chunk_id) => ({ type: "interrupt", chunk_id })),
      );
      for (const message of interrupts) assert.isTrue(is(FromApplication, message));
    },
  },
  {
    name: "clear throws away everything that waits, here and at the service, and what follows is said",
    run: async () => {
      const { socket, stream } = session();
      socket.bufferedAmount = full;
      const all = [stream.audio(ramp(8000), "a"), stream.audio(ramp(100))];
      await pause(0);
      stream.clear();
      assert.deepEqual(await Promise.all(all), [false, false]);
      assert.deepEqual(socket.sent, [{ type: "clear" }]);
      socket.bufferedAmount = 0;
      assert.isTrue(await stream.audio(ramp(4)));
      assert.deepEqual(said(socket), [0, 1, 2, 3]);
    },
  },
  {
    name: "close ends the stream at once, and leaves neither listener nor timer nor socket",
    run: async () => {
      const { socket, stream, closed, heard, errors } = session();
      socket.receive(start);
      socket.bufferedAmount = full;
      const waiting = stream.audio(ramp(8000));
      await pause(0);
      stream.close(4000, "enough");
      stream.close();
      assert.isFalse(await waiting);
      assert.deepEqual(closed, [{ code: 4000, reason: "enough" }]);
      assert.deepEqual(socket.closes, [[4000, "enough"]]);
      // An error in the meantime must have somebody who hears it.
      assert.sameMembers([...types(socket)], ["close", "error"]);
      socket.emit("error");
      socket.emit("close");
      assert.deepEqual(types(socket), []);
      assert.lengthOf(socket.closes, 1);
      assert.isFalse(await stream.audio(ramp(2)));
      stream.interrupt("a");
      stream.clear();
      assert.deepEqual([socket.sent, heard, errors], [[], [], []]);
      const gone = new Socket();
      gone.readyState = 3;
      const reported: unknown[] = [];
      streamSession(gone, { onClose: (news) => reported.push(news) }).close();
      await pause(0);
      assert.lengthOf(reported, 1);
      assert.deepEqual(types(gone), []);
    },
  },
  {
    name: "what isn't whole samples is reported, and isn't said",
    run: async () => {
      const { socket, stream, errors } = session();
      socket.receive(start);
      const odd: readonly unknown[] = [
        -1,
        1e9,
        null,
        undefined,
        Symbol("samples"),
        1n,
        "hello",
        {},
        [1, 2],
        new Blob(["ab"]),
        { length: 2, buffer: new ArrayBuffer(2) },
        new Uint8Array(3),
        new ArrayBuffer(1),
      ];
      for (const samples of odd) assert.isFalse(await stream.audio(samples as ArrayBuffer));
      assert.lengthOf(errors, odd.length);
      for (const error of errors) assert.instanceOf(error, TypeError);
      assert.deepEqual(socket.sent, []);
      const memory = new Uint8Array([0, 1, 2, 3, 4, 5]).buffer;
      for (const samples of [memory, new Int16Array(memory), new DataView(memory, 2, 4)]) {
        assert.isTrue(await stream.audio(samples));
      }
      assert.deepEqual(said(socket), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 2, 3, 4, 5]);
    },
  },
  {
    name: "a stream that ends while audio waits leaves no timer",
    run: async () => {
      const { setTimeout, clearTimeout } = globalThis;
      const timers = new Set<unknown>();
      globalThis.setTimeout = ((work: () => void, wait: number) => {
        const timer = setTimeout(work, wait);
        if (wait < 1000) timers.add(timer); // The harness has one of its own.
        return timer;
      }) as never;
      globalThis.clearTimeout = (timer) => {
        timers.delete(timer);
        clearTimeout(timer);
      };
      try {
        const { socket, stream } = session();
        socket.bufferedAmount = full;
        const waiting = stream.audio(ramp(8000));
        await Promise.resolve();
        await Promise.resolve();
        assert.equal(timers.size, 1);
        stream.close();
        assert.equal(timers.size, 0);
        assert.isFalse(await waiting);
      } finally {
        Object.assign(globalThis, { setTimeout, clearTimeout });
      }
    },
  },
  {
    name: "a close code that the socket refuses is reported, and the socket is closed all the same",
    run: () => {
      const { socket, stream, errors } = session();
      stream.close(1005);
      assert.instanceOf(errors[0], RangeError);
      assert.deepEqual(socket.closes, [[]]);
    },
  },
  {
    name: "the other side's close, and a lost connection, are reported once, and end what waits",
    run: async () => {
      for (const [type, event, reported] of [
        ["close", { code: 1000, reason: "hung up" }, { code: 1000, reason: "hung up" }],
        ["error", {}, { code: 1006, reason: "" }],
      ] as const) {
        const { socket, stream, closed } = session();
        socket.bufferedAmount = full;
        const waiting = stream.audio(ramp(8000));
        await pause(0);
        socket.emit(type, event);
        socket.emit("close", { code: 1006, reason: "" });
        assert.isFalse(await waiting);
        assert.deepEqual(closed, [reported]);
        assert.deepEqual(types(socket), []);
        assert.lengthOf(socket.closes, 1);
      }
      const late = new Socket();
      late.readyState = 3;
      const closed: unknown[] = [];
      streamSession(late, { onClose: (news) => closed.push(news) });
      await pause(0);
      assert.deepEqual(closed, [{ code: 1006, reason: "" }]);
    },
  },
  {
    name: "a socket that refuses to send is reported, and audio says that it didn't go out",
    run: async () => {
      const { socket, stream, errors } = session();
      const { send } = socket;
      socket.send = () => {
        throw new Error("not open");
      };
      assert.isFalse(await stream.audio(ramp(4)));
      stream.clear();
      assert.deepEqual(
        errors.map((error) => Object(error).message),
        ["not open", "not open"],
      );
      socket.send = send;
      for (const state of [2, 3]) {
        socket.bufferedAmount = full;
        const waiting = stream.audio(ramp(4));
        await pause(0);
        socket.readyState = state;
        assert.isFalse(await waiting);
        socket.readyState = 1;
      }
      assert.deepEqual(socket.sent, []);
      socket.bufferedAmount = 0;
      socket.readyState = 1;
      assert.isTrue(await stream.audio(ramp(4)));
    },
  },
  {
    name: "two connected sockets speak it, and are closed at both ends",
    run: async () => {
      const [service, application] = pair();
      const sent: unknown[] = [];
      service.addEventListener("message", ({ data }) => sent.push(JSON.parse(String(data))));
      const errors: unknown[] = [];
      const closed = new Promise((resolve) => {
        const stream = streamSession(application, {
          onAudio: ({ bytes }) => stream.audio(bytes, "echo"),
          onClose: resolve,
          onError: (error) => errors.push(error),
        });
      });
      const gone = new Promise<void>((resolve) =>
        service.addEventListener("close", () => resolve()),
      );
      service.send(JSON.stringify(start));
      service.send("{");
      service.send(JSON.stringify(audio([1, 2])));
      await until(() => sent.length > 0 && errors.length > 0);
      service.close(1000, "hung up");
      assert.deepEqual(await closed, { code: 1000, reason: "hung up" });
      await gone;
      assert.deepEqual(sent, [{ type: "audio", audio_b64: "AQI=", chunk_id: "1" }]);
      assert.lengthOf(errors, 1);
    },
  },
];
