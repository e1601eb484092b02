import { describe, expect, test, vi } from "vitest";
import type { LeaveOptions } from "../../../../src/agents/agent-session.ts";
import { leaveVoicemail } from "../../../../src/agents/telephone/leave-voicemail.ts";
import { pressKeys, tones } from "../../../../src/agents/telephone/press-keys.ts";
import { transferTo } from "../../../../src/agents/telephone/transfer-to.ts";
import { twilio } from "../../../../src/carriers/twilio/index.ts";
import { levelOf } from "../../../conformance/models/model.ts";
import { protocolNames } from "../../../conformance/models/protocols.ts";
import { heardOf, talkInTime } from "../../../conformance/models/talk-in-time.ts";
import { voice as voiceOf } from "../../../conformance/models/voice.ts";
import { randomOf } from "../../../random.ts";

const voice = (ms: number, seed = 1) => ({
  audio: voiceOf(ms, randomOf(seed)),
  sampleRate: 8_000,
});
const call = (name: string, args: object = {}) => ({ name, args });
const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
const refused = (param: string) =>
  expect.objectContaining({ name: "BadParametersException", param, placed: "no" });

/** Leaves a call in which nobody objects. */
const leaving = async (_: string, { before }: LeaveOptions) => void (await before?.());

/** What tools without a session are run with. */
const contextOf = (session: object) =>
  ({
    session,
    start: { data: {} },
    context: {},
    signal: AbortSignal.any([]),
    transcripts: [],
  }) as never;

describe("leaveVoicemail", () => {
  const tools = { leave_voicemail: leaveVoicemail({ message: "Call back." }) };
  const calls = { 0: call("leave_voicemail") };

  test("called for a person: their words cancel the wait, and the agent learns of it and answers", async () => {
    const talk = await talkInTime({
      tools,
      answers: [0, 700],
      calls,
      caller: [
        { type: "say", voice: voice(600) },
        { type: "silence", ms: 1_900 },
        { type: "say", voice: voice(500) },
        { type: "until", ms: 8_000 },
        { type: "hangup" },
      ],
    });
    const outputs = talk.model.received.flatMap(({ item }) => Object(item).output ?? []);
    expect(outputs).toEqual([expect.stringContaining("A person speaks")]);
    expect(talk.end).toMatchObject({ reason: "hung_up" });
    expect(talk.end.outcome).toBeUndefined();
    const answer = heardOf(talk, levelOf(1));
    expect(answer.ms).toBe(700);
    expect(answer.from).toBeGreaterThan(3_000);
  });

  test.each([80, 100, 120, 140, 160, 180])(
    "called %i ms before the end of a person's words: it is no voicemail",
    async (left) => {
      const [before, words] = [1_500, 580];
      const talk = await talkInTime({
        tools,
        answers: [0, 700],
        calls,
        // The model calls it 100 ms later.
        onModel: (model, clock) => clock.after(before + words - left - 100, () => model.answer()),
        caller: [
          { type: "silence", ms: before },
          { type: "say", voice: voice(words) },
          { type: "silence", ms: 8_000 },
          { type: "hangup" },
        ],
      });
      const outputs = talk.model.received.flatMap(({ item }) => Object(item).output ?? []);
      expect(outputs).toEqual([expect.stringContaining("A person speaks")]);
      expect(talk.end.outcome).toBeUndefined();
    },
  );

  test.each(protocolNames)(
    "what %s says while it waits is not played, nor is the rest of it, where responses have names",
    async (name) => {
      const audio = new Int16Array(1_000 * 8).fill(7_000);
      const talk = await talkInTime({
        name,
        tools: { leave_voicemail: leaveVoicemail({ audio, sampleRate: 8_000 }) },
        // The model has heard the end of what it was given, and answers that.
        answers: [0, 4_000],
        calls,
        onModel: (model, clock) => clock.after(3_000, () => model.answer()),
        caller: [
          { type: "say", voice: voice(1_500) },
          { type: "silence", ms: 800 },
          { type: "say", voice: voice(1_000, 2) },
          { type: "tone", hertz: 1_400, ms: 500 },
          { type: "until", ms: 12_000 },
          { type: "hangup" },
        ],
      });
      expect(talk.end).toMatchObject({ reason: "left", outcome: "message_left" });
      const { ms, from } = heardOf(talk, levelOf(1));
      if (name === "gpt-live") expect(from).toBeGreaterThan(3_800);
      else expect(ms).toBe(0);
      expect(heardOf(talk, 7_000).ms).toBe(1_000);
    },
  );

  test("own audio is left whole though the line is noisy, and the model hears nothing of the greeting meanwhile", async () => {
    const audio = new Int16Array(1_800 * 8).fill(7_000);
    const talk = await talkInTime({
      tools: { leave_voicemail: leaveVoicemail({ audio, sampleRate: 8_000 }) },
      answers: [0],
      calls,
      caller: [
        { type: "say", voice: voice(1_500) },
        { type: "silence", ms: 800 },
        { type: "say", voice: voice(3_000, 2) },
        { type: "silence", ms: 600 },
        { type: "tone", hertz: 440, ms: 500 },
        { type: "until", ms: 9_000 },
        { type: "say", voice: voice(2_000) },
        { type: "until", ms: 20_000 },
        { type: "hangup" },
      ],
    });
    expect(talk.end).toMatchObject({ reason: "left", outcome: "message_left" });
    const heard = heardOf(talk, 7_000);
    expect(heard.ms).toBe(1_800);
    expect(heard.from - 6_400).toBeLessThan(600);
    const heardMs = talk.model.heard.reduce((sum, { ms }) => sum + ms, 0);
    expect(heardMs).toBeLessThan(1_700); // The first 1.5 s, before the tool was called.
  });

  test("without an opening the model is asked for the message within 250 ms of the beep's end", async () => {
    const talk = await talkInTime({
      tools,
      answers: [0, 700],
      calls,
      caller: [
        { type: "say", voice: voice(1_800) },
        { type: "silence", ms: 1_200 },
        { type: "tone", hertz: 1_400, ms: 500 },
        { type: "until", ms: 20_000 },
      ],
    });
    expect(talk.end).toMatchObject({ reason: "left", outcome: "message_left" });
    const message = heardOf(talk, levelOf(1));
    expect(message.ms).toBe(700);
    // This model begins 100 ms after it was asked.
    expect(message.from - 3_500).toBeGreaterThan(100);
    expect(message.from - 3_500).toBeLessThan(250 + 100 + 20);
  });

  test("a greeting that never ends is left without a message; a call that ends meanwhile has one end", async () => {
    const endless = (ms: number) =>
      talkInTime({
        tools: { leave_voicemail: leaveVoicemail({ message: "Call back.", timeout: 4_000 }) },
        answers: [0],
        calls,
        caller: [
          { type: "say", voice: voice(800) },
          { type: "silence", ms: 600 },
          { type: "say", voice: voice(ms) },
          { type: "hangup" },
        ],
      });
    expect((await endless(9_000)).end).toMatchObject({ reason: "left", outcome: "no_beep" });
    const cut = await endless(1_200);
    expect(cut.end.reason).toBe("hung_up");
    expect(cut.end.outcome).toBeUndefined();
  });

  test("needs something to say, and says what it can't", () => {
    expect(() => leaveVoicemail({})).toThrow(refused("message"));
    expect(() => leaveVoicemail({ audio: "a.wav" } as never)).toThrow(refused("audio"));
    expect(() => leaveVoicemail({ message: "x", silence: -1 })).toThrow(refused("silence"));
  });
});

describe("pressKeys", () => {
  const all = ["1234", "5678", "90*#", "ABCD"];

  test.each([
    ["no loss", {}],
    ["1 % loss", { loss: 0.01, seed: 4 }],
  ])("16 of 16 keys reach the emulated menu through μ-law: %s", async (_, line) => {
    const heard: string[] = [];
    await talkInTime({
      service,
      line,
      onSession: (session) => {
        for (const keys of all) session.press(keys);
      },
      options: { press: tones },
      caller: async function* (menu) {
        yield { type: "until-keys", keys: all.join(""), timeout: 8_000 };
        heard.push(menu.keys);
        yield { type: "hangup" };
      },
    });
    expect(heard).toEqual([all.join("")]);
  });

  test("keys are pressed though the menu goes on, and the agent gets nothing of the tones", async () => {
    const heard: string[] = [];
    const talk = await talkInTime({
      options: { press: tones },
      onSession: (session, { after }) => after(1_000, () => session.press("2w5")),
      caller: async function* (menu) {
        yield { type: "say", voice: voice(4_000) };
        yield { type: "until-keys", keys: "25" };
        heard.push(`${menu.keys} at ${Math.round(menu.ms / 500) * 500}`);
        yield { type: "hangup" };
      },
    });
    expect(heard).toEqual(["25 at 4000"]);
    expect(talk.errors).toEqual([]);
  });

  test("a model presses what is allowed, and nothing else", async () => {
    const press = vi.fn(async () => {});
    const tool = pressKeys({ allow: /^\d+#?$/, most: 4 });
    for (const keys of ["12", "1234", "123#"]) {
      expect(await tool.run({ keys }, contextOf({ press }))).toContain("Pressed");
    }
    for (const keys of ["12345", "1*", "A", "", "1 2", 12, undefined, ["1"], "１"]) {
      expect(await tool.run({ keys }, contextOf({ press }))).toContain("Nothing was pressed");
    }
    expect(await tool.run(undefined, contextOf({ press }))).toContain("Nothing was pressed");
    expect(press.mock.calls.flat()).toEqual(["12", "1234", "123#"]);
    // What matches a part of them lets no others pass, whatever the flags.
    for (const allow of [/[1-3]/, /1|23/g, /^1|3$/y]) {
      const { run } = pressKeys({ allow });
      for (const keys of ["1999", "9923"]) {
        expect(await run({ keys }, contextOf({ press }))).toContain("Nothing was pressed");
      }
      expect(await run({ keys: "1" }, contextOf({ press: () => {} }))).toContain("Pressed");
    }
    expect(() => pressKeys({ most: 33 })).toThrow(refused("most"));
    expect(() => pressKeys({ allow: "1" } as never)).toThrow(refused("allow"));
  });

  test("32 pauses, as the longest tones, end before the tool's time", () => {
    const { timeout = 0 } = pressKeys();
    expect(timeout).toBeGreaterThan(32 * 500);
  });

  test("without the option press it is refused by name, on Twilio too, and no error has a key", async () => {
    const talk = await talkInTime({
      service,
      tools: { press_keys: pressKeys() },
      answers: [0, 300],
      calls: { 0: call("press_keys", { keys: "4711" }) },
      caller: [
        { type: "say", voice: voice(700) },
        { type: "until", ms: 5_000 },
        { type: "hangup" },
      ],
    });
    expect(talk.errors).toMatchObject([{ problem: "not_supported" }]);
    expect(String(talk.errors) + JSON.stringify(talk.errors)).not.toContain("4711");
  });
});

describe("transferTo", () => {
  const targets = { billing: { to: "+12025550123" }, desk: { to: "sip:desk@example.com" } };

  test("1,000 arguments that a model may write never reach a number that the code doesn't name", async () => {
    const called: unknown[] = [];
    const tool = transferTo(targets, { decide: (_, { to }) => called.push(to) });
    const session = { leave: leaving };
    const random = randomOf(7);
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
    const number = () => `+1900${Math.floor(random() * 1e7)}`;
    const odd = ["__proto__", "constructor", "toString", "to", "billing ", "BILLING", "", "0"];
    for (let at = 0; at < 1_000; at++) {
      const target = pick<unknown>([
        ...["billing", "desk", pick(odd), number(), { to: number() }, [number()], null, 7],
      ]);
      const args = pick<unknown>([
        { target },
        { target, to: number() },
        { target, action: "dial", number: number(), __proto__: { to: number() } },
        target,
        JSON.stringify({ target }),
      ]);
      await tool.run(args, contextOf(session));
    }
    expect(called.length).toBeGreaterThan(50);
    expect(new Set(called)).toEqual(new Set(["+12025550123", "sip:desk@example.com"]));
  });

  test("a name that no target has connects nobody, and the model gets the names", async () => {
    const decide = vi.fn();
    const output = await transferTo(targets, { decide }).run({ target: "biling" }, contextOf({}));
    expect(output).toBe("Nobody was called: the target must be one of billing, desk.");
    expect(decide).not.toHaveBeenCalled();
  });

  test("a callee who speaks, and a decision that fails, leave the call with the agent", async () => {
    const decide = vi.fn();
    const tool = transferTo(targets, { decide });
    const spoke = { leave: async () => "The call goes on." };
    expect(await tool.run({ target: "desk" }, contextOf(spoke))).toContain("not connected");
    expect(decide).not.toHaveBeenCalled();
    decide.mockRejectedValue(new Error("The store is down"));
    const heard = { leave: leaving };
    await expect(tool.run({ target: "desk" }, contextOf(heard))).rejects.toThrow("store");
  });

  test.each<[string, unknown, unknown]>([
    ["options", targets, {}],
    ["options", targets, undefined],
    ["options", targets, { redirect: () => {}, decide: () => {} }],
    ["options", targets, { decide: "billing" }],
    ["targets", {}, { decide: () => {} }],
    ["to", { billing: {} }, { decide: () => {} }],
    ["to", { billing: { to: "12025550123" } }, { decide: () => {} }],
  ])("%s: %j with %j is refused at once", (param, given, options) => {
    expect(() => transferTo(given as never, options as never)).toThrow(refused(param));
  });
});

test("of two transfers at once one is made", async () => {
  const done: unknown[] = [];
  const redirect = async (_: unknown, { to }: { to: string }) => void done.push(to);
  const targets = { billing: { to: "+12025550100" }, sales: { to: "+12025550101" } };
  const tool = transferTo(targets, { redirect });
  const context = contextOf({ leave: leaving });
  const run = (target: string) => tool.run({ target }, context);
  const [first, second] = await Promise.all([run("billing"), run("sales")]);
  expect([done, first, second]).toEqual([["+12025550100"], undefined, "They are being connected."]);
});

test("of two transfers by two tools at once one is made", async () => {
  const done: unknown[] = [];
  const decide = (_: unknown, { to }: { to: string }) => void done.push(to);
  const context = contextOf({ leave: leaving });
  const outputs = ["+12025550100", "+12025550101"].map((to) =>
    transferTo({ desk: { to } }, { decide }).run({ target: "desk" }, context),
  );
  expect(await Promise.all(outputs)).toEqual([undefined, "They are being connected."]);
  expect(done).toEqual(["+12025550100"]);
});

test("a callee who interrupts the last words is not connected, and the agent answers", async () => {
  const decide = vi.fn();
  const transferred = (ms: number) =>
    talkInTime({
      tools: { transfer: transferTo({ desk: { to: "+12025550100" } }, { decide }) },
      answers: [3_000, 600],
      calls: { 0: call("transfer", { target: "desk" }) },
      caller: [
        { type: "say", voice: voice(700) },
        { type: "silence", ms },
        { type: "say", voice: voice(600, 2) },
        { type: "until", ms: 12_000 },
        { type: "hangup" },
      ],
    });
  const { call: made, model, end } = await transferred(2_000);
  expect([decide.mock.calls, end.outcome]).toEqual([[], undefined]);
  expect(JSON.stringify(model.received)).toContain("not connected");
  expect(made.turns.at(-1)?.missed).toBeFalsy();
  expect((await transferred(8_000)).end.outcome).toBe("transferred");
});

test("a transfer that the service cancels before the last words were played is none", async () => {
  const decide = vi.fn();
  const cancel = new AbortController();
  const { run } = transferTo({ desk: { to: "+12025550100" } }, { decide });
  const context = { ...Object(contextOf({ leave: leaving })), signal: cancel.signal };
  cancel.abort();
  await expect(run({ target: "desk" }, context)).rejects.toThrow("abort");
  expect(decide).not.toHaveBeenCalled();
});

test("a transfer that has failed may be tried again", async () => {
  const outcomes = [async () => Promise.reject(new Error("refused")), async () => {}];
  const redirect = () => outcomes.shift()?.();
  const tool = transferTo({ billing: { to: "+12025550100" } }, { redirect });
  const context = contextOf({ leave: leaving });
  await expect(tool.run({ target: "billing" }, context)).rejects.toThrow("refused");
  expect(await tool.run({ target: "billing" }, context)).toBeUndefined();
});

test.each([[null], [undefined], [{ to: ["+12025550100"] }]])(
  "the target %j is refused",
  (target) => {
    const options = { decide: () => {} };
    expect(() => transferTo({ billing: target } as never, options)).toThrow(
      expect.objectContaining({ name: "BadParametersException" }),
    );
  },
);

test.each([
  [{ audio: new Int16Array(8) }, "sampleRate"],
  [{ audio: new Int16Array(8), sampleRate: 7 }, "sampleRate"],
  [{ audio: new Uint8Array(3), sampleRate: 8_000 }, "audio"],
  [{ audio: new TextEncoder().encode("RIFF1234WAVE"), sampleRate: 8_000 }, "audio"],
])("leaveVoicemail refuses %j before any call", (options, param) => {
  expect(() => leaveVoicemail(options)).toThrow(refused(param));
});

test("a wait for the beep that the application interrupts leaves no message", async () => {
  const talk = await talkInTime({
    tools: {
      leave_voicemail: leaveVoicemail({
        audio: new Int16Array(8_000).fill(7_000),
        sampleRate: 8_000,
      }),
    },
    answers: [0],
    calls: { 0: call("leave_voicemail") },
    onSession: (session, clock) => clock.after(4_000, () => void session.interrupt()),
    caller: [
      { type: "say", voice: voice(1_500) },
      { type: "silence", ms: 800 },
      { type: "say", voice: voice(4_000, 2) },
      { type: "hangup" },
    ],
  });
  expect(heardOf(talk, 7_000).ms).toBe(0);
  expect([talk.end.reason, talk.end.outcome]).toEqual(["hung_up", undefined]);
});

test("a wait for the beep that the service cancels leaves no message, and the agent hears the callee again", async () => {
  const audio = new Int16Array(8_000).fill(7_000);
  const cancel = new AbortController();
  const { run, ...tool } = leaveVoicemail({ audio, sampleRate: 8_000 });
  const talk = await talkInTime({
    tools: {
      leave_voicemail: {
        ...tool,
        run: (args, context) => run(args, { ...context, signal: cancel.signal }),
      },
    },
    answers: [0],
    calls: { 0: call("leave_voicemail") },
    onSession: (_, clock) => clock.after(4_000, () => cancel.abort()),
    caller: [
      { type: "say", voice: voice(1_500) },
      { type: "silence", ms: 800 },
      { type: "say", voice: voice(4_000, 2) },
      { type: "until", ms: 12_000 },
      { type: "hangup" },
    ],
  });
  expect(heardOf(talk, 7_000).ms).toBe(0);
  expect([talk.end.reason, talk.end.outcome]).toEqual(["hung_up", undefined]);
  expect(talk.model.heard.filter(({ at }) => at > 4_500).length).toBeGreaterThan(10);
});
