import { expect, test } from "vitest";
import { conversationIn } from "../../../../../src/cli/dial/emulation/conversation.ts";
import type { HistoryEntry, NewEntry } from "../../../../../src/server/history.ts";

const historyOf = (entries: readonly NewEntry[]): readonly HistoryEntry[] =>
  entries.map((entry) => ({ at: "2026-06-03T10:00:00.000Z", call_id: "cs_1", ...entry }));

const flow: NewEntry = { type: "flow", step: 1, url: "https://app.test/flow", ms: 0 };
const end: NewEntry = { type: "state", state: "completed", reason: "normal" };
const press = (digit: string): NewEntry => ({ type: "press", digit });

test("several keys of an answer are one line, and those of another question a new one", () => {
  const gather: NewEntry = {
    type: "action",
    step: 1,
    action: {
      action: "gather",
      prompts: [{ text: "Your code?" }, { pause_ms: 1_000 }],
      flow_url: "https://app.test/flow",
    },
    plays: [{ text: "Your code?" }, { pause_ms: 1_000 }],
    takes: ["keys"],
  };
  const history = [flow, gather, press("1"), press("2"), flow, gather, press("3"), flow, end];
  expect(conversationIn(historyOf(history))).toEqual([
    { type: "hears", text: "Your code?" },
    { type: "presses", text: "12" },
    { type: "hears", text: "Your code?" },
    { type: "presses", text: "3" },
  ]);
});

test("silence after a question is a line, also where the call ends in it", () => {
  const verb = { type: "verb", step: 1, attributes: {} } as const;
  const gather: NewEntry = { ...verb, verb: "Gather", takes: ["keys", "speech"] };
  const say: NewEntry = { ...verb, verb: "Say", plays: [{ text: " Hello \n" }] };
  expect(conversationIn(historyOf([flow, gather, say, flow, gather, say, end]))).toEqual([
    { type: "hears", text: "Hello" },
    { type: "presses", text: "" },
    { type: "hears", text: "Hello" },
    { type: "presses", text: "" },
  ]);
});

test("recordings, other people and a flow that fails are lines", () => {
  const url = "https://app.test/hello.wav";
  const history: readonly NewEntry[] = [
    { type: "verb", step: 1, verb: "stream", attributes: {}, plays: [{ media_url: url }] },
    { type: "leg", step: 2, to: "+12025550101", state: "ringing" },
    { type: "leg", step: 2, to: "+12025550101", state: "answered" },
    {
      type: "flow_error",
      step: 3,
      field: "flow_url",
      message: "step 3: flow_url answered HTTP 500",
    },
    end,
  ];
  expect(conversationIn(historyOf(history))).toEqual([
    { type: "hears", text: url },
    { type: "talks to", text: "+12025550101" },
    { type: "fails", text: "step 3: flow_url answered HTTP 500" },
  ]);
});
