import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { AgentSession } from "../../../src/agents/agent-session.ts";
import type { CallOpening } from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { protocolNames } from "../../conformance/models/protocols.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { carriers } from "../carriers/carriers.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

/** Audio whose memory is somebody else's by now. */
const given = { away: new Int16Array(8) };
structuredClone(given.away, { transfer: [given.away.buffer] });

const level = 6_000;
const sampleRate = 8_000;
const opening: CallOpening = { audio: new Int16Array(4_000 * 8).fill(level), sampleRate };

/** "Hello?" so many ms after the answer. */
const hello = (ms: number) =>
  [
    { type: "until", ms },
    { type: "say", voice: speech(500) },
    { type: "until", ms: 6_000 },
    { type: "hangup" },
  ] as const;

/** How often the proof is repeated: `SEEDS=20` for all of it. */
const seeds = Array.from({ length: Number(process.env.SEEDS ?? 1) }, (_, at) => at + 1);

describe.each(seeds)("a protected opening, seed %i", (seed) => {
  test.each([0, 100, 280, 400, 900, 3_900])(
    'is heard to its end with a "Hello?" at %i ms, that the agent gets afterwards',
    async (at) => {
      const line = { latency: 40, jitter: 30, seed };
      const talk = await talkInTime({ line, caller: hello(at), options: { opening } });
      const { ms, until } = heardOf(talk, level);
      expect(ms).toBe(4_000);
      expect(talk.end.opening).toEqual({ played: 4_000, duration: 4_000 });
      expect(talk.model.heard[0]?.at).toBeGreaterThan(until);
      // The agent's answer to it.
      expect(heardOf(talk, levelOf(0)).ms).toBe(800);
      expect(heardOf(talk, levelOf(1)).ms).toBe(0);
    },
  );
});

const lines = [undefined, ...carriers.map(({ service }) => service)];

describe.each(protocolNames)("an opening before %s", (name) => {
  test.each([
    ["answered", undefined, 800],
    ["not answered, with keep: false", false, 0],
  ])("is heard on each line, and what is asked in it is %s", async (_, keep, answer) => {
    for (const service of lines) {
      const options = { opening: { ...opening, keep } };
      const talk = await talkInTime({ name, service, caller: hello(900), options });
      expect(heardOf(talk, level).ms).toBe(4_000);
      expect(heardOf(talk, levelOf(0)).ms).toBe(answer);
      expect(talk.errors).toEqual([]);
    }
  });

  test("is followed by the agent's own greeting", async () => {
    const caller = [{ type: "until-quiet" }, { type: "hangup" }] as const;
    const options = { opening: { ...opening, text: "I am a machine." } };
    const talk = await talkInTime({ name, greeting: "Hello", caller, options });
    const [first, greeting] = [heardOf(talk, level), heardOf(talk, levelOf(0))];
    expect([first.ms, greeting.ms]).toEqual([4_000, 800]);
    expect(greeting.from).toBeGreaterThanOrEqual(first.until);
    expect(JSON.stringify(talk.model.received)).toContain("I am a machine.");
  });
});

describe.each(protocolNames)("a greeting of %s after a protected opening", (name) => {
  const lasts = (ms: number) => ({ audio: new Int16Array(ms * 8).fill(level), sampleRate });
  const answers = [2_000, 800];

  test.each([
    [300, 2_000],
    [1_000, 2_000],
    [1_500, 2_000],
    [1_700, 2_000],
    [3_500, 4_000],
  ])('is never cut by a "Hello?" at %i ms of the opening', async (at, ms) => {
    const caller = [
      ...[{ type: "until", ms: at } as const, { type: "say", voice: speech(500) } as const],
      ...[{ type: "until", ms: 12_000 } as const, { type: "hangup" } as const],
    ];
    for (const latency of [0, 120]) {
      const options = { opening: lasts(ms) };
      const line = { latency };
      const talk = await talkInTime({ name, greeting: "Hi", answers, line, caller, options });
      const [greeting, answer] = [heardOf(talk, levelOf(0)), heardOf(talk, levelOf(1))];
      expect([latency, greeting.ms, answer.ms]).toEqual([latency, 2_000, 800]);
      expect(answer.from).toBeGreaterThanOrEqual(greeting.until);
      expect(talk.end.metrics.interruptions.count).toBe(0);
    }
  });

  test('goes on at a click, and is interrupted by what the callee says into it: the agent gets the "Hello?" first', async () => {
    const said = (ms: number) => [
      { type: "until", ms: 1_000 } as const,
      { type: "say", voice: speech(500) } as const,
      { type: "until", ms: 2_800 } as const,
      { type: "say", voice: speech(ms) } as const,
      { type: "until", ms: 12_000 } as const,
      { type: "hangup" } as const,
    ];
    const options = { opening: lasts(2_000) };
    const talked = (ms: number) =>
      talkInTime({ name, greeting: "Hi", answers, caller: said(ms), options });
    expect(heardOf(await talked(60), levelOf(0)).ms).toBe(2_000);
    const cut = await talked(900);
    const { ms, until } = heardOf(cut, levelOf(0));
    // GPT-Live stops by itself: what it has sent is played.
    if (name !== "gpt-live") expect(ms).toBeLessThan(1_300);
    const heardMs = cut.model.heard.reduce((sum, each) => sum + each.ms, 0);
    expect(heardMs).toBeGreaterThanOrEqual(1_380);
    expect(cut.model.heard[0]?.at).toBeGreaterThan(2_950);
    expect(heardOf(cut, levelOf(1)).from).toBeGreaterThan(until);
  });
});

test("an interruptible opening is cut off, and what was played of it is known", async () => {
  const options = { opening: { ...opening, interruptible: true } };
  const talk = await talkInTime({ caller: hello(900), options });
  const { ms } = heardOf(talk, level);
  expect(ms).toBeGreaterThan(900);
  expect(ms).toBeLessThan(1_100);
  expect(Math.abs((talk.end.opening?.played ?? 0) - ms)).toBeLessThanOrEqual(20);
});

test("an opening that the callee leaves has the milliseconds that they heard", async () => {
  const caller = [{ type: "until", ms: 1_000 }, { type: "hangup" }] as const;
  const { end } = await talkInTime({ caller, options: { opening } });
  expect(end.reason).toBe("hung_up");
  expect(Math.abs((end.opening?.played ?? 0) - 1_000)).toBeLessThan(5);
  expect(end.opening?.duration).toBe(4_000);
});

test.each([0, 40, 120, 300, 450])(
  "an opening that the callee leaves has what they heard on each line, with a latency of %i ms",
  async (latency) => {
    for (const service of lines) {
      const ends = [4_000 + latency, 4_200 + 2 * latency];
      for (const at of [200, 350, 500, 700, 900, 1_000, 1_730, 2_600, ...ends]) {
        const caller = [{ type: "until", ms: at } as const, { type: "hangup" } as const];
        const talk = await talkInTime({ service, caller, line: { latency }, options: { opening } });
        const { played = -1 } = talk.end.opening ?? {};
        const difference = played - heardOf(talk, level).ms;
        expect([service?.name, at, Math.abs(difference) <= 20 ? 0 : difference]).toEqual([
          service?.name,
          at,
          0,
        ]);
      }
    }
  },
);

test("an opening by text is said first, once, and can't be cut off", async () => {
  const options = { opening: { text: "I am a machine." } };
  const talk = await talkInTime({
    name: "deepgram",
    greeting: "Hello",
    caller: hello(0),
    answers: [2_000, 500],
    options,
  });
  expect(heardOf(talk, levelOf(0)).ms).toBe(2_000);
  expect(talk.end.opening).toEqual({ played: 2_000, duration: 2_000 });
  const said = talk.model.received.filter(({ type }) => type === "InjectAgentMessage");
  // The greeting is refused while the callee's "Hello?" is heard, and said after that.
  expect(said.map(({ message }) => message)).toEqual(["I am a machine.", "Hello", "Hello"]);
});

test("an opening is heard before what the application says as soon as the call has started", async () => {
  const notes: unknown[] = [];
  const sessions: AgentSession[] = [];
  const audio = new Int16Array(1_000 * 8).fill(12_000);
  const talk = await talkInTime({
    caller: [{ type: "until", ms: 7_000 }, { type: "hangup" }],
    onSession: (session) => sessions.push(session),
    options: {
      opening,
      onStart: () => sessions[0]?.play(audio, { sampleRate }).then((spoken) => notes.push(spoken)),
    },
  });
  const [first, second] = [heardOf(talk, level), heardOf(talk, 12_000)];
  expect([first.ms, second.ms, notes]).toEqual([4_000, 1_000, ["played"]]);
  expect(second.from).toBeGreaterThanOrEqual(first.until);
});

test.each([
  [{ text: "Hello" }, "opening", "needs audio: this agent says no text"],
  [{ audio: "UklGRg==", sampleRate }, "audio", "must be an Int16Array"],
  [{ audio: new Uint8Array(3), sampleRate }, "audio", "must be an Int16Array"],
  [{ audio: new Int16Array(0), sampleRate, text: "Hello" }, "audio", "must be an Int16Array"],
  [{ audio: given.away, sampleRate }, "audio", "must be an Int16Array"],
  [{ audio: new TextEncoder().encode("RIFF1234WAVE"), sampleRate }, "audio", "is a WAV file"],
  [{ audio: new Int16Array(8), sampleRate, text: "Hello" }, "audio", "is silent"],
  [{ audio: new Int16Array(8).fill(50), sampleRate }, "audio", "is silent"],
  [{ audio: new Int16Array(8) }, "sampleRate", "must be 8000"],
  [{ audio: new Int16Array(8), sampleRate, kept: true }, "kept", "is unknown"],
  [{ audio: new Int16Array(8), sampleRate, keep: 1 }, "keep", "must be a boolean"],
])("the opening %j is refused, and nothing is listened to", (wrong, param, rule) => {
  const socket = new Socket();
  const connect = () => connectAgent(socket, plain(), { opening: Object(wrong) });
  expect(connect).toThrow(expect.objectContaining({ name: "BadParametersException", param }));
  expect(connect).toThrow(rule);
  expect(socket.listeners.size).toBe(0);
});

test.each([
  ["the service never says", 1, 6_000],
  ["the end of the call cuts off", 0, 1_000],
])("an opening by text that %s is reported %i times", async (_, count, endsAt) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const agent = plain({ say: (text) => [text] });
  const options = { opening: { text: "I am a machine." }, agentTimeout: 5_000 };
  const { mind, talk, errors } = await talking(agent, options);
  mind.receive({ type: "ready", begins: "callee" });
  await vi.advanceTimersByTimeAsync(endsAt);
  expect(mind.sent).toEqual(["I am a machine."]);
  talk.close();
  expect((await talk.ended).opening).toEqual({ played: 0, duration: 0 });
  await settled();
  const unsaid = expect.objectContaining({ problem: "not_supported" });
  expect(errors).toEqual(Array.from({ length: count }, () => unsaid));
});

test("audio that a carrier never acknowledges counts as interrupted after 30 s: the agent hears the callee again", async () => {
  vi.useFakeTimers();
  const [line, mind] = [new Socket(), new Socket()];
  const encode = vi.fn((_: Uint8Array) => []);
  const spoken: string[] = [];
  const session = connectAgent(line, plain({ encode }), {
    open: () => mind,
    opening,
    service: twilio({ accountSid: "AC00000000000000000000000000000000" }),
    dangerouslyAllowUnverified: true,
    onStart: () =>
      void session.play(new Int16Array(800), { sampleRate }).then((how) => spoken.push(how)),
  });
  const streamSid = "MZ1";
  const format = { encoding: "audio/x-mulaw", sampleRate, channels: 1 };
  const start = { accountSid: "AC1", callSid: "CA1", mediaFormat: format };
  line.receive({ event: "start", streamSid, start });
  await vi.advanceTimersByTimeAsync(100);
  mind.receive({ type: "ready", begins: "callee" });
  await vi.advanceTimersByTimeAsync(33_000);
  expect(spoken).toEqual([]);
  await vi.advanceTimersByTimeAsync(33_000);
  expect(spoken).toEqual(["interrupted"]);
  encode.mockClear();
  const payload = Buffer.alloc(160, 0x10).toString("base64");
  line.receive({ event: "media", streamSid, media: { payload } });
  expect(encode.mock.calls.some(([bytes]) => bytes.some(Boolean))).toBe(true);
  session.close();
  expect((await session.ended).opening).toEqual({ played: 0, duration: 4_000 });
  vi.useRealTimers();
});
