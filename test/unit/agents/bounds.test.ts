import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { deepgram } from "../../../src/agents/adapters/deepgram.ts";
import { openaiRealtime } from "../../../src/agents/adapters/openai-realtime.ts";
import type { AgentEvent } from "../../../src/agents/agent.ts";
import { connect, openSocket } from "../../../src/agents/open-socket.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { AgentException } from "../../../src/agents/problems.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("the key is in no error, however the agent repeats it", () => {
  const apiKey = "sk-live-abcdefghijklmnop";

  test.each([
    ["whole", apiKey],
    ["in capitals", apiKey.toUpperCase()],
    ["cut short", "abcdefghij"],
    ["between words", "invalid_api_key.abcd_efgh_ijkl"],
    ["with a number of its own", "1234567890"],
  ])("%s", async (_, code) => {
    const { mind, errors } = await talking(openaiRealtime({ apiKey }));
    mind.receive({ type: "error", error: { code } });
    expect(errors).toEqual([expect.objectContaining({ problem: "agent_complained" })]);
    expect(Object(errors[0]).code).toBeUndefined();
  });

  test("in an exception of an adapter's own, too", async () => {
    const read = () => {
      throw new AgentException("agent_malformed", "abcdefghij");
    };
    const address = () => ({ url: "wss://agent.test/", headers: { "X-Key": apiKey } });
    const { mind, errors } = await talking(plain({ decode: read }, { address }));
    mind.receive({});
    expect(JSON.stringify(errors)).not.toContain("abcd");
  });

  test("and its own words for what is wrong are reported", async () => {
    const { mind, errors } = await talking(openaiRealtime({ apiKey }));
    for (const code of ["rate_limit_exceeded", "TOO_SLOW", "invalid_api_keys"]) {
      mind.receive({ type: "error", error: { code } });
    }
    expect(errors.map((error) => Object(error).code)).toEqual([
      "rate_limit_exceeded",
      "TOO_SLOW",
      "invalid_api_keys",
    ]);
  });
});

describe("a warm agent", () => {
  const warmed = async (more: object = {}) => {
    const mind = new Socket();
    const open = () => mind;
    const warm = warmAgent(plain(), { sampleRate: 8000, open, ...more });
    await settled();
    return { mind, warm, open };
  };

  test("is still warm when the talk that was to take it is refused", async () => {
    const { mind, warm } = await warmed();
    for (const refused of [{ maxDuration: 0 }, { chunkSize: 1 }]) {
      expect(() => connectAgent(new Socket(), warm, refused)).toThrow(/above|whole/);
    }
    expect(mind.readyState).toBe(1);
    warm.close();
    expect([mind.readyState, vi.getTimerCount()]).toEqual([3, 0]);
  });

  test("that has died holds nothing", async () => {
    const { mind } = await warmed();
    mind.emit("close", { code: 1006 });
    expect(vi.getTimerCount()).toBe(0);
  });

  test("that ends between the answer and the start of the stream ends the talk", async () => {
    const { mind, warm, open } = await warmed();
    const line = new Socket();
    const talk = connectAgent(line, warm, { open });
    mind.emit("close", { code: 1006 });
    line.receive(start);
    expect((await talk.ended).reason).toBe("agent_lost");
  });

  test("keeps a megabyte at most of what it is sent while it rings", async () => {
    const { mind, warm, open } = await warmed();
    for (let at = 0; at < 20; at++) {
      mind.receive({ type: "transcript", who: "agent", text: "x".repeat(100_000), final: true });
    }
    mind.receive({ type: "ready" });
    const heard: string[] = [];
    const line = new Socket();
    connectAgent(line, warm, { open, onTranscript: ({ text }) => heard.push(text) });
    line.receive(start);
    expect(heard.length).toBe(10);
    mind.receive(new ArrayBuffer(8_000));
    await vi.advanceTimersByTimeAsync(100);
    expect(line.ms).toBe(500); // What was small was kept: that it is ready.
  });
});

describe("a flood costs little", () => {
  test("the smallest frames of audio are put together", async () => {
    const { line, mind } = await talking(deepgram({ apiKey: "dg" }));
    mind.receive({ type: "SettingsApplied" });
    for (let at = 0; at < 100_000; at++) mind.receive(new ArrayBuffer(2));
    await vi.advanceTimersByTimeAsync(20_000);
    expect(line.ms).toBe(12_500);
  });

  test("things that differ are bounded in number, and so is what an interruption tells of them", async () => {
    const cuts: number[] = [];
    const read = (frame: unknown): readonly AgentEvent[] =>
      JSON.parse(String(frame), (name, value) =>
        name === "audio" ? new Uint8Array(value) : value,
      );
    const interrupted = (all: readonly unknown[]) => {
      cuts.push(all.length);
      return [];
    };
    const { mind, talk } = await talking(plain({ decode: read, interrupted }));
    mind.receive([{ type: "ready" }]);
    for (let at = 0; at < 5000; at++) {
      mind.receive([{ type: "audio", audio: [0, 0], item: `item ${at}`, response: "t" }]);
    }
    mind.receive([{ type: "interrupted" }]);
    expect(cuts[0]).toBeLessThan(2500);
    expect(talk.metrics.audio.dropped).toBeGreaterThan(0);
  });

  test("tools are bounded at once: what is refused is passed to the model", async () => {
    const run = vi.fn(() => new Promise(() => {}));
    const { mind, talk } = await talking(plain({}, { tools: { t: { description: "", run } } }));
    mind.receive({ type: "ready" });
    for (let at = 0; at < 40; at++) mind.receive({ type: "tool", id: `${at}`, name: "t" });
    await settled();
    expect(run).toHaveBeenCalledTimes(32);
    expect(mind.messages).toHaveLength(8);
    expect(mind.messages[0]).toEqual({ id: "32", output: "Too many tools are in use." });
    talk.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test("a message of more events than 1000 is none: each call of a tool would be answered at once", async () => {
    const run = vi.fn(() => "done");
    const decode = (message: unknown): readonly AgentEvent[] => JSON.parse(String(message));
    const tools = { t: { description: "", run } };
    const { mind, errors } = await talking(plain({ decode }, { tools }));
    const calls = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ type: "tool", id: `${count} ${at}`, name: "t" }));
    mind.receive([{ type: "ready" }]);
    mind.receive(calls(1_001));
    await settled();
    expect([run.mock.calls.length, mind.sent.length]).toEqual([0, 0]);
    expect(errors).toEqual([expect.objectContaining({ problem: "agent_malformed" })]);
    mind.receive(calls(1_000));
    await settled();
    expect([run.mock.calls.length, mind.sent.length]).toEqual([32, 1_000]);
  });

  test("a callee of whom nothing but empty messages come leaves nothing", async () => {
    const { line, mind } = await talking(plain({ encode: (bytes) => [bytes] }));
    for (let at = 0; at < 5000; at++) line.hear(0, 0);
    for (let at = 0; at < 100; at++) line.hear(77, 1);
    mind.receive({ type: "ready" });
    expect(mind.sent).toHaveLength(1);
    expect(Object(mind.sent[0])).toHaveLength(1600);
  });

  test("the answer of a service that signs a URL is read up to 1 MiB", async () => {
    vi.useRealTimers();
    let sent = 0;
    const body = new ReadableStream({
      pull: (controller) => {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    vi.stubGlobal("fetch", async () => new Response(body));
    const signal = new AbortController().signal;
    const ticket = { url: "https://agent.test/", headers: {}, read: () => "wss://agent.test/" };
    const address = () => ({ url: "", ticket });
    await expect(connect(address, openSocket, signal, () => {})).rejects.toThrow();
    vi.unstubAllGlobals();
    expect(sent).toBeLessThan(2 ** 21);
  });
});

describe("uses of tools", () => {
  const tools = { t: { description: "", run: vi.fn() } };

  test("of no id are all stopped when the session ends, and a doubled id runs once", async () => {
    const signals: AbortSignal[] = [];
    tools.t.run.mockImplementation((_: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    const { mind, talk } = await talking(plain({}, { tools }));
    mind.receive({ type: "ready" });
    for (const id of ["same", "same", "", ""]) mind.receive({ type: "tool", id, name: "t" });
    talk.close();
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test("hang_up, asked for twice, is answered twice when the callee speaks", async () => {
    const { mind } = await talking(plain());
    mind.receive({ type: "ready" });
    mind.receive(new ArrayBuffer(16_000));
    for (const id of ["1", "2"]) mind.receive({ type: "tool", id, name: "hang_up" });
    mind.receive({ type: "interrupted" });
    expect(mind.messages).toEqual([
      { id: "2", output: "The call is being ended." },
      { id: "1", output: "The callee spoke: the call goes on." },
    ]);
  });

  test("a hang_up of one's own is offered in the place of the one that is built in", async () => {
    const own = { description: "mine", run: () => "no" };
    const { mind } = await talking(openaiRealtime({ apiKey: "sk", tools: { hang_up: own } }));
    const { session } = Object(mind.messages[0]);
    expect(session.tools).toEqual([expect.objectContaining({ description: "mine" })]);
  });
});
