import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gemini } from "../../../src/agents/adapters/gemini.ts";
import type { AgentSession } from "../../../src/agents/agent-session.ts";
import { warmAgent } from "../../../src/agents/preconnect.ts";
import { plain, Socket, settled, talking } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What ends a call, by its reason. */
const causes: Readonly<
  Record<string, (ends: { line: Socket; mind: Socket; talk: AgentSession }) => void>
> = {
  hung_up: ({ line }) => line.emit("close", { code: 1000 }),
  closed: ({ talk }) => talk.close(),
  agent_lost: ({ mind }) => mind.emit("close", { code: 1006 }),
  agent_refused: ({ mind }) => mind.receive({ type: "error", code: "invalid_api_key" }),
  agent_failed: ({ mind }) =>
    mind.receive({ type: "tool", id: "x", name: "none", arguments: "{}" }),
};

const audio = new Int16Array(100 * 8).fill(5_000);

test.each(Object.entries(causes))(
  "%s at any moment ends everything once, and settles what was to be said",
  async (reason, cause) => {
    for (let at = 0; at <= 420; at += 20) {
      const toolResult = () => {
        throw new Error("The adapter fails");
      };
      const agent = plain({
        say: (text, id) => [JSON.stringify({ text, id })],
        reply: (text, id) => [JSON.stringify({ text, id })],
        addContext: () => [],
        toolResult,
      });
      const { line, mind, talk, ends } = await talking(agent, {
        opening: { audio, sampleRate: 8_000, interruptible: at % 40 === 0 },
        idleTimeout: 50,
        onIdle: () => {},
        onKeys: () => {},
      });
      const pending = [
        talk.play(audio, { sampleRate: 8_000 }),
        talk.say("Hello", { interruptible: false }),
        talk.reply("Ask"),
        talk.addContext("x"),
        talk.leave("done"),
        talk.say("after it"),
        talk.ended,
      ];
      if (at > 100) mind.receive({ type: "ready", begins: "callee" });
      await vi.advanceTimersByTimeAsync(at);
      cause({ line, mind, talk });
      const settled = await Promise.all(pending);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(ends).toEqual([reason]);
      expect(settled.slice(1, 4)).toEqual(["refused", "refused", undefined]);
      expect(settled[5]).toBe("refused");
      expect(vi.getTimerCount()).toBe(0);
      for (const socket of [line, mind]) {
        expect(socket.closed).toBeDefined();
        expect([...socket.listeners.values()].every(({ size }) => size === 0)).toBe(true);
      }
      expect(await talk.play(audio, { sampleRate: 8_000 })).toBe("refused");
      await Promise.all([talk.leave(), talk.interrupt(), talk.addContext("x")]);
      expect(vi.getTimerCount()).toBe(0);
    }
  },
);

test.each(["say", "reply", "addContext", "setInstructions"] as const)(
  "%s is not supported by an agent whose codec has no such function",
  async (name) => {
    const { talk } = await talking(plain());
    await expect(talk[name]("x")).rejects.toMatchObject({
      name: "AgentException",
      problem: "not_supported",
    });
    await expect(talk.press("1")).rejects.toMatchObject({ problem: "not_supported" });
    talk.close();
  },
);

test("what isn't text, audio or keys is refused", async () => {
  const { talk } = await talking(plain({ say: () => [] }), { press: () => {} });
  const refused = { name: "BadParametersException" };
  await expect(talk.say(Object(7))).rejects.toMatchObject(refused);
  await expect(talk.play(Object("x"), { sampleRate: 8_000 })).rejects.toMatchObject(refused);
  await expect(talk.play(audio, { sampleRate: 7 })).rejects.toMatchObject(refused);
  await expect(talk.press("1;2")).rejects.toMatchObject(refused);
  talk.close();
});

test("the application's interruption silences the line and drops what is to be said, but not a leaving", async () => {
  const { line, mind, talk, ends } = await talking(
    plain({ cancel: () => ["cancelled"], reply: () => [] }),
  );
  mind.receive({ type: "ready", begins: "callee" });
  const said = [talk.play(audio, { sampleRate: 8_000, interruptible: false }), talk.reply("x")];
  const left = talk.leave("over");
  await vi.advanceTimersByTimeAsync(50);
  await talk.interrupt();
  expect(line.messages.at(-1)).toEqual({ type: "clear" });
  expect(mind.sent).toContain("cancelled");
  expect(await Promise.all(said)).toEqual(["interrupted", "refused"]);
  await vi.advanceTimersByTimeAsync(1_000);
  await left;
  expect(ends).toEqual(["left"]);
});

test("what the service refuses is asked for again, at most five times", async () => {
  const asked: string[] = [];
  const reply = (_: unknown, id: string) => {
    asked.push(id);
    return [];
  };
  const { mind, talk } = await talking(plain({ reply }));
  mind.receive({ type: "ready", begins: "callee" });
  const said = talk.reply("x");
  for (let at = 0; at < 6; at++) {
    await vi.advanceTimersByTimeAsync(1_000);
    mind.receive({ type: "refused", id: "another" });
    mind.receive({ type: "refused", id: asked[0] ?? "" });
  }
  expect(await said).toBe("refused");
  expect(asked.length).toBe(5);
  expect(new Set(asked).size).toBe(1);
  talk.close();
});

test("a response of the agent's own is not taken for the one that was refused", async () => {
  const asked: string[] = [];
  const { mind, talk } = await talking(
    plain({
      reply: (_, id) => {
        asked.push(id);
        return [];
      },
    }),
  );
  const speak = (response: string) => {
    mind.receive({ type: "response_started", response });
    mind.receive(new Int16Array(800).fill(5_000).buffer);
    mind.receive({ type: "response_done", response });
  };
  mind.receive({ type: "ready", begins: "callee" });
  const said = talk.reply("x");
  await vi.advanceTimersByTimeAsync(10);
  speak("now");
  mind.receive({ type: "refused", id: asked[0] ?? "" });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(asked.length).toBe(2);
  speak("now");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await said).toBe("played");
  talk.close();
});

test("a response that is known to be another's isn't counted for the one that was asked for", async () => {
  const { mind, talk } = await talking(plain({ reply: () => [] }));
  const speak = (response: string, request?: string) => {
    mind.receive({ type: "response_started", response, ...(request && { request }) });
    mind.receive(new Int16Array(800).fill(5_000).buffer);
  };
  mind.receive({ type: "ready", begins: "callee" });
  let spoken: string | undefined;
  talk.reply("x").then((how) => {
    spoken = how;
  });
  await vi.advanceTimersByTimeAsync(10);
  speak("now");
  mind.receive({ type: "response_done", response: "now" });
  speak("now", "outdial:1");
  await vi.advanceTimersByTimeAsync(2_000);
  expect(spoken).toBeUndefined();
  mind.receive({ type: "response_done", response: "now" });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(spoken).toBe("played");
  talk.close();
});

test("a reply that ends a turn in which Gemini has said nothing for 3 s is that of the next turn", async () => {
  const { mind, talk } = await talking(gemini({ apiKey: "key", greeting: false }));
  const content = (serverContent: object) => mind.receive({ serverContent });
  const data = Buffer.from(new Int16Array(2_400).fill(5_000).buffer).toString("base64");
  const speak = () => content({ modelTurn: { parts: [{ inlineData: { data } }] } });
  mind.receive({ setupComplete: {} });
  speak();
  await vi.advanceTimersByTimeAsync(200);
  const how = vi.fn();
  talk.reply("Say it.").then(how);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(JSON.stringify(mind.messages.at(-1))).toContain("Say it.");
  content({ interrupted: true });
  content({ turnComplete: true });
  await vi.advanceTimersByTimeAsync(300);
  expect(how).not.toHaveBeenCalled();
  speak();
  content({ generationComplete: true });
  content({ turnComplete: true });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(how).toHaveBeenCalledWith("played");
  talk.close();
});

test("a warm agent that is ready has the opening's text before it is asked to greet", async () => {
  const mind = new Socket();
  const agent = plain({
    readyBeforeAnswered: true,
    addContext: (text) => [text],
    answered: () => ["greet"],
  });
  const warm = warmAgent(agent, { sampleRate: 8_000, open: () => mind });
  await settled();
  mind.receive({ type: "ready" });
  const { talk } = await talking(warm, { opening: { audio, sampleRate: 8_000, text: "I am." } });
  expect(mind.sent).toEqual(["The callee hears a recording: I am.", "greet"]);
  talk.close();
});
