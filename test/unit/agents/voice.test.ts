import { describe, expect, test } from "vitest";
import type { AgentSession } from "../../../src/agents/agent-session.ts";
import type { MediaClock } from "../../../src/lib/clock.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { type ProtocolName, protocolNames } from "../../conformance/models/protocols.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";
import { carriers } from "../carriers/carriers.ts";

const level = 6_000;
const audio = new Int16Array(2_000 * 8).fill(level);
const own = { sampleRate: 8_000 };
const protectedly = { interruptible: false };

/** Who is asked for a reply by which message. */
const requests: Readonly<Record<ProtocolName, string>> = {
  openai: "response.create",
  deepgram: "InjectUserMessage",
  elevenlabs: "user_message",
  "gpt-live": "session.commentary.append",
  gemini: "realtimeInput",
};

/** A call in which something is done once it is answered; what has become of it, in order. */
const doing = async (
  work: (session: AgentSession, note: (what: unknown) => void, clock: MediaClock) => unknown,
  more: Partial<Parameters<typeof talkInTime>[0]> = {},
) => {
  const notes: unknown[] = [];
  const talk = await talkInTime({
    caller: [{ type: "until", ms: 8_000 }, { type: "hangup" }],
    onSession: (session, clock) => void work(session, (what) => notes.push(what), clock),
    ...more,
  });
  return { ...talk, notes };
};

describe.each(protocolNames)("a session with %s", (name) => {
  test("plays audio of the application's before the agent is ready, and asks for a reply after it", async () => {
    const talk = await doing(
      (session, note) => {
        session.play(audio, own).then(note);
        session.reply("Be brief.").then(note);
      },
      { name },
    );
    expect(talk.notes).toEqual(["played", "played"]);
    const [played, reply] = [heardOf(talk, level), heardOf(talk, levelOf(0))];
    expect([played.ms, reply.ms]).toEqual([2_000, 800]);
    expect(reply.from).toBeGreaterThanOrEqual(played.until);
    const asked = talk.model.received.filter(
      (message) => message.type === requests[name] || requests[name] in message,
    );
    expect(JSON.stringify(asked)).toContain("Be brief.");
    expect(talk.errors).toEqual([]);
  });

  test("asks for a reply once the callee has finished, and the agent has answered them", async () => {
    const talk = await doing(
      (session, note, { after }) => after(1_800, () => session.reply("Go on.").then(note)),
      {
        name,
        caller: [
          { type: "until", ms: 1_000 },
          { type: "say", voice: speech(1_500) },
          { type: "until", ms: 9_000 },
          { type: "hangup" },
        ],
        answers: [700, 900],
      },
    );
    expect(talk.notes).toEqual(["played"]);
    const [answer, reply] = [heardOf(talk, levelOf(0)), heardOf(talk, levelOf(1))];
    expect([answer.ms, reply.ms]).toEqual([700, 900]);
    expect(answer.from).toBeGreaterThan(2_500);
    expect(reply.from).toBeGreaterThanOrEqual(answer.until);
  });

  test("is interrupted in what can be, and not in what can't", async () => {
    const caller = [
      { type: "until", ms: 600 },
      { type: "say", voice: speech(500) },
      { type: "until", ms: 8_000 },
      { type: "hangup" },
    ] as const;
    for (const [how, spoken, ms] of [
      [{}, "interrupted", 800],
      [protectedly, "played", 2_000],
    ] as const) {
      const talk = await doing(
        (session, note) => session.play(audio, { ...own, ...how }).then(note),
        { name, caller },
      );
      expect(talk.notes).toEqual([spoken]);
      if (name !== "gpt-live") expect(Math.abs(heardOf(talk, level).ms - ms)).toBeLessThan(200);
    }
  });

  test("leaves once the last words were heard, with its outcome", async () => {
    const talk = await doing(
      async (session, note) => {
        session.reply("Say goodbye.", protectedly).then(note);
        await session.leave("done");
        note("left");
        note(await session.play(audio, own));
      },
      { name, options: { context: { order: 7 } } },
    );
    expect(talk.notes).toEqual(["played", "left", "refused"]);
    expect(heardOf(talk, levelOf(0)).ms).toBe(800);
    expect(talk.end).toMatchObject({ reason: "left", outcome: "done", context: { order: 7 } });
  });

  test("is asked after silences on each line, which the callee's speech begins again, and leaves", async () => {
    for (const service of [undefined, ...carriers.map((each) => each.service)]) {
      const counts: number[] = [];
      const talk = await talkInTime({
        name,
        service,
        answers: [400, 500, 600, 700, 800],
        caller: [
          { type: "until", ms: 5_000 },
          { type: "say", voice: speech(500) },
          { type: "until", ms: 30_000 },
          { type: "hangup" },
        ],
        options: {
          idleTimeout: 3_000,
          onIdle: async ({ count }, session): Promise<unknown> => {
            counts.push(count);
            if (count < 3) return session.reply("Ask in five words whether they are still there.");
            await session.reply("Say that you call again later. Goodbye.");
            return session.leave("gave_up");
          },
        },
      });
      expect(counts).toEqual([1, 1, 2, 3]);
      const heard = [0, 1, 2, 3, 4].map((answer) => heardOf(talk, levelOf(answer)).ms);
      expect(heard).toEqual([400, 500, 600, 700, 800]);
      expect(talk.end).toMatchObject({ reason: "left", outcome: "gave_up" });
      expect(talk.errors).toEqual([]);
    }
  });

  test("leaves from a tool after the last words of the response that called it", async () => {
    const talk = await talkInTime({
      name,
      greeting: "Hello",
      answers: [1_500],
      calls: { 0: { name: "bye", args: {} } },
      tools: {
        bye: { description: "Leaves.", run: (_, { session }) => session.leave("bye") },
      },
      caller: [{ type: "until", ms: 9_000 }, { type: "hangup" }],
    });
    expect(heardOf(talk, levelOf(0)).ms).toBe(1_500);
    expect(talk.end).toMatchObject({ reason: "left", outcome: "bye" });
  });

  test("says something while a tool is slow", async () => {
    const talk = await talkInTime({
      name,
      greeting: "Hello",
      answers: [500, 500],
      calls: { 0: { name: "look_up", args: {} } },
      tools: {
        look_up: {
          description: "Looks it up.",
          run: async (_, { session }) => await session.play(audio, own),
        },
      },
      caller: [{ type: "until", ms: 9_000 }, { type: "hangup" }],
    });
    expect(heardOf(talk, level).ms).toBe(2_000);
    expect(JSON.stringify(talk.model.received)).toContain("played");
  });
});

/** Coughs and a longer word, while the agent speaks. */
const backchannels = [
  { type: "until", ms: 1_000 },
  { type: "say", voice: speech(250) },
  { type: "until", ms: 2_500 },
  { type: "say", voice: speech(250) },
  { type: "until", ms: 4_000 },
  { type: "say", voice: speech(900) },
  { type: "until", ms: 9_000 },
  { type: "hangup" },
] as const;

test.each(protocolNames)(
  "interruptAfter: %s doesn't get shorter speech while it speaks",
  async (name) => {
    const run = (interruptAfter: number) =>
      talkInTime({
        name,
        greeting: "Hello",
        answers: [6_000, 700],
        caller: backchannels,
        options: { interruptAfter },
      });
    const [now, later] = [await run(0), await run(400)];
    expect(heardOf(now, levelOf(0)).until).toBeLessThan(1_500);
    const { until } = heardOf(later, levelOf(0));
    expect(until).toBeGreaterThan(4_350);
    expect(until).toBeLessThan(4_900);
    expect(later.model.heard[0]?.at).toBeGreaterThan(4_350);
    expect(heardOf(later, levelOf(1)).ms).toBe(700);
  },
);

test("interruptAfter: a short answer at the end of a question reaches the agent", async () => {
  const talk = await talkInTime({
    greeting: "Hello",
    answers: [1_500, 700],
    caller: [
      { type: "until", ms: 1_400 },
      { type: "say", voice: speech(300) },
      { type: "until", ms: 6_000 },
      { type: "hangup" },
    ],
    options: { interruptAfter: 400 },
  });
  expect(heardOf(talk, levelOf(0)).ms).toBe(1_500);
  expect(heardOf(talk, levelOf(1)).ms).toBe(700);
});

test("arguments that break a rule reject, and the call goes on", async () => {
  const talk = await doing(async (session, note) => {
    const given = (value: unknown) => value as never;
    const calls = [
      () => session.play(audio, given(undefined)),
      () => session.play(audio, given(null)),
      () => session.play(audio, { sampleRate: given(Symbol("8000")) }),
      () => session.play(audio, { ...own, text: given(Symbol("text")) }),
      () => session.play(new Int16Array(0), own),
      () => session.reply("Hello", given(null)),
      () => session.press(given(Symbol("1"))),
      () => session.press(given(["1"])),
    ];
    for (const call of calls) {
      await call().then(
        () => note("done"),
        (error: Error) => note(error.name),
      );
    }
  });
  expect(talk.notes).toEqual(Array.from({ length: 8 }, () => "BadParametersException"));
  expect([talk.end.reason, talk.errors]).toEqual(["hung_up", []]);
});
