import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { expect, test } from "vitest";
import { configOf } from "../../examples/bridge/config.ts";

const token = "0123456789abcdef0123456789abcdef";
const caller = { token, prefixes: ["+1202555"], per_minute: 5, per_day: 50 };
const complete = {
  OUTDIAL_API_KEY: "ak_1",
  OUTDIAL_BASE_URL: "https://voice.test",
  FROM_NUMBER: "+12025550199",
  PUBLIC_URL: "https://bridge.test/",
  BRIDGE_SECRET: `${token},${token}`,
  CALLERS: JSON.stringify({ shop: caller }),
};

const configured = (env: Readonly<Record<string, string>>) => configOf((name) => env[name]);

test("the environment becomes the configuration, with its defaults", () => {
  expect(configured(complete)).toEqual({
    apiKey: "ak_1",
    baseUrl: "https://voice.test",
    fromNumber: "+12025550199",
    publicUrl: "https://bridge.test",
    secret: [token, token],
    callers: [{ ...caller, name: "shop" }],
    record: false,
    agentWithin: 5_000,
    longest: 600_000,
  });
});

test("a speech agent takes its own key, and is told whether the call is recorded", () => {
  const agent = { AGENT: "elevenlabs", AGENT_KEY: "xi-1", AGENT_ID: "agent_1", RECORD: "true" };
  expect(configured({ ...complete, ...agent }).speech).toEqual({
    kind: "elevenlabs",
    apiKey: "xi-1",
    url: undefined,
    agentId: "agent_1",
    instructions: "",
    record: true,
  });
  expect(configured({ ...complete, AGENT: "echo" }).speech).toBeUndefined();
  expect(() => configured({ ...complete, AGENT: "openai" })).toThrow("rule: AGENT_KEY");
});

test.each([
  ["AGENT", "somebody"],
  ["OUTDIAL_API_KEY", ""],
  ["PUBLIC_URL", "http://bridge.test"],
  ["PUBLIC_URL", "bridge.test"],
  ["BRIDGE_SECRET", "short"],
  ["BRIDGE_SECRET", `${token},short`],
  ["RECORD", "yes"],
  ["PUBLIC_URL", "https://bridge.test/behind/a/path"],
  ["OUTDIAL_BASE_URL", "ftp://voice.test"],
  ["OUTDIAL_BASE_URL", "http://voice.test"],
  ["FROM_NUMBER", "123"],
  ["AGENT_URL", "http://agent.test"],
  ["AGENT_URL", "ws://agent.test"],
  ["AGENT_WITHIN_SECONDS", "0"],
  ["AGENT_WITHIN_SECONDS", "86401"],
  ["LONGEST_CALL_SECONDS", "2592000"],
  ["CALLERS", ""],
  ["CALLERS", "{}"],
  ["CALLERS", `{"shop":"${token}"}`],
  ["CALLERS", `{"shop": ${token}`],
  ["CALLERS", JSON.stringify({ shop: { ...caller, token: "short" } })],
  ["CALLERS", JSON.stringify({ shop: { ...caller, prefixes: [] } })],
  ["CALLERS", JSON.stringify({ shop: { ...caller, prefixes: [""] } })],
  ["CALLERS", JSON.stringify({ shop: { ...caller, prefixes: ["1202"] } })],
  ["CALLERS", JSON.stringify({ shop: { ...caller, per_minute: 0 } })],
  ["CALLERS", JSON.stringify({ shop: caller, other: { ...caller, per_day: "50" } })],
])("a wrong %s is named, and its value isn't told: %s", (name, value) => {
  const error = `Missing, or against its rule: ${name}`;
  expect(() => configured({ ...complete, [name]: value })).toThrow(new Error(error));
});

test("an agent's URL is of the scheme that its protocol begins with, or leads to this machine", () => {
  const withAgent = (AGENT: string, AGENT_URL: string) => () =>
    configured({ ...complete, AGENT, AGENT_KEY: "key", AGENT_ID: "agent_1", AGENT_URL }).agentUrl;
  for (const kind of ["openai", "gpt-live", "deepgram", "echo"]) {
    expect(withAgent(kind, "wss://agent.test/")()).toBe("wss://agent.test/");
    expect(withAgent(kind, "ws://127.0.0.1:9/")()).toBe("ws://127.0.0.1:9/");
    expect(withAgent(kind, "https://agent.test/")).toThrow("AGENT_URL");
  }
  expect(withAgent("elevenlabs", "https://agent.test/")()).toBe("https://agent.test/");
  expect(withAgent("elevenlabs", "wss://agent.test/")).toThrow("AGENT_URL");
});

test("everything that is missing is named at once", () => {
  expect(() => configured({})).toThrow(
    "OUTDIAL_API_KEY, OUTDIAL_BASE_URL, FROM_NUMBER, PUBLIC_URL, BRIDGE_SECRET, CALLERS",
  );
});

test("the example for the emulator is a whole configuration", () => {
  const file = new URL("../../examples/bridge/dev.vars.example", import.meta.url);
  const { callers, publicUrl } = configOf((name) => parseEnv(readFileSync(file, "utf8"))[name]);
  expect(publicUrl).toBe("http://127.0.0.1:8787");
  expect(callers).toHaveLength(1);
});
