import { afterEach, describe, expect, test } from "vitest";
import { type AgentCall, call } from "./application.ts";
import { answerAt } from "./model.ts";
import { names, protocols } from "./protocols/protocols.ts";
import type { AgentServer } from "./server.ts";

const servers: AgentServer[] = [];
const served = async (server: Promise<AgentServer>) => {
  servers.push(await server);
  return server;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

/** Which answers are heard from a moment on, in ms since the answer: a filter's edges are no answer. */
const answersFrom = ({ audio }: AgentCall, from: number): Set<number> => {
  const samples = audio.samples("application").slice((from * audio.sample_rate) / 1000);
  const flat = samples.filter((each, at) => Math.abs(each - (samples[at + 1] ?? 0)) < 2);
  return new Set([...flat].map(answerAt).filter((answer) => answer >= 0));
};

/** Interrupts the greeting after so many ms of it, and hears the answer out. */
const interrupting = (ms: number) => [
  { type: "listen", ms } as const,
  { type: "tone", hertz: 300, ms: 400 } as const,
  { type: "listen", ms: 600 } as const,
  { type: "hangup" } as const,
];

describe.each(names.filter((name) => name !== "gpt-live"))(
  "%s: a callee who interrupts",
  (name) => {
    const { serve, agent } = protocols[name];

    test.each(["8k", "16k"] as const)(
      "hears nothing more of what was cut off, at %s",
      async (rate) => {
        const server = await served(serve({ answers: [5_000, 800], late: 10 }));
        const result = await call(agent(server), {
          sample_rate: rate,
          emulator: { callee: interrupting(700) },
        });
        expect(result.end.reason).toBe("hung_up");
        expect(result.errors).toEqual([]);
        const [cut, ...others] = result.audio.cuts;
        expect(others).toEqual([]);
        expect(cut?.samples).toBeGreaterThan(0);
        expect(answersFrom(result, 0)).toEqual(new Set([0, 1]));
        expect(answersFrom(result, cut?.at_ms ?? 0)).toEqual(new Set([1]));
        expect(result.end.metrics.interruptions.count).toBe(1);
      },
    );
  },
);

test("gpt-live: a callee who interrupts is yielded to by the model itself", async () => {
  const { serve, agent } = protocols["gpt-live"];
  const server = await served(serve({ answers: [5_000, 800] }));
  const result = await call(agent(server), { emulator: { callee: interrupting(700) } });
  expect(result.errors).toEqual([]);
  expect(result.audio.cuts).toEqual([]);
  expect(answersFrom(result, 0)).toEqual(new Set([0, 1]));
  const first = [...result.audio.samples("application")].filter((each) => answerAt(each) === 0);
  expect(first.length / 8).toBeLessThan(2_500); // Of 5 000 ms: it stopped soon after it was heard.
});

test.each([300, 777, 1_260])(
  "openai: cut off after %i ms, it is truncated where it was heard",
  async (ms) => {
    const { serve, agent } = protocols.openai;
    const server = await served(serve({ answers: [5_000, 800], late: 3 }));
    const { audio } = await call(agent(server), { emulator: { callee: interrupting(ms) } });
    const [cut] = audio.cuts;
    const until = cut?.at_ms ?? 0;
    const heard = audio.heard
      .filter(({ from_ms }) => from_ms < until)
      .reduce((sum, { samples, sample_rate }) => sum + (samples / sample_rate) * 1000, 0);
    const sent = audio.heard
      .filter(({ from_ms }) => from_ms <= until)
      .reduce((sum, { of, sample_rate }) => sum + (of / sample_rate) * 1000, 0);
    const [truncation] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    const { audio_end_ms } = Object(truncation);
    expect(Math.abs(audio_end_ms - heard)).toBeLessThanOrEqual(50);
    expect(audio_end_ms).toBeLessThanOrEqual(sent);
  },
);
