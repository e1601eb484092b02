import { describe, expect, test } from "vitest";
import type { Tool, Tools } from "../../../src/agents/agent.ts";
import { pressKeys } from "../../../src/agents/telephone/press-keys.ts";
import { transferTo } from "../../../src/agents/telephone/transfer-to.ts";
import { levelOf } from "../../conformance/models/model.ts";
import type { ProtocolName } from "../../conformance/models/protocols.ts";
import { heardOf, speech, talkInTime } from "../../conformance/models/talk-in-time.ts";

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

const asked = (name: ProtocolName, call: string, args: object, isFirst = true) => {
  const other = { name: call, args };
  const hangUp = { name: "hang_up", args: {} };
  return talkInTime({
    name,
    tools,
    answers: [900, 700],
    calls: { 0: isFirst ? [other, hangUp] : [hangUp, other] },
    caller: [{ type: "say", voice: speech(600) }, { type: "until", ms: 6_000 }, { type: "hangup" }],
  });
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
