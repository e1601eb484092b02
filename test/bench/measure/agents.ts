import type { Bench } from "../bench.ts";
import { firstLine } from "../child.ts";
import { number } from "../format.ts";
import { node } from "../runtimes.ts";
import type { Section, Target } from "../section.ts";
import type { AgentsTold, FrameTimes } from "../work/agents.ts";

/** The most that the truncation may differ from what the telephone played, in ms. */
const apartAtMost = 50;

/** The most that a message may be late at p99, in ms. */
const lateAtMost = 20;

/** Bytes a call: less is noise. */
const noise = 1000;

/** An agent on the line: how exact it is, what it costs, and what it leaves. */
export const agents = async ({ smoke, files }: Bench): Promise<Section> => {
  const raw: Record<string, unknown> = {};
  const run = async <Told extends AgentsTold>(what: string, count: number): Promise<Told> => {
    const { line } = await firstLine([...node.withGc, files.agents ?? "", what, `${count}`]);
    const told: Told = JSON.parse(line);
    raw[`${what} ${count}`] = told;
    return told;
  };
  type Told<Key extends string> = Extract<AgentsTold, Readonly<Record<Key, unknown>>>;
  const { apart, over, after, clear } = await run<Told<"apart">>("interrupted", smoke ? 1 : 20);
  const frames = await run<Told<"relay">>("frames", smoke ? 1000 : 20_000);
  const left = await run<Told<"heap">>("afterwards", smoke ? 100 : 1000);
  const crowds: Told<"p99">[] = [];
  for (const count of smoke ? [10] : [50, 100, 200, 400]) {
    crowds.push(await run<Told<"p99">>("crowd", count));
  }
  const most = crowds.findLast(({ p99 }) => p99 < lateAtMost)?.calls ?? 0;
  const farthest = Math.max(...apart);
  const targets: Target[] = [
    {
      goal: `\`audio_end_ms\` at most ${apartAtMost} ms from what the emulator's telephone played, never above what was sent`,
      measured: `${number(farthest)} ms at worst of ${apart.length}, ${over} above`,
      met: farthest <= apartAtMost && over === 0,
    },
    {
      goal: "after the `clear`: nothing of the cancelled answer sent, no sample of it heard",
      measured: `${after} messages or stretches`,
      met: after === 0,
    },
    {
      goal: "no timer and no listener left after the calls, and nothing on the heap (less than 1 kB a call)",
      measured: `${left.timers} timers, ${left.listeners} listeners, ${number(left.heap)} bytes a call`,
      met: left.timers === 0 && left.listeners === 0 && left.heap < noise,
    },
  ];
  const row = (label: string, { p50, p99 }: FrameTimes) => [label, number(p50), number(p99)];
  return {
    title: "Agents",
    how: "Node 24. Interruptions: whole calls through the emulator on real sockets, an agent that speaks OpenAI's protocol, a callee who interrupts after 0.3 to 1.8 s; what the emulator played is the truth. Frames: 20 ms of the callee and 20 ms of the agent, through `connectAgent` and through a relay that only puts the audio into the other's message. Calls at once: 6 s in one process, both directions, how late each message is beside the moment that it is due.",
    tables: [
      {
        title: "A frame of 20 ms each way, µs",
        columns: ["", "p50", "p99"],
        rows: [
          row("a relay that does nothing", frames.relay),
          row("8 kHz, μ-law", frames.pcm8),
          row("16 kHz, from and to 24 kHz", frames.pcm16),
        ],
      },
      {
        title: "Calls at once in one process",
        columns: ["calls", "late at p99, ms", "messages after silence", "% of a core"],
        rows: crowds.map(({ calls, p99, silent, cpu }) => [
          `${calls}`,
          number(p99),
          `${silent}`,
          number(cpu),
        ]),
      },
    ],
    targets,
    plots: [],
    remarks: [],
    raw: { ...raw, most, clear },
  };
};
