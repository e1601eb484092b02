import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { EndReason } from "../../../src/agents/agent-session.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { mediaSide } from "../../../src/carriers/twilio/media.ts";
import { twimlOf } from "../../../src/carriers/twilio/twiml.ts";
import { stream } from "../../../src/flows/actions.ts";
import { FrameException } from "../../../src/flows/media/messages.ts";
import { type StreamOptions, streamSession } from "../../../src/flows/media/session.ts";
import { plain, Socket } from "../agents/talking.ts";
import { connected, dtmf, media, signedStart, start, stop } from "./stream.ts";

const service = { media: mediaSide() };
const secret = "a secret of this test";
const url = "/media/17";
const context = { order: 17 };
const sign = (more: Partial<Parameters<typeof signUrl>[1]> = {}, address = url) =>
  signUrl(`wss://app.test${address}`, { secret, context, ...more });

/** Waits for what Web Crypto does, however long it takes. */
const until = (isDone: () => boolean) => vi.waitUntil(isDone, { interval: 1, timeout: 60_000 });

/** 20 ms of the callee, all samples the same. */
const frame = (code: number, at = 1) => media(Buffer.alloc(160, code).toString("base64"), at);

/** A session on a socket of the test, and whatever it calls, in order. */
const session = (options: Partial<StreamOptions> = {}) => {
  const socket = new Socket();
  const called: unknown[] = [];
  const opened = streamSession(
    socket,
    {
      onStart: ({ call_id }, given) => called.push({ call_id, given }),
      onAudio: ({ bytes, time }) => called.push({ sample: new Int16Array(bytes.buffer)[0], time }),
      onKey: (press) => called.push(press),
      onMessage: ({ type }) => called.push({ message: type }),
      onClose: (closed) => called.push({ closed }),
      onError: (error) => called.push({ error: Reflect.get(Object(error), "reason") ?? error }),
    },
    { service, secret, url, ...options },
  );
  const happened = (count = 1) => until(() => called.length >= count);
  const closed = () => until(() => socket.closed !== undefined);
  return { socket, called, stream: opened, happened, closed };
};

const begun = { call_id: start.start.callSid, given: context };

describe("a signed start", () => {
  test.each([450, 100, 21, 1000])(
    "in parameters of %i characters brings its context, once it is verified",
    async (most) => {
      const { socket, called, happened } = session();
      socket.receive(signedStart(await sign(), most));
      expect(called).toEqual([]);
      await happened();
      expect(called).toEqual([begun]);
    },
  );

  test.each([
    ["a path", url],
    ["a whole URL, of another host", `https://tunnel.test${url}`],
    ["a URL with a query of its own, which isn't the signed one", `${url}?outdial=1.e30.x`],
  ])("is verified with %s of the request", async (_, given) => {
    const { socket, called, happened } = session({ url: given });
    socket.receive(signedStart(await sign()));
    await happened();
    expect(called).toEqual([begun]);
  });

  test("has the query that the ws_url had before it was signed", async () => {
    const { socket, called, happened } = session();
    socket.receive(signedStart(await sign({}, `${url}?agent=echo&x=%C3%A9`)));
    await happened();
    expect(called).toEqual([begun]);
  });

  test("is verified by the publicUrl, where a proxy rewrites the path", async () => {
    const { socket, called, happened } = session({
      url: "/internal",
      publicUrl: `https://app.test${url}`,
    });
    socket.receive(signedStart(await sign()));
    await happened();
    expect(called).toEqual([begun]);
  });

  test("is what the TwiML of stream() makes of a ws_url, however long its context is", async () => {
    const long = { ...context, note: '<é&">'.repeat(80) };
    const xml = twimlOf(stream(await sign({ context: long }, `${url}?a=1&b=%22`)));
    const texts: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };
    const parameters = [...xml.matchAll(/<Parameter name="([^"]*)" value="([^"]*)"/g)].map(
      ([, name = "", value = ""]) =>
        [name, value.replace(/&(\w+);/g, (_, entity) => texts[entity] ?? "")] as const,
    );
    expect(parameters.length).toBeGreaterThan(1);
    for (const pair of parameters) expect(pair.join("").length).toBeLessThan(500);
    const { socket, called, happened } = session();
    const customParameters = Object.fromEntries(parameters);
    socket.receive({ ...start, start: { ...start.start, customParameters } });
    await happened();
    expect(called).toEqual([{ ...begun, given: long }]);
  });

  test("keeps what comes meanwhile, in its order", async () => {
    const { socket, called, happened } = session();
    socket.receive(connected);
    socket.receive(signedStart(await sign()));
    for (const at of [0, 1, 2]) socket.receive(frame(0x20 + at, at));
    socket.receive(dtmf);
    expect(called).toEqual([]);
    await happened(6);
    socket.receive(frame(0x20, 3));
    const samples = [-7932, -7676, -7420];
    expect(called).toEqual([
      begun,
      { message: "connected" },
      ...samples.map((sample, at) => ({ sample, time: at * 20 })),
      { key: "1" },
      { sample: samples[0], time: 60 },
    ]);
  });

  test("lets nothing be sent before: it waits, and then goes to the stream", async () => {
    const { socket, stream } = session();
    const sent = stream.audio(new Int16Array(160));
    stream.clear();
    const again = stream.audio(new Int16Array(160));
    socket.receive(signedStart(await sign()));
    expect(socket.sent).toEqual([]);
    expect(await sent).toBe(false); // Cleared.
    expect(await again).toBe(true);
    expect(socket.messages).toEqual([expect.objectContaining({ streamSid: start.streamSid })]);
    stream.close();
  });

  test.each([
    ["1000 messages", dtmf, 1000],
    ["1 MiB", media(Buffer.alloc(300_000).toString("base64")), 2],
  ])("holds no more than %s meanwhile, and tells of the rest", async (_, message, held) => {
    const { socket, called, happened } = session();
    socket.receive(signedStart(await sign()));
    for (let at = 0; at < held + 2; at++) socket.receive(message);
    const tooMuch = { error: new FrameException("Too much has come before start was verified") };
    expect(called).toEqual([tooMuch, tooMuch]);
    await happened(3 + held);
    expect(called).toHaveLength(3 + held);
  });

  test("comes once", async () => {
    const { socket, called, happened } = session();
    const signed = signedStart(await sign());
    socket.receive(signed);
    socket.receive(signed);
    await happened(2);
    socket.receive(signed);
    const again = { error: new FrameException("The stream has started already") };
    expect(called).toEqual([again, begun, again]);
  });
});

const withParameters = (customParameters: object) => ({
  ...start,
  start: { ...start.start, customParameters },
});

/** A `start` that isn't signed as it must be, and why it is refused. */
const hostile: readonly (readonly [what: string, reason: string, make: () => Promise<object>])[] = [
  ["without parameters", "no_token", async () => start],
  [
    "whose parameters are no object",
    "no_token",
    async () => ({ ...start, start: { ...start.start, customParameters: "outdial.0" } }),
  ],
  ["whose parameter is no text", "no_token", async () => withParameters({ "outdial.0": { a: 1 } })],
  [
    "whose parameters are longer than any that was signed",
    "no_token",
    async () => withParameters({ "outdial.0": "M".repeat(2000), "outdial.1": "M".repeat(84) }),
  ],
  [
    "signed with another secret",
    "wrong_token",
    async () => signedStart(await sign({ secret: "x".repeat(16) })),
  ],
  ["signed for another path", "wrong_token", async () => signedStart(await sign({}, "/media/18"))],
  [
    "with a parameter more in the query",
    "wrong_token",
    async () => signedStart((await sign()).replace("?", "?admin=1&")),
  ],
  [
    "that lacks a part",
    "no_token",
    async () => {
      const { start: given, ...rest } = signedStart(await sign(), 60);
      const { "outdial.1": _, ...customParameters } = given.customParameters;
      return { ...rest, start: { ...given, customParameters } };
    },
  ],
  [
    "with a token that tries another path",
    "wrong_token",
    async () => {
      const signed = await sign({}, "/other");
      return withParameters({ "outdial.0": `/..${signed.slice("wss://app.test".length)}` });
    },
  ],
];

describe.each(hostile)("a start %s", (_, reason, make) => {
  test("is refused: nothing of the application is called, and the socket is closed with 1008", async () => {
    const { socket, called, closed } = session();
    socket.receive(await make());
    socket.receive(frame(0x20));
    await closed();
    expect(socket.listeners.get("message")?.size).toBe(0);
    expect(
      called.map((each) => ("error" in Object(each) ? { reason: Object(each).error } : each)),
    ).toEqual([{ reason }, { closed: { code: 1008, reason: "unverified" } }]);
    expect([socket.sent, socket.closed]).toEqual([[], [1008, "unverified"]]);
  });
});

test("an expired start is refused", async () => {
  const signed = signedStart(await sign({ expiresIn: 1 }));
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + 2_000);
  const { socket, called, closed } = session();
  socket.receive(signed);
  await closed();
  vi.restoreAllMocks();
  expect(called[0]).toEqual({ error: "expired_token" });
  expect(socket.closed).toEqual([1008, "unverified"]);
});

describe("an agent", () => {
  /** A call with an agent whose sockets are counted, under the machine's own clock. */
  const talk = (options: SessionOptions = {}) => {
    const [socket, mind] = [new Socket(), new Socket()];
    const open = vi.fn(() => mind);
    const started: unknown[] = [];
    const ends: EndReason[] = [];
    const errors: unknown[] = [];
    const agent = plain({ open: () => ["hello"] });
    const call = connectAgent(socket, agent, {
      service,
      secret,
      url,
      open,
      onStart: (_, given) => started.push(given),
      onEnd: ({ reason }) => ends.push(reason),
      onError: (error) => errors.push(error),
      ...options,
    });
    const opened = () => until(() => open.mock.calls.length > 0 && mind.sent.length > 0);
    return { socket, mind, open, opened, call, started, ends, errors };
  };

  test("is connected once start is verified, and gets what the callee said meanwhile", async () => {
    const { socket, mind, open, opened, started, call } = talk();
    socket.receive(connected);
    socket.receive(signedStart(await sign()));
    socket.receive(frame(0x20));
    expect(open).not.toHaveBeenCalled();
    await opened();
    expect([open.mock.calls.length, started, mind.sent]).toEqual([1, [context], ["hello"]]);
    expect(call.metrics.audio.input).toBe(20);
    call.close();
  });

  test.each(hostile)("isn't connected for a start %s", async (_, reason, make) => {
    const { socket, open, call, started, ends, errors } = talk();
    socket.receive(await make());
    await call.ended;
    expect([open.mock.calls, started, ends]).toEqual([[], [], ["unverified"]]);
    expect(errors).toEqual([expect.objectContaining({ name: "RefusedException", reason })]);
    expect([socket.sent, socket.closed]).toEqual([[], [1008, "unverified"]]);
    expect([...socket.listeners.values()].flatMap((each) => [...each])).toEqual([]);
  });

  test("that is warm stays so for the call that proves itself", async () => {
    const opened: Socket[] = [];
    const open = () => {
      const mind = new Socket();
      opened.push(mind);
      return mind;
    };
    const agent = plain({ answered: () => ["answered"] });
    const warm = warmAgent(agent, { sampleRate: 8000, open });
    await until(() => opened.length > 0);
    const connect = () => {
      const socket = new Socket();
      const call = connectAgent(socket, warm, { service, secret, url, open });
      return { socket, call };
    };
    const stranger = connect();
    stranger.socket.receive(start);
    expect(await stranger.call.ended).toMatchObject({ reason: "unverified" });
    const silent = connect();
    const { socket, call } = connect();
    socket.receive(signedStart(await sign()));
    await until(() => opened.some(({ sent }) => sent.includes("answered")));
    expect(opened).toHaveLength(1);
    call.close();
    silent.call.close();
  });

  test("whose stream stops is hung up, before start and after it", async () => {
    const before = talk();
    before.socket.receive(signedStart(await sign()));
    before.socket.receive(stop);
    await before.call.ended;
    expect([before.ends, before.open.mock.calls]).toEqual([["hung_up"], []]);
    const after = talk();
    after.socket.receive(signedStart(await sign()));
    await after.opened();
    after.socket.receive(stop);
    expect([after.ends, after.socket.closed]).toEqual([["hung_up"], [1000, ""]]);
  });

  describe("in time", () => {
    beforeEach(() => void vi.useFakeTimers());
    afterEach(() => void vi.useRealTimers());

    test("ends with no_start when none comes", async () => {
      const { socket, ends } = talk();
      socket.receive(connected);
      await vi.advanceTimersByTimeAsync(10_000);
      expect([ends, vi.getTimerCount()]).toEqual([["no_start"], 0]);
    });

    test("a session is closed as well when none comes for half a minute", async () => {
      const { socket, called } = session();
      await vi.advanceTimersByTimeAsync(30_000);
      expect(called).toEqual([
        { error: "no_token" },
        { closed: { code: 1008, reason: "unverified" } },
      ]);
      expect([socket.closed, vi.getTimerCount()]).toEqual([[1008, "unverified"], 0]);
    });
  });
});

describe("without a secret", () => {
  test("a start is taken only with permission, and has no context", async () => {
    const socket = new Socket();
    const started: unknown[] = [];
    streamSession(
      socket,
      { onStart: (_, given) => started.push(given) },
      { service, dangerouslyAllowUnverified: true },
    );
    socket.receive(signedStart(await sign()));
    await until(() => started.length > 0);
    expect(started).toEqual([{}]);
  });
});

test.each([
  [{ service }, "secret", "is missing"],
  [{ service, dangerouslyAllowUnverified: false }, "secret", "is missing"],
  [
    { service, secret: undefined, dangerouslyAllowUnverified: true },
    "secret",
    "must be 16 characters",
  ],
  [{ service, secret: "short" }, "secret", "must be 16 characters or more"],
  [{ service, secret }, "url", "is missing: pass the URL of the request"],
  [{ service, secret, url: "" }, "url", "is missing"],
  [{ service, secret, url: new URL("wss://app.test/") }, "url", "must be the URL of the request"],
  [{ service, secret, url, publicUrl: "/media" }, "publicUrl", "must be an absolute URL"],
  [{ service, dangerouslyAllowUnverified: "yes" }, "dangerouslyAllowUnverified", "must be true"],
])("%j are refused, by both functions, and nothing listens", (options, param, rule) => {
  const socket = new Socket();
  const refused = expect.objectContaining({ name: "BadParametersException", param });
  for (const open of [
    () => streamSession(socket, {}, Object(options)),
    () => connectAgent(socket, plain(), Object(options)),
  ]) {
    expect(open).toThrow(refused);
    expect(open).toThrow(rule);
  }
  expect(socket.listeners.size).toBe(0);
});

test("a secret that nothing would verify is refused", () => {
  const socket = new Socket();
  expect(() => streamSession(socket, {}, { secret })).toThrow("verify the URL with verifyUrl");
  expect(() => connectAgent(socket, plain(), { secret })).toThrow("secret is unknown");
  expect(() => connectAgent(socket, plain(), Object({ service: 7 }))).toThrow(
    "must be made by twilio()",
  );
  expect(socket.listeners.size).toBe(0);
});
