import { expect, test } from "vitest";
import { AgentException } from "../../../src/agents/problems.ts";

test.each([
  ["invalid_value", "The agent reported an error: invalid_value", "invalid_value"],
  [401, "The agent reported an error: 401", "401"],
  [undefined, "The agent reported an error", undefined],
  ["", "The agent reported an error", undefined],
  ["the key sk-MARKED is wrong", "The agent reported an error", undefined],
  ["x".repeat(65), "The agent reported an error", undefined],
])("an agent's word is reported, and never its sentence: %s", (code, message, reported) => {
  const error = new AgentException("agent_complained", code);
  expect([error.message, error.code, error.name]).toEqual([message, reported, "AgentException"]);
});
