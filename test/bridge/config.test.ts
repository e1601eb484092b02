import { expect, test } from "vitest";
import { readConfig } from "../../examples/bridge/config.ts";

const token = "0123456789abcdef0123456789abcdef";
const caller = { token, prefixes: ["+1202555"], per_minute: 5, per_day: 50 };
const complete = {
  OUTDIAL_API_KEY: "ak_1",
  OUTDIAL_BASE_URL: "https://voice.test",
  FROM_NUMBER: "+12025550199",
  PUBLIC_URL: "https://bridge.test/",
  BRIDGE_SECRET: `${token},${token}`,
  CALLERS: JSON.stringify({ shop: caller }),
  AGENT: "openai",
  AGENT_KEY: "sk-1",
};

test("the environment becomes the configuration, with its defaults", () => {
  expect(readConfig(complete)).toEqual({
    apiKey: "ak_1",
    baseUrl: "https://voice.test",
    fromNumber: "+12025550199",
    publicUrl: "https://bridge.test",
    secret: [token, token],
    webhookSecret: undefined,
    callers: [{ ...caller, name: "shop" }],
    record: false,
    transfers: new Map(),
    pressKeys: false,
    agent: expect.objectContaining({ name: "openai" }),
    agentTimeout: 5_000,
    idleTimeout: 10_000,
    maxDuration: 600_000,
  });
});

test.each(["openai", "gpt-live", "elevenlabs", "deepgram", "gemini", "xai", "azure"])(
  "%s is an agent",
  (AGENT) => {
    const url = AGENT === "azure" && { AGENT_URL: "wss://r.test/realtime", AGENT_MODEL: "d" };
    const { agent } = readConfig({ ...complete, ...url, AGENT, AGENT_ID: "agent_1" });
    expect(agent).toHaveProperty("name");
  },
);

test.each([
  ["AGENT", "somebody"],
  ["AGENT_KEY", ""],
  ["OUTDIAL_API_KEY", ""],
  ["PUBLIC_URL", "http://bridge.test"],
  ["PUBLIC_URL", "bridge.test"],
  ["PUBLIC_URL", "https://bridge.test/behind/a/path"],
  ["BRIDGE_SECRET", "short"],
  ["BRIDGE_SECRET", `${token},short`],
  ["RECORD", "yes"],
  ["FROM_NUMBER", "123"],
  ["AGENT_TIMEOUT_SECONDS", "0"],
  ["AGENT_TIMEOUT_SECONDS", "86401"],
  ["MAX_CALL_SECONDS", "2592000"],
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
])("a wrong %s is named, and its value is not shown: %s", (name, value) => {
  const error = new Error(`Missing or wrong: ${name}`);
  expect(() => readConfig({ ...complete, [name]: value })).toThrow(error);
});

test("everything that is missing is named at once", () => {
  expect(() => readConfig({})).toThrow(
    "OUTDIAL_API_KEY, OUTDIAL_BASE_URL, FROM_NUMBER, PUBLIC_URL, BRIDGE_SECRET, CALLERS, AGENT, AGENT_KEY",
  );
});

test("an agent's URL is refused without TLS, except on loopback", () => {
  const read = (AGENT_URL: string) => () => readConfig({ ...complete, AGENT_URL });
  expect(read("ws://127.0.0.1:9/")).not.toThrow();
  expect(read("wss://agent.test/")).not.toThrow();
  expect(read("ws://agent.test/")).toThrow("url");
});
