import { afterEach, describe, expect, test } from "vitest";
import { answerAt } from "../conformance/models/model.ts";
import { type AgentCall, call } from "./application.ts";
import { flat, interrupting, msOf } from "./callee.ts";
import { names, protocols } from "./protocols.ts";
import type { AgentServer } from "./server.ts";

const servers: AgentServer[] = [];
const served = async (server: Promise<AgentServer>) => {
  servers.push(await server);
  return server;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Which answers are heard from a moment on, in ms since the answer. */
const answersFrom = ({ audio }: AgentCall, from: number): Set<number> => {
  const samples = flat(audio.samples("application").slice((from * audio.sample_rate) / 1000));
  return new Set([...samples].map(answerAt).filter((answer) => answer >= 0));
};

describe.each(names.filter((name) => name !== "gpt-live"))(
  "%s: a callee who interrupts",
  (name) => {
    const { serve, agent } = protocols[name];

    test.each(["8k", "16k"] as const)(
      "hears nothing more of what was cut off, at %s",
      async (rate) => {
        const server = await served(serve({ answers: [100_000, 800], late: 10, turns: 1 }));
        let at = 0;
        const onInterrupted = () => {
          at = performance.now();
        };
        const result = await call(agent(server), {
          sample_rate: rate,
          callee: (hearing) => interrupting(700, hearing),
          talk: { onInterrupted },
        });
        expect(result.end.reason).toBe("hung_up");
        expect(result.errors).toEqual([]);
        expect(result.end.metrics.interruptions.count).toBe(1);
        const { cuts } = result.audio;
        const before = result.sent.filter((each) => each.type === "audio" && each.at < at);
        // In a process that is held up, all of it may be over before: a second later it isn't cut off any more.
        const wasPlaying = at - (before.at(-1)?.at ?? 0) < 1_000;
        expect(cuts.length).toBeGreaterThanOrEqual(wasPlaying ? 1 : 0);
        expect(cuts.length).toBeLessThan(2);
        expect(answersFrom(result, 0)).toEqual(new Set([0, 1]));
        for (const cut of cuts) expect(answersFrom(result, cut.at_ms)).toEqual(new Set([1]));
        const bytes = before.reduce((sum, each) => sum + each.bytes, 0);
        expect(msOf(0, result.audio)).toBeLessThanOrEqual(bytes / (rate === "8k" ? 16 : 32));
      },
    );
  },
);

test("gpt-live: a callee who interrupts is yielded to by the model itself", async () => {
  const { serve, agent } = protocols["gpt-live"];
  const server = await served(serve({ answers: [60_000, 800], turns: 1 }));
  const result = await call(agent(server), { callee: (hearing) => interrupting(700, hearing) });
  expect(result.errors).toEqual([]);
  expect(result.audio.cuts).toEqual([]);
  expect(answersFrom(result, 0)).toEqual(new Set([0, 1]));
  expect(msOf(0, result.audio)).toBeLessThan(60_000); // It stopped once the callee was heard.
});

test.each([300, 777, 1_260])(
  "openai: cut off after %i ms, it is truncated where it was heard",
  async (ms) => {
    const { serve, agent } = protocols.openai;
    const server = await served(serve({ answers: [20_000, 800], late: 3, turns: 1 }));
    const { sent } = await call(agent(server), {
      callee: (hearing) => interrupting(ms, hearing),
    });
    const before = sent.slice(
      0,
      sent.findIndex(({ type }) => type === "clear"),
    );
    const sentMs = before.reduce((sum, { bytes }) => sum + bytes, 0) / 16;
    const [truncation] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    const { audio_end_ms } = Object(truncation);
    // The benchmark measures how near it is to what the callee heard, and a unit test has it exact by a clock.
    expect(audio_end_ms).toBeGreaterThan(0);
    expect(audio_end_ms).toBeLessThanOrEqual(sentMs);
  },
);
