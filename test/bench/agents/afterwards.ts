import process from "node:process";
import { type Contender, created, delta, speechStarted, tick } from "./contender.ts";

/** What is left after many calls. */
export interface Left {
  /** Bytes a call. */
  readonly heap: number;
  readonly timers: number;
  readonly listeners: number;
  /** Sockets that weren't closed. */
  readonly sockets: number;
}

const { gc } = globalThis as { gc?: () => void };

const heapNow = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc?.();
  }
  return process.memoryUsage().heapUsed;
};

const timersNow = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** What stays of calls each of which hears, speaks, is interrupted and ends. */
export const afterwards = async ({ connect, said }: Contender, count: number): Promise<Left> => {
  let listeners = 0;
  let sockets = 0;
  const one = async () => {
    const { line, mind, close } = await connect(8000);
    mind.emit(created(1));
    for (let at = 0; at < 20; at++) {
      line.emit(said(8000));
      mind.emit(delta(1, 100, 8000));
    }
    mind.emit(speechStarted);
    await close();
    await tick();
    listeners += line.listeners + mind.listeners;
    sockets += [line, mind].filter(({ readyState }) => readyState < 2).length;
  };
  for (let at = 0; at < count / 5; at++) await one();
  [listeners, sockets] = [0, 0];
  const timersBefore = timersNow();
  const before = await heapNow();
  for (let at = 0; at < count; at++) await one();
  const heap = ((await heapNow()) - before) / count;
  return { heap, timers: timersNow() - timersBefore, listeners, sockets };
};
