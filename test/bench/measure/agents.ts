// An agent on a call: how exact it is, what it costs, and what it leaves.

import type { Interrupted } from "../agents/interruptions.ts";
import type { Crowd, FrameTimes, Remains, Times, Work } from "../agents/run.ts";
import { isInstalled } from "../build.ts";
import { node, runToFirstLine } from "../processes.ts";
import { number } from "../rounds.ts";
import type { Bench, Section, Target } from "../section.ts";

type Who = keyof typeof labels;

const labels = {
  ours: "**outdial/agents**, `connectAgent`",
  theirs: "`@openai/agents-extensions`",
  relay: "a relay that does nothing",
} as const;

const peer = "@openai/agents-extensions";

/** The most that the truncation may differ from what the telephone played, in ms. */
const apartAtMost = 50;

/** The most that a frame may be late at p99, in ms. */
const lateAtMost = 20;

/** Bytes a call: less is noise. */
const noise = 1000;

const farthest = ({ apart }: Interrupted): number => Math.max(...apart.map(Math.abs));

/** An agent on the line: how exact it is, what it costs, and what it leaves. */
export const agents = async ({ smoke, files }: Bench): Promise<Section> => {
  const raw: Record<string, unknown> = {};
  const run = async <What extends keyof Work>(
    what: What,
    who: Who,
    count: number,
    ...more: readonly string[]
  ): Promise<Work[What]> => {
    const work = [files.agents ?? "", what, who, `${count}`, ...more];
    const { line } = await runToFirstLine([...node.withGc, ...work]);
    const result: Work[What] = JSON.parse(line);
    raw[`${what} ${who} ${count}`] = result;
    return result;
  };
  const others: readonly Who[] = isInstalled(peer) ? ["theirs"] : [];
  const [interruptions, frames, calls] = smoke ? [1, 1000, 100] : [20, 20_000, 1000];
  const [crowds, seconds] = smoke ? [[10], "1"] : [[50, 100, 200, 400], "6"];

  const cuts = new Map<Who, Interrupted>();
  for (const who of ["ours", ...others] as const) {
    cuts.set(who, await run("interrupted", who, interruptions));
  }
  const wide = await run("frames-16k", "ours", frames);
  const times = new Map<Who, FrameTimes>();
  for (const who of ["relay", "ours", ...others] as const) {
    times.set(who, await run("frames", who, frames));
  }
  const { frames: sent, lost } = await run("lost", "ours", smoke ? 50 : 500);
  const left = new Map<Who, Remains>();
  for (const who of ["ours", ...others] as const) {
    left.set(who, await run("afterwards", who, calls));
  }
  const crowded: (readonly [Who, Crowd])[] = [];
  for (const who of ["relay", "ours", ...others] as const) {
    for (const count of crowds) crowded.push([who, await run("crowd", who, count, seconds)]);
  }

  const cut = cuts.get("ours");
  const time = times.get("ours");
  const after = left.get("ours");
  const most = crowded.findLast(([who, { p99 }]) => who === "ours" && p99 < lateAtMost)?.[1].calls;
  const targets: Target[] = [
    {
      goal: "interruption read → `clear` written: in the same turn of the event loop",
      measured: `${time?.later} later`,
      met: time?.later === 0,
    },
    {
      goal: "agent's audio heard after the emulator has the `clear`: 0 samples",
      measured: `${cut?.audible}`,
      met: cut?.audible === 0,
    },
    {
      goal: "bytes of a cancelled response sent afterwards: 0",
      measured: `${cut?.after}`,
      met: cut?.after === 0,
    },
    {
      goal: `\`audio_end_ms\` at most ${apartAtMost} ms from what the emulator's telephone played, never above what was sent`,
      measured: cut ? `${number(farthest(cut))} ms at worst, ${cut.over} above` : "–",
      met: cut !== undefined && farthest(cut) <= apartAtMost && cut.over === 0,
    },
    {
      goal: "frames lost or out of order: 0",
      measured: `${lost} of ${number(sent)}`,
      met: lost === 0,
    },
    {
      goal: `calls at once with frames late by less than ${lateAtMost} ms at p99: published`,
      measured: `${most ?? 0}`,
      met: most !== undefined,
    },
    {
      goal: `sockets, timers, listeners left after ${number(calls)} calls: 0, and nothing on the heap (less than 1 kB a call)`,
      measured: `${after?.sockets}, ${after?.timers}, ${after?.listeners}; ${number(after?.heap ?? Number.NaN)} bytes a call`,
      met:
        after !== undefined &&
        after.sockets + after.timers + after.listeners === 0 &&
        after.heap < noise,
    },
  ];
  const cells = ({ p50, p99 }: Times) => [number(p50), number(p99)];
  return {
    title: "Agents",
    how: "Node 24. Interruptions: whole calls on real sockets, an agent that speaks OpenAI's protocol, a callee who interrupts after 0.3 to 1.8 s; what the telephone played is the truth, the emulator's for outdial, and for the peer a telephone of Twilio's framing with the same callee. Frames: 20 ms of the callee and 20 ms of the agent, each in a message, on sockets of the process; the `clear` is timed from the agent's message. Calls at once: 6 s in one process, both directions; a frame is late by the time from the moment it is due to its being sent to the agent. The peer's transport for Twilio runs on the same agent and the same callee, on a line of its own framing, which acknowledges what was played; it takes 8 kHz only, and sends all that comes at once, for the line to hold.",
    tables: [
      {
        title: "A frame of 20 ms each way, and a barge-in, µs",
        columns: ["", "frame p50", "p99", "`clear` p50", "p99"],
        rows: [
          ...[...times].map(([who, { frame, clear }]) => [
            `${labels[who]}, 8 kHz μ-law`,
            ...cells(frame),
            ...cells(clear),
          ]),
          [`${labels.ours}, 16 from and to 24 kHz`, ...cells(wide.frame), ...cells(wide.clear)],
        ],
      },
      {
        title: "Interruptions: `audio_end_ms` less what was heard, ms",
        columns: ["", "least", "most", "bytes after the `clear`"],
        rows: [...cuts].map(([who, { apart, after }]) => [
          labels[who],
          number(Math.min(...apart)),
          number(Math.max(...apart)),
          number(after),
        ]),
      },
      {
        title: "Calls at once in one process",
        columns: [
          "",
          "calls",
          "frames late at p99, ms",
          "silences in what was said",
          "% of a core",
        ],
        rows: crowded.map(([who, { calls, p99, silent, cpu }]) => [
          labels[who],
          `${calls}`,
          number(p99),
          `${silent}`,
          number(cpu),
        ]),
      },
      {
        title: `Left after ${number(calls)} calls`,
        columns: ["", "sockets", "timers", "listeners", "bytes a call"],
        rows: [...left].map(([who, { sockets, timers, listeners, heap }]) => [
          labels[who],
          `${sockets}`,
          `${timers}`,
          `${listeners}`,
          number(heap),
        ]),
      },
    ],
    targets,
    plots: [],
    remarks: isInstalled(peer) ? [] : [`Not installed, so not measured: ${peer}.`],
    raw,
  };
};
