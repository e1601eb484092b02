import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { gemini } from "../../../src/agents/adapters/gemini.ts";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import type { Agent } from "../../../src/agents/agent.ts";
import type { EndReason } from "../../../src/agents/agent-session.ts";
import { plain, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const agents: Readonly<Record<string, readonly [Agent, ready: object]>> = {
  openai: [openaiRealtime({ apiKey: "sk-MARKED" }), { type: "session.updated" }],
  "gpt-live": [gptLive({ apiKey: "sk-MARKED" }), { type: "session.started" }],
  elevenlabs: [
    elevenlabs({ apiKey: "xi-MARKED", agentId: "a", url: "wss://agent.test/" }),
    {
      type: "conversation_initiation_metadata",
      conversation_initiation_metadata_event: {
        agent_output_audio_format: "pcm_8000",
        user_input_audio_format: "pcm_8000",
      },
    },
  ],
  deepgram: [deepgram({ apiKey: "dg-MARKED" }), { type: "SettingsApplied" }],
  gemini: [gemini({ apiKey: "AIza-MARKED" }), { setupComplete: {} }],
  own: [plain(), { type: "ready" }],
};

/** A talk with an agent, which is ready or not yet. */
const talkWith = async (name: string, isReady: boolean) => {
  const [agent, ready] = agents[name] ?? [plain(), {}];
  const talk = await talking(agent);
  if (isReady) talk.mind.receive(ready);
  return talk;
};

/** Closes as they were seen or documented: what ends the call, and which code `onError` gets. */
const closes: readonly (readonly [
  service: string,
  code: number,
  reason: string,
  end: EndReason,
  reported: string,
])[] = [
  ["openai", 3000, "invalid_request_error.invalid_api_key", "agent_refused", "invalid_api_key"],
  ["openai", 4004, "invalid_request_error.model_not_found", "agent_refused", "model_not_found"],
  ["openai", 1013, "insufficient_quota.insufficient_quota", "agent_refused", "insufficient_quota"],
  [
    "openai",
    1013,
    "insufficient_quota.credit_balance_exhausted",
    "agent_refused",
    "credit_balance_exhausted",
  ],
  ["openai", 1013, "", "agent_lost", "1013"],
  ["openai", 1001, "Your session hit the maximum duration of 60 minutes.", "session_limit", "1001"],
  ["openai", 1001, "server shutdown", "agent_lost", ""],
  ["gpt-live", 3000, "invalid_request_error.invalid_api_key", "agent_refused", "invalid_api_key"],
  ["elevenlabs", 3000, "Could not authorize the conversation.", "agent_refused", "3000"],
  ["elevenlabs", 3000, "Request error", "agent_refused", "3000"],
  [
    "elevenlabs",
    3000,
    "[quota_exceeded] You've run out of credits.",
    "agent_refused",
    "quota_exceeded",
  ],
  ["elevenlabs", 1002, "This request exceeds your quota limit.", "agent_refused", "1002"],
  [
    "elevenlabs",
    1002,
    "The AI agent you are trying to reach appears to be misconfigured",
    "agent_refused",
    "1002",
  ],
  [
    "elevenlabs",
    1008,
    "The AI agent you are trying to reach does not exist.",
    "agent_refused",
    "1008",
  ],
  [
    "elevenlabs",
    1008,
    "Override for field 'first_message' is not allowed by config.",
    "agent_refused",
    "1008",
  ],
  ["elevenlabs", 1011, "", "agent_lost", "1011"],
  ["deepgram", 1008, "DATA-0000", "agent_refused", "1008"],
  ["deepgram", 1011, "NET-0001", "agent_lost", "1011"],
  ["gemini", 1007, "API key expired. Please renew the API key.", "agent_refused", "1007"],
  ["gemini", 1008, "models/x is not found for API version v1beta", "agent_refused", "1008"],
  ["gemini", 1011, "You exceeded your current quota", "agent_refused", "1011"],
  ["gemini", 1011, "Internal error encountered.", "agent_lost", "1011"],
  ["gemini", 1007, "Request contains an invalid argument.", "agent_lost", "1007"],
  ["own", 1008, "", "agent_refused", "1008"],
  ["own", 3003, "", "agent_refused", "3003"],
  ["own", 4500, "", "agent_lost", "4500"],
  ["own", 1006, "", "agent_lost", ""],
  ["own", 1000, "", "agent_ended", ""],
  ["own", 1005, "", "agent_ended", ""],
];

test.each(closes)(
  "%s closes with %i and %j: %s, at once, and %j is reported",
  async (service, code, reason, end, reported) => {
    const { mind, ends, errors } = await talkWith(service, true);
    mind.emit("close", { code, reason });
    await vi.advanceTimersByTimeAsync(0);
    expect(ends).toEqual([end]);
    expect(errors.map((error) => Object(error).code)).toEqual(reported ? [reported] : []);
    const problem = end === "agent_refused" ? end : "agent_complained";
    for (const error of errors) expect(error).toMatchObject({ problem });
    expect(vi.getTimerCount()).toBe(0);
  },
);

/** Only before it is ready: with a code of its own it refuses, and it has not ended anything in order. */
const atFirst: readonly (readonly [code: number, reason: string, end: EndReason])[] = [
  [4000, "", "agent_refused"],
  [1007, "Request contains an invalid argument.", "agent_refused"],
  [4300, "Agent has exceeded its daily call limit of 5.", "agent_refused"],
  [4000, "invalid_request_error.beta_api_shape_disabled", "agent_refused"],
  [1011, "", "agent_lost"],
  [1000, "", "agent_lost"],
  [1005, "", "agent_lost"],
  [1006, "", "agent_lost"],
];

describe.each(Object.keys(agents))("%s, before it is ready", (name) => {
  test.each(atFirst)("closes with %i and %j: %s", async (code, reason, end) => {
    const { mind, ends } = await talkWith(name, false);
    mind.emit("close", { code, reason });
    expect(ends).toEqual([end]);
  });
});

test("a reason that repeats the key isn't reported", async () => {
  const address = () => ({ url: "wss://agent.test/", headers: { "X-Key": "abcdefgh_ijklmnop" } });
  const { mind, errors } = await talking(plain({}, { address }));
  mind.emit("close", { code: 3000, reason: "[abcdefgh_ijklmnop] is wrong" });
  expect(errors).toEqual([expect.objectContaining({ problem: "agent_refused" })]);
  expect(JSON.stringify(errors) + errors).not.toContain("abcdefgh");
});

describe("an error of the service, before it is ready, ends the call at once", () => {
  const invalid = (code: string) => ({
    type: "error",
    error: { type: "invalid_request_error", code },
  });
  test.each([
    ["openai", invalid("invalid_value"), "agent_refused", "invalid_value"],
    ["openai", invalid("unknown_parameter"), "agent_refused", "unknown_parameter"],
    ["gpt-live", invalid("unknown_parameter"), "agent_refused", "unknown_parameter"],
    [
      "elevenlabs",
      { type: "error", error_event: { code: 1008, error_type: "override_error" } },
      "agent_refused",
      "override_error",
    ],
    [
      "elevenlabs",
      { type: "error", error_event: { code: 1008, error_type: "missing_dynamic_variable" } },
      "agent_refused",
      "missing_dynamic_variable",
    ],
    [
      "elevenlabs",
      { type: "error", error_event: { code: 1011, error_type: "llm_timeout" } },
      "agent_lost",
      "llm_timeout",
    ],
    ["deepgram", { type: "Error", code: "INVALID_SETTINGS" }, "agent_refused", "INVALID_SETTINGS"],
    [
      "deepgram",
      { type: "Error", code: "UNPARSABLE_CLIENT_MESSAGE" },
      "agent_refused",
      "UNPARSABLE_CLIENT_MESSAGE",
    ],
    [
      "deepgram",
      { type: "Error", code: "FAILED_TO_START_LISTENING" },
      "agent_lost",
      "FAILED_TO_START_LISTENING",
    ],
  ])("%s: %j", async (name, message, end, code) => {
    const { mind, ends, errors } = await talkWith(name, false);
    mind.receive(message);
    expect(ends).toEqual([end]);
    expect(errors).toEqual([expect.objectContaining({ problem: "agent_complained", code })]);
    expect(mind.readyState).toBe(3);
  });

  test.each([
    ["openai", invalid("invalid_value")],
    ["openai", { type: "error", error: { type: "server_error" } }],
    ["gpt-live", invalid("unknown_parameter")],
    ["elevenlabs", { type: "error", error_event: { code: 1011, error_type: "llm_timeout" } }],
    ["deepgram", { type: "Error", code: "FAILED_TO_THINK" }],
    ["deepgram", { type: "Warning", code: "SLOW_THINK_REQUEST" }],
  ])("and after that only is reported: %s, %j", async (name, message) => {
    const { mind, ends, errors } = await talkWith(name, true);
    mind.receive(message);
    expect([ends, errors.length]).toEqual([[], 1]);
  });
});

test("an agent that closes in order after a failed response has not ended the talk in order", async () => {
  const failing = await talkWith("deepgram", true);
  failing.mind.receive({ type: "Error", code: "INTERNAL_SERVER_ERROR" });
  failing.mind.emit("close", { code: 1005 });
  expect(failing.ends).toEqual(["agent_lost"]);
  const recovered = await talkWith("deepgram", true);
  recovered.mind.receive({ type: "Error", code: "FAILED_TO_THINK" });
  recovered.mind.receive(new ArrayBuffer(1_600));
  recovered.mind.emit("close", { code: 1005 });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(recovered.ends).toEqual(["agent_ended"]);
});

test("what the agent has said before its limit is played to its end", async () => {
  const { line, mind, ends } = await talkWith("own", true);
  mind.receive(new Uint8Array(80_000).fill(77).buffer);
  mind.emit("close", { code: 1001, reason: "Your session hit the maximum duration." });
  expect(ends).toEqual([]);
  await vi.advanceTimersByTimeAsync(6_000);
  expect([line.ms, ends]).toEqual([5_000, ["session_limit"]]);
});
