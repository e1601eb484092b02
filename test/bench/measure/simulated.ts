// Simulated calls: how long one takes, by the clock on the wall, for each second of the call.
import { connectAgent } from "outdial/agents";
import { scriptedAgent, simulateCall } from "outdial/testing";
import { number, spread, summary } from "../rounds.ts";
import type { Bench, Section } from "../section.ts";

/** Seconds of the wall clock for a second of a call. */
const goal = 0.06;

const voice = {
  audio: Int16Array.from({ length: 12_000 }, (_, at) => 6_000 * Math.sin(at / 3)),
  sampleRate: 8_000,
};

/** A call of about a minute, in which each question is answered. */
const oneCall = async (): Promise<number> => {
  const agent = scriptedAgent(Array.from({ length: 14 }, () => ({ ms: 1_600 })));
  const began = performance.now();
  const { end } = await simulateCall({
    app: (socket) => connectAgent(socket, agent),
    caller: [
      ...Array.from({ length: 13 }, () => [
        { type: "until-quiet" } as const,
        { type: "say", voice } as const,
      ]).flat(),
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  });
  return (performance.now() - began) / end.ms;
};

/** A minute of a call with an agent without a model, in virtual time. */
export const simulated = async ({ smoke }: Bench): Promise<Section> => {
  if (!smoke) await oneCall(); // The engine compiles it first.
  const rounds: number[] = [];
  for (let round = 0; round < (smoke ? 1 : 10); round++) rounds.push(await oneCall());
  const figures = summary(rounds);
  return {
    title: "Simulated calls",
    how: "Node 24. A call of about a minute on outdial's own line, in virtual time: 13 questions, each answered by `scriptedAgent` through `connectAgent`. Seconds of the wall clock for a second of the call, without the report.",
    tables: [
      {
        columns: ["", "s of the wall for 1 s of the call"],
        rows: [["a call of a minute", spread(figures)]],
      },
    ],
    targets: [
      {
        goal: `at most ${number(goal)} s of the wall for a second of the call`,
        measured: spread(figures),
        met: figures.median <= goal,
      },
    ],
    plots: [],
    remarks: [],
    raw: rounds,
  };
};
