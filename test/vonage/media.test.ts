import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { verifySignature } from "@vonage/jwt";
import { describe, expect, it } from "vitest";
import type { WebSocket } from "ws";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { type Answers, listenForSockets, streamOf, verbsOf } from "../carriers/stage.ts";
import { signatureSecret } from "../unit/vonage/service.ts";
import { callOf, place, startApplication, startVonage } from "./stage.ts";

/** What an application received on its socket: the text messages parsed, of audio the lengths. */
class Line {
  readonly messages: Readonly<Record<string, unknown>>[] = [];
  readonly sizes: number[] = [];
  readonly audio: Buffer[] = [];
  readonly request: IncomingMessage;
  readonly socket: WebSocket;
  readonly closed: Promise<number>;

  constructor(socket: WebSocket, request: IncomingMessage) {
    this.socket = socket;
    this.request = request;
    this.closed = once(socket, "close").then(([code]) => code);
    socket.on("message", (data: Buffer, isBinary) => {
      if (!isBinary) return void this.messages.push(JSON.parse(String(data)));
      this.sizes.push(data.length);
      this.audio.push(data);
    });
  }

  send(message: object): void {
    this.socket.send(JSON.stringify(message));
  }

  /** Sends milliseconds of loud audio in frames of 20 ms at 16 kHz. */
  speak(ms: number): void {
    const frame = new Int16Array(320).fill(9_000);
    for (let sent = 0; sent < ms; sent += 20) this.socket.send(new Uint8Array(frame.buffer));
  }
}

/** A call that is connected with a socket, whose application does something when it opens. */
const connected = async (
  application: (line: Line) => void,
  {
    endpoint = {},
    action = {},
    after = [],
    answers = {},
    ...options
  }: EmulatorOptions & {
    endpoint?: object;
    action?: object;
    after?: readonly object[];
    answers?: Answers;
  } = {},
) => {
  const { promise: opened, resolve } = Promise.withResolvers<Line>();
  const address = await listenForSockets((socket, _, request) => {
    const line = new Line(socket, request);
    resolve(line);
    application(line);
  });
  const uri = `${address}?a=1`;
  const socket = { type: "websocket", uri, "content-type": "audio/l16;rate=16000", ...endpoint };
  const connect = { action: "connect", endpoint: [socket], eventUrl: ["/leg"], ...action };
  const web = await startApplication({ "/answer": [connect, ...after], ...answers });
  const { emulator, client } = await startVonage(options);
  const uuid = await place(client, callOf(web.origin));
  const call = await emulator.ended(uuid);
  return {
    ...web,
    uri,
    call,
    stream: streamOf(call),
    audio: emulator.audio(uuid),
    line: await opened,
  };
};

const hangUpAfter = (ms: number) =>
  ({ callee: [{ type: "until", ms }, { type: "hangup" }] }) satisfies EmulatorOptions;

describe("a WebSocket", () => {
  it("gets its type and headers first, and then the callee in frames of 20 ms", async () => {
    const { line, call } = await connected(() => {}, {
      endpoint: { headers: { order: 17, name: "ü" } },
      callee: [{ type: "tone", hertz: 300, ms: 1_000 }, { type: "hangup" }],
    });
    const [first] = line.messages;
    expect(first).toEqual({
      event: "websocket:connected",
      "content-type": "audio/l16;rate=16000",
      order: 17,
      name: "ü",
    });
    expect(new Set(line.sizes)).toEqual(new Set([640]));
    expect(line.sizes.length).toBeGreaterThanOrEqual(49);
    const samples = new Int16Array(new Uint8Array(line.audio[10] ?? []).buffer);
    expect(Math.max(...samples)).toBeGreaterThan(1_000);
    expect(line.request.url).toBe("/media?a=1");
    expect(call.duration).toBe(1);
  });

  it.each([
    [8_000, 320],
    [24_000, 960],
  ])("of %i Hz has frames of %i bytes", async (rate, size) => {
    const { line } = await connected(() => {}, {
      ...hangUpAfter(200),
      endpoint: { "content-type": `audio/l16;rate=${rate}` },
    });
    expect(new Set(line.sizes)).toEqual(new Set([size]));
  });

  it("plays what the application sends; a notify comes back when all before it was played", async () => {
    const { line, audio, stream } = await connected(
      (open) => {
        open.speak(400);
        open.send({ action: "notify", payload: { part: 1 } });
        open.speak(200);
        open.send({ action: "notify", payload: { part: 2 } });
        open.socket.on("message", (data, isBinary) => {
          if (!isBinary && String(data).includes('"part":2')) open.socket.close();
        });
      },
      { clock: "real", ringDuration: 0 },
    );
    expect(line.messages.slice(1)).toEqual([
      { event: "websocket:notify", payload: { part: 1 } },
      { event: "websocket:notify", payload: { part: 2 } },
    ]);
    const played = audio?.played ?? [];
    expect(played).toHaveLength(30);
    expect(played.every(({ end, samples }) => end === "played" && samples === 320)).toBe(true);
    expect(stream).toMatchObject({ malformed: [], ignored: [] });
  });

  it("clear drops what is queued, and the notify of it, and is answered", async () => {
    const { line, audio } = await connected((open) => {
      open.speak(10_000);
      open.send({ action: "notify", payload: {} });
      open.send({ action: "clear" });
    }, hangUpAfter(1_000));
    expect(line.messages.map(({ event }) => event)).toEqual([
      "websocket:connected",
      "websocket:cleared",
    ]);
    expect(audio?.cuts).toMatchObject([{ type: "clear" }]);
    expect(audio?.cuts[0]?.samples).toBeGreaterThan(0);
  });

  it("gets the keys that the callee presses", async () => {
    const { line } = await connected(() => {}, {
      callee: [
        { type: "until", ms: 100 },
        { type: "press", digits: "5#" },
        { type: "until", ms: 400 },
        { type: "hangup" },
      ],
    });
    expect(line.messages.slice(1)).toEqual([
      { event: "websocket:dtmf", digit: "5", duration: 260 },
      { event: "websocket:dtmf", digit: "#", duration: 260 },
    ]);
  });

  it.each([320, 639, 641, 642, 1_280])(
    "ends with a frame of %i bytes, as if it were lost",
    async (size) => {
      const { line, stream, audio, call, at } = await connected(
        (open) => {
          open.socket.send(new Uint8Array(size));
          open.speak(200);
        },
        { clock: "real", ringDuration: 0, after: [{ action: "wait", timeout: 0.1 }] },
      );
      // 1006, where the platform can lose a connection; Node's own client says 3006.
      expect([1006, 3006]).toContain(await line.closed);
      expect(stream).toMatchObject({
        state: "closed",
        malformed: [`unexpected frame size ${size} bytes, when required 640`],
      });
      expect(audio?.played).toEqual([]);
      expect(verbsOf(call)).toEqual(["connect", "wait 100"]);
      expect(at("/leg").map(({ status }) => status)).toContain("disconnected");
    },
  );

  it("takes what it doesn't know, and says so in the history", async () => {
    const { stream } = await connected((open) => {
      open.send({ action: "dance" });
      open.send({ event: "none" });
      open.send({ action: "notify" });
      open.socket.send("not JSON");
    }, hangUpAfter(500));
    expect(stream).toMatchObject({
      ignored: ["dance"],
      malformed: [
        "action must be a string",
        "payload must be an object",
        "must be JSON, or audio in a binary message",
      ],
    });
  });

  it("proves itself by the token of a webhook, or by a value of the NCCO", async () => {
    const header = async (authorization: object | undefined) => {
      const { line } = await connected(() => {}, {
        ...hangUpAfter(100),
        endpoint: { authorization },
      });
      return line.request.headers.authorization;
    };
    const token = await header({ type: "vonage" });
    expect(verifySignature(token?.replace("Bearer ", "") ?? "", signatureSecret)).toBe(true);
    expect(await header({ type: "custom", value: "mine" })).toBe("mine");
    expect(await header(undefined)).toBeUndefined();
  });
});

describe("the events of a WebSocket's leg", () => {
  it("are of another uuid, and the last is completed", async () => {
    const { at, uri, call } = await connected(() => {}, hangUpAfter(1_000));
    const events = at("/leg");
    expect(events.map(({ status }) => status)).toEqual(["started", "answered", "completed"]);
    expect(events.every(({ uuid, to }) => uuid !== call.id && to === uri)).toBe(true);
    expect(events.at(-1)).toMatchObject({ duration: "1" });
  });

  it("say that the application has closed it; the response may replace the NCCO", async () => {
    const options = { after: [{ action: "talk", text: "next" }] };
    const close = (open: Line) => open.socket.close();
    const left = await connected(close, options);
    expect(left.at("/leg").map(({ status }) => status)).toEqual([
      "started",
      "answered",
      "disconnected",
      "completed",
    ]);
    expect(verbsOf(left.call)).toEqual(["connect", "talk 500"]);
    const replaced = await connected(close, {
      ...options,
      action: { eventType: "synchronous" },
      answers: { "/leg": [{ action: "wait", timeout: 1 }] },
    });
    expect(verbsOf(replaced.call)).toEqual(["connect", "wait 1000"]);
  });

  it("say that it could not be opened; the call goes on if something follows, and else it says why", async () => {
    const nobody = {
      type: "websocket",
      uri: "ws://127.0.0.1:1/",
      "content-type": "audio/l16;rate=8000",
    };
    const connect = { action: "connect", endpoint: [nobody], eventUrl: ["/leg"] };
    const run = async (ncco: readonly object[]) => {
      const web = await startApplication({ "/answer": ncco });
      const { emulator, client } = await startVonage();
      return { ...web, call: await emulator.ended(await place(client, callOf(web.origin))) };
    };
    const last = await run([connect]);
    expect(last.call).toMatchObject({ reason: "flow_error" });
    expect(last.call.flow_error).toContain("connect.endpoint.uri");
    const followed = await run([connect, { action: "talk", text: "next" }]);
    expect(followed.call.reason).toBe("normal");
    expect(followed.at("/leg").map(({ status }) => status)).toEqual([
      "started",
      "failed",
      "completed",
    ]);
    expect(followed.call.history.some(({ type }) => type === "flow_error")).toBe(true);
  });
});
