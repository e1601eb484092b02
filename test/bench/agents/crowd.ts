import process from "node:process";
import { type Contender, created, delta } from "./contender.ts";

/** How it goes with many calls at once in one process. */
export interface Crowd {
  readonly calls: number;
  /** How late a 20 ms frame of the callee is with the agent, at p99, in ms. */
  readonly p99: number;
  /** Times that a line fell silent within what an agent said. */
  readonly silent: number;
  /** Of one core. */
  readonly cpu: number;
}

/** Milliseconds of a frame. */
const frame = 20;

/** Frames after which the network and the timers have their turn. */
const batch = 50;

/** An answer, in messages of 100 ms, five times as fast as it is spoken. */
const deltas = 60;

/**
 * So many calls at once. The calls' frames are spread over the 20 ms, as those of calls are that began at
 * different moments; each is late by the time since it was due.
 */
export const crowd = async (
  { connect, said, msOf }: Contender,
  calls: number,
  seconds: number,
): Promise<Crowd> => {
  const late: number[] = [];
  let silent = 0;
  const spoken = said(8000);
  const audio = delta(1, 100, 8000);
  const all = await Promise.all(
    Array.from({ length: calls }, async () => {
      const connection = await connect(8000);
      let left = deltas;
      let until = 0;
      let due = 0;
      connection.line.onSend = (message) => {
        const ms = msOf(message);
        if (ms === 0) return;
        const now = performance.now();
        if (until > 0 && now > until) silent++;
        until = Math.max(now, until) + ms;
      };
      connection.mind.onSend = () => {
        if (due > 0) late.push(performance.now() - due);
      };
      connection.mind.emit(created(1));
      const next = (at: number): void => {
        due = at;
        connection.line.emit(spoken);
        due = 0;
        if (left-- > 0) connection.mind.emit(audio);
      };
      return { ...connection, next };
    }),
  );
  const before = process.cpuUsage();
  const began = performance.now();
  const count = (calls * seconds * 1000) / frame;
  await new Promise<void>((resolve) => {
    let sent = 0;
    const step = (): void => {
      const last = Math.min(count, sent + batch);
      for (; sent < last; sent++) {
        const due = began + (sent * frame) / calls;
        if (due > performance.now()) break;
        all[sent % calls]?.next(due);
      }
      if (sent === count) resolve();
      else if (sent === last) setImmediate(step);
      else setTimeout(step, 1);
    };
    step();
  });
  const { user, system } = process.cpuUsage(before);
  for (const { close } of all) await close();
  const steady = late.slice(Math.floor(late.length / 3)).toSorted((one, other) => one - other);
  const p99 = steady[Math.floor(steady.length * 0.99)] ?? Number.NaN;
  return { calls, p99, silent, cpu: (user + system) / 1e4 / seconds };
};
