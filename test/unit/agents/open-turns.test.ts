import { describe, expect, test } from "vitest";
import type { Tool } from "../../../src/agents/agent.ts";
import { leaveVoicemail } from "../../../src/agents/telephone/leave-voicemail.ts";
import { transferTo } from "../../../src/agents/telephone/transfer-to.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { levelOf } from "../../conformance/models/model.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";

const service = twilio({ accountSid: "AC00000000000000000000000000000000" });

/** A tool that has something said when it runs. */
const saying = (isProtected: boolean): Tool => ({
  description: "Says something.",
  run: (_, { session }) => session.reply("Say it.", { interruptible: !isProtected }),
});

const tools = {
  bye: { description: "Leaves.", run: (_, { session }) => session.leave("bye") },
  transfer: transferTo({ desk: { to: "+12025550100" } }, { decide: () => {} }),
  say: saying(false),
  say_whole: saying(true),
} satisfies Readonly<Record<string, Tool>>;

describe.each([undefined, "before", "open"] as const)(
  "Gemini, when the turn of a tool call ends %s",
  (toolTurn) => {
    const talk = (name: string, args: object = {}) =>
      talkInTime({
        ...{ name: "gemini", service, tools, toolTurn, answers: [900, 500, 400] },
        calls: { 0: { name, args } },
        caller: [
          { type: "say", voice: speech(400) },
          { type: "until", ms: 7_000 },
          { type: "hangup" },
        ],
      });

    test.each([
      ["hang_up", "agent_hung_up"],
      ["bye", "left"],
      ["transfer", "left"],
    ])("%s comes within 700 ms of the last words", async (name, reason) => {
      const talked = await talk(name, { target: "desk" });
      const { ms, from } = heardOf(talked, levelOf(0));
      expect([ms, talked.end.reason, talked.errors]).toEqual([900, reason, []]);
      expect(talked.call.end.ms - (from + ms)).toBeLessThanOrEqual(700);
    });

    test.each(["say", "say_whole"])(
      "a reply is heard within 700 ms of the last words, and the result is answered: %s",
      async (name) => {
        const talked = await talk(name);
        const [words, reply, answer] = [0, 1, 2].map((at) => heardOf(talked, levelOf(at)));
        expect([words?.ms, reply?.ms, answer?.ms]).toEqual([900, 500, 400]);
        expect(Number(reply?.from) - (Number(words?.from) + 900)).toBeLessThanOrEqual(700);
        expect(Number(answer?.from) - (Number(reply?.from) + 500)).toBeLessThanOrEqual(700);
        expect(JSON.stringify(talked.model.received)).toContain('"output":"played"');
        expect(talked.errors).toEqual([]);
      },
    );

    test("a voicemail gets the message", async () => {
      const talked = await talkInTime({
        ...{ name: "gemini", service, toolTurn, answers: [0, 1_500] },
        tools: { leave_voicemail: leaveVoicemail({ message: "Please call us back." }) },
        calls: { 0: { name: "leave_voicemail", args: {} } },
        caller: [
          { type: "say", voice: speech(1_500) },
          { type: "silence", ms: 1_200 },
          { type: "tone", hertz: 1_000, ms: 400 },
          { type: "until", ms: 15_000 },
          { type: "hangup" },
        ],
      });
      expect(talked.end).toMatchObject({ reason: "left", outcome: "message_left" });
      const { ms, from } = heardOf(talked, levelOf(1));
      expect(ms).toBe(1_500);
      expect(from - 3_100).toBeLessThanOrEqual(700);
      expect(talked.call.end.ms - (from + ms)).toBeLessThanOrEqual(700);
    });
  },
);
