import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { azure } from "../../../src/agents/adapters/azure.ts";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { elevenlabs } from "../../../src/agents/adapters/elevenlabs.ts";
import { gemini } from "../../../src/agents/adapters/gemini.ts";
import { gptLive } from "../../../src/agents/adapters/gpt-live.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import { xai } from "../../../src/agents/adapters/xai.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

const apiKey = "sk-MARKED";
const run = () => "";

const adapters: Readonly<Record<string, (options: object) => unknown>> = {
  openaiRealtime: (more) => openaiRealtime({ apiKey, ...more }),
  gptLive: (more) => gptLive({ apiKey, ...more }),
  elevenlabs: (more) => elevenlabs({ apiKey, agentId: "a", ...more }),
  deepgram: (more) => deepgram({ apiKey, ...more }),
  xai: (more) => xai({ apiKey, ...more }),
  azure: (more) => azure({ apiKey, url: "wss://r.test/realtime", model: "d", ...more }),
  gemini: (more) => gemini({ apiKey, ...more }),
};

describe.each(Object.entries(adapters))("%s", (_, adapter) => {
  test.each([
    [{ instruction: "x" }, "instruction", "is unknown: did you mean instructions?"],
    [{ MARKED9: 1 }, "a field", "is unknown"],
    [{ instructions: 7 }, "instructions", "must be a string"],
    [{ voice: {} }, "voice", "must be a string"],
    [{ greeting: 7 }, "greeting", "must be a string"],
    [{ apiKey: undefined }, "apiKey", "is missing"],
    [{ apiKey: "MARKED\n" }, "apiKey", "must be a legal header value"],
    [{ dangerouslyAllowBrowser: "yes" }, "dangerouslyAllowBrowser", "must be a boolean"],
    [{ tools: [] }, "tools", "must be an object"],
    [{ tools: { "look up": { description: "", run } } }, "tools", "must have names of 1 to 64"],
    [{ tools: { look_up: { description: "" } } }, "tools.look_up.run", "must be a function"],
    [{ tools: { look_up: { run } } }, "tools.look_up.description", "must be a string"],
    [
      { tools: { look_up: { description: "", run, timeout: "MARKED" } } },
      "tools.look_up.timeout",
      "must be a number of milliseconds above 0 and below 2 ** 31",
    ],
    [
      { tools: { look_up: { description: "", run, parameters: "x" } } },
      "tools.look_up.parameters",
      "must be an object",
    ],
  ])("%j is refused", (more, param, rule) => {
    const refused = expect.objectContaining({ name: "BadParametersException", param });
    expect(() => adapter(more)).toThrow(refused);
    expect(() => adapter(more)).toThrow(rule);
    expect(() => adapter(more)).not.toThrow(/MARKED/);
  });
});

test.each([
  [{ silnceTimeout: 3 }, "silnceTimeout", "is unknown: did you mean silenceTimeout?"],
  [{ timeout: 3 }, "timeout", "is unknown: did you mean startTimeout?"],
  [{ silenceTimeout: "3s" }, "silenceTimeout", "must be"],
  [{ silenceTimeout: 0 }, "silenceTimeout", "must be"],
  [{ keysTimeout: 0 }, "keysTimeout", "must be a number of milliseconds"],
  [{ keysToAgent: 1 }, "keysToAgent", "must be a boolean"],
  [{ onKeys: "x" }, "onKeys", "must be a function"],
  [{ onTurn: "x" }, "onTurn", "must be a function"],
  [{ retries: -1 }, "retries", "must be a whole number from 0"],
  [{ maxTokens: 0.5 }, "maxTokens", "must be a whole number from 0"],
  [{ context: 7 }, "context", "must be an object"],
  [{ onEnd: "x" }, "onEnd", "must be a function"],
  [{ form: "round" }, "form", 'must be "flat" or "nested"'],
  [{ chunkSize: 10 }, "chunkSize", "must be a whole number of ms"],
  [[], "options", "must be an object"],
])("connectAgent refuses %j, and listens to nothing", (options, param, rule) => {
  const socket = new Socket();
  const connect = () => connectAgent(socket, plain(), Object(options));
  expect(connect).toThrow(expect.objectContaining({ name: "BadParametersException", param }));
  expect(connect).toThrow(rule);
  expect(socket.listeners.size).toBe(0);
});

test.each([
  [{}, "sampleRate"],
  [{ sampleRate: 24_000 }, "sampleRate"],
  [{ sampleRate: 8000, timout: 3 }, "timout"],
  [{ sampleRate: 8000, timeout: -1 }, "timeout"],
])("warmAgent refuses %j", (options, param) => {
  const refused = expect.objectContaining({ name: "BadParametersException", param });
  expect(() => warmAgent(plain(), Object(options))).toThrow(refused);
});

test("an agent of one's own whose tool can't run is refused as well", () => {
  const tools = { look_up: { description: "" } } as never;
  expect(() => connectAgent(new Socket(), plain({}, { tools }))).toThrow("must be a function");
});

describe("what a function of the application throws", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });
  const bug = new Error("a bug");
  const boom = () => {
    throw bug;
  };
  const throwing = async (onError?: (error: unknown) => void) => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    const tools = { t: { description: "", run: boom } };
    const { mind, talk } = await talking(plain({}, { tools }), { onTranscript: boom, onError });
    mind.receive({ type: "ready" });
    mind.receive({ type: "transcript", who: "agent", text: "Hi", final: true });
    mind.receive({ type: "tool", id: "1", name: "t" });
    mind.receive({ type: "tool", id: "2", name: "none" });
    mind.receive({ type: "error", code: "oops" });
    await settled();
    expect(mind.messages).toHaveLength(2);
    talk.close();
    const { calls } = printed.mock;
    printed.mockRestore();
    return calls;
  };
  test("as the key's does, ends the call as unreachable, and is told: also of a warm agent", async () => {
    const agent = openaiRealtime({ apiKey: boom });
    const warm = warmAgent(agent, { sampleRate: 8000, open: () => new Socket() });
    const printed = vi.spyOn(console, "error").mockImplementation(() => {});
    for (const one of [agent, warm]) {
      const { errors, ends } = await talking(one);
      expect([errors, ends]).toEqual([[bug], ["agent_unreachable"]]);
      expect(printed).not.toHaveBeenCalled();
    }
    await talking(agent, { onError: undefined });
    expect(printed.mock.calls).toEqual([[bug]]);
    const { errors } = await talking(openaiRealtime({ apiKey: () => "line\nfeed" }));
    expect(errors).toEqual([expect.objectContaining({ name: "BadParametersException" })]);
  });
  test("is printed, unless onError is given; nothing else is", async () => {
    expect(await throwing(undefined)).toEqual([[bug], [bug]]);
    const onError = vi.fn();
    expect(await throwing(onError)).toEqual([]);
    expect(onError.mock.calls.filter(([error]) => error === bug)).toHaveLength(2);
  });
});
