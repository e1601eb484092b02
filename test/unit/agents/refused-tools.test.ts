import { describe, expect, test } from "vitest";
import type { Tool, Tools } from "../../../src/agents/agent.ts";
import { pressKeys } from "../../../src/agents/telephone/press-keys.ts";
import { transferTo } from "../../../src/agents/telephone/transfer-to.ts";
import { type Behaviour, levelOf } from "../../conformance/models/model.ts";
import type { ProtocolName } from "../../conformance/models/protocols.ts";
import { heardOf, speech, type Talked, talkInTime } from "../../conformance/models/talk-in-time.ts";

const targets = { billing: { to: "+12025550100" } };
const tools: Tools = {
  transfer: transferTo(targets, { decide: () => {} }),
  press_keys: pressKeys({ allow: /^1$/ }),
  fails: {
    description: "Fails.",
    run: () => {
      throw new Error("The store is down");
    },
  } satisfies Tool,
  note: { description: "Notes.", run: () => "Noted." } satisfies Tool,
};

const hangUp = { name: "hang_up", args: {} };

const asks = (name: ProtocolName, calls: Behaviour["calls"], more: Behaviour = {}) =>
  talkInTime({
    ...{ name, tools, calls, answers: [900, 700], ...more },
    caller: [{ type: "say", voice: speech(600) }, { type: "until", ms: 9_000 }, { type: "hangup" }],
  });

const asked = (
  name: ProtocolName,
  call: string,
  args: object,
  isFirst = true,
  more?: Behaviour,
) => {
  const other = { name: call, args };
  return asks(name, { 0: isFirst ? [other, hangUp] : [hangUp, other] }, more);
};

const names = ["openai", "deepgram", "elevenlabs", "gemini", "gpt-live"] as const;

describe.each(names)("%s calls hang_up in the response", (name) => {
  test.each([
    ["of a transfer that is refused", "transfer", { target: "sales" }],
    ["of keys that are refused", "press_keys", { keys: "9" }],
    ["of a tool that fails", "fails", {}],
  ])("%s: it learns of that, and answers", async (_, call, args) => {
    for (const isFirst of [true, false]) {
      const talk = await asked(name, call, args, isFirst);
      expect([isFirst, talk.end.reason]).toEqual([isFirst, "hung_up"]);
      expect(heardOf(talk, levelOf(1)).ms).toBe(700);
      expect(JSON.stringify(talk.model.received)).toContain("The call goes on");
    }
  });

  test("of another tool: it hangs up all the same", async () => {
    for (const isFirst of [true, false]) {
      const talk = await asked(name, "note", {}, isFirst);
      expect(talk.end.reason).toBe("agent_hung_up");
    }
  });
});

describe.each(names)("%s has called a tool", (name) => {
  const isToldOf = ({ model }: Talked) =>
    JSON.stringify(model.received).includes("The call goes on");

  describe.each([
    ["that refuses", "transfer", { target: "sales" }],
    ["that fails", "fails", {}],
  ])("%s", (_, call, args) => {
    test.each([0, 20])(
      "and hang_up in a message %s ms later: it learns of that, and answers",
      async (callGap) => {
        const talk = await asked(name, call, args, true, { callGap });
        expect([talk.end.reason, isToldOf(talk)]).toEqual(["hung_up", true]);
        expect(heardOf(talk, levelOf(1)).ms).toBe(700);
      },
    );

    test("and another one, and hang_up, each in a message of its own: it learns of that", async () => {
      const calls = [{ name: call, args }, { name: "note", args: {} }, hangUp];
      const talk = await asks(name, { 0: calls }, { callGap: 20 });
      expect([talk.end.reason, isToldOf(talk)]).toEqual(["hung_up", true]);
    });

    test("and hang_up after words about it: it hangs up", async () => {
      const talk = await asks(name, { 0: { name: call, args }, 1: hangUp });
      expect([talk.end.reason, isToldOf(talk)]).toEqual(["agent_hung_up", false]);
      expect(heardOf(talk, levelOf(1)).ms).toBe(700);
    });

    test("and hang_up without a word: Gemini's may not know yet, and hangs up by the second one", async () => {
      const calls = { 0: { name: call, args }, 1: hangUp, 2: hangUp };
      const talk = await asks(name, calls, { answers: [900, 0, 0] });
      expect([talk.end.reason, isToldOf(talk)]).toEqual(["agent_hung_up", name === "gemini"]);
    });
  });
});
