import { readFileSync, rmSync } from "node:fs";
import { isAudible, tone, voice } from "../telephone/ear.ts";
import type { Packet } from "../telephone/rtp.ts";
import type { TelephoneCall } from "../telephone/telephone.ts";
import { compareWindows } from "./compare-windows.ts";
import { type MeasuredExchange, pause, until } from "./measured-exchange.ts";

/** How long a callee's pause is before an agent answers, in milliseconds. */
export const patience = 500;

const [keyCalls, agentCalls, cycles] = [4, 6, 20];
const stallMs = 400;

const audible = (packets: readonly Packet[], from: number, to = Number.POSITIVE_INFINITY) =>
  packets.filter(({ at, samples }) => at >= from && at < to && isAudible(samples));

/** Keys: from the first packet of one to the first of the answer. */
export const measureKeys = async ({ place }: MeasuredExchange): Promise<readonly number[]> => {
  const found: number[] = [];
  const calls = await Promise.all(Array.from({ length: keyCalls }, () => place("keys")));
  const press = async (call: TelephoneCall): Promise<void> => {
    await pause(800);
    for (let count = 0; count < cycles && !call.isOver; count++) {
      const begin = await call.press("1");
      await until(() => audible(call.packets, begin).length > 0, 5_000);
      const first = audible(call.packets, begin)[0];
      if (first) found.push(first.at - begin);
      await pause(500 + Math.random() * 100);
    }
  };
  await Promise.all(calls.map(press));
  return found;
};

/** What is measured of agents. */
export interface AgentFigures {
  readonly responses: number[];
  readonly stops: number[];
  readonly truncations: number[];
}

/** Says a word of 600 ms; returns when its first packet left, and its last one. */
const say = async (
  call: TelephoneCall,
): Promise<{ readonly begin: number; readonly end: number }> => {
  const word = tone(440, 600);
  const [beginning, last] = [
    call.speak(word.subarray(0, 580 * 8)),
    call.speak(word.subarray(580 * 8)),
  ];
  return { begin: await beginning, end: await last };
};

/** An agent that is talked with. */
interface Agent {
  readonly call: TelephoneCall;
  readonly id: string;
}

const openAgents = async ({ place, reported }: MeasuredExchange): Promise<readonly Agent[]> => {
  const calls = await Promise.all(Array.from({ length: agentCalls }, () => place("agent")));
  const idOf = (call: TelephoneCall): string | undefined => {
    const placed = reported.find((one) => one.type === "placed" && one.to === call.to);
    return placed?.type === "placed" ? placed.id : undefined;
  };
  await until(() => calls.every(idOf));
  return calls.map((call) => ({ call, id: idOf(call) ?? "" }));
};

/** Talks with agents: interrupts each of their responses after a while. */
const talk = async (
  exchange: MeasuredExchange,
  count: number,
  interruptAfter: (agents: number) => Promise<unknown>,
): Promise<AgentFigures> => {
  const { reported } = exchange;
  const figures: AgentFigures = { responses: [], stops: [], truncations: [] };
  const agents = await openAgents(exchange);
  const talkWith = async ({ call, id }: Agent): Promise<void> => {
    await pause(1_500);
    let { end } = await say(call);
    for (let at = 0; at < count && !call.isOver; at++) {
      await until(() => audible(call.packets, end).length > 0, 5_000);
      const first = audible(call.packets, end)[0];
      if (!first) return;
      figures.responses.push(first.at - end - patience);
      await interruptAfter(agents.length);
      const known = reported.length;
      const next = await say(call);
      const played = audible(call.packets, end, next.end + patience / 2);
      figures.stops.push(Math.max(0, (played.at(-1)?.at ?? 0) - next.begin));
      const cut = reported.slice(known).find((one) => one.type === "cut" && one.id === id);
      if (cut?.type === "cut") figures.truncations.push(Math.abs(cut.played - 20 * played.length));
      end = next.end;
    }
  };
  await Promise.all(agents.map(talkWith));
  return figures;
};

export const measureAgents = (exchange: MeasuredExchange): Promise<AgentFigures> =>
  talk(exchange, cycles, () => pause(400 + Math.random() * 400));

/** The same, with a stall of the exchange in each response: the interruption comes a while after it. */
export const measureStalls = (exchange: MeasuredExchange, after: number): Promise<AgentFigures> => {
  let stallEnd = 0;
  let waiting: (() => void)[] = [];
  const meet = (agents: number): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length < agents) return;
      const all = waiting;
      waiting = [];
      setTimeout(() => {
        stallEnd = performance.now() + stallMs;
        exchange.ask({ type: "stall", ms: stallMs });
        for (const go of all) go();
      }, 500);
    });
  return talk(exchange, 5, async (agents) => {
    await meet(agents);
    await pause(stallEnd + after + Math.random() * 200 - performance.now());
  });
};

/** The gaps between the packets of many calls at once. */
export const measureLoad = async (
  { place }: MeasuredExchange,
  flow: string,
  count: number,
): Promise<readonly number[]> => {
  const calls: TelephoneCall[] = [];
  for (let at = 0; at < count; at++) {
    place(flow).then((call) => {
      // The callee is silent: what they would send has no part in it.
      call.mute();
      calls.push(call);
    });
    await pause(50);
  }
  await until(() => calls.length === count, 20_000);
  if (calls.length < count) throw new Error(`${calls.length} of ${count} calls were answered`);
  await pause(2_000);
  const [from, to] = [performance.now(), performance.now() + 10_000];
  await pause(to - from);
  return calls.flatMap((call) => {
    const packets = call.packets.filter(({ at }) => at >= from && at < to);
    return packets.slice(1).map(({ at }, index) => at - (packets[index]?.at ?? at));
  });
};

/** Records a call, and returns what compares the recording: that takes seconds in which no telephone hears anything. */
export const measureRecording = async (
  { place, reported, recording }: MeasuredExchange,
  duration: number,
): Promise<() => ReturnType<typeof compareWindows>> => {
  const call = await place("recorded");
  await call.speak(voice(2, duration));
  await pause(duration);
  // Where the machine stalls, what is played takes longer.
  call.hangUp();
  await until(() => reported.some(({ type }) => type === "recorded"), 20_000);
  const file = readFileSync(recording);
  rmSync(recording);
  let compared: ReturnType<typeof compareWindows> | undefined;
  return () => {
    compared ??= compareWindows(file, call);
    return compared;
  };
};
