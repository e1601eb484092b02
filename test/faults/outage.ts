import { type Cut, type Fault, outage } from "./fault.ts";
import type { Seen } from "./server/seen.ts";

/** Asks the server that misbehaves. */
export type Ask = <T>(path: string) => Promise<T>;

/** What happens around one call whose network goes away. */
export interface Outage {
  /** When the call may begin: before the network goes if its answer is held back, otherwise after. */
  readonly begins: (id: string, fault: Fault) => Promise<void>;
  /** Whether the network is gone, or goes now. */
  readonly isGone: () => boolean;
  /** When the network has been back for a while, so that a POST under way has arrived if it can. */
  readonly isOver: () => Promise<void>;
  /** What is added to the deadline: enough to begin, and another for each, to tell their timers apart. */
  readonly later: number;
}

/** The network stays. */
export const noOutage: Outage = {
  begins: async () => {},
  isGone: () => true,
  isOver: async () => {},
  later: 0,
};

const wait = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** From the answer of the server that it will cut the network, until it surely has. */
const cutting = 400;

/** From the network's return until what the kernel sends again has arrived. */
const settling = 1_800;

/** One outage for several calls: it begins when all of them are ready for it. */
export const outages = (ask: Ask, way: Cut, count: number): (() => Outage) => {
  const held: string[] = [];
  let ready = 0;
  let places = 0;
  let gone = false;
  let start = () => {};
  const everyone = new Promise<void>((resolve) => {
    start = resolve;
  });
  const arrives = async (id: string) => {
    for (let tries = 0; tries < 50; tries++) {
      if ((await ask<Seen>(`seen/${id}`)).posts > 0) return;
      await wait(10);
    }
    throw new Error("the POST did not arrive before the outage");
  };
  const cut = everyone.then(async () => {
    await Promise.all(held.map(arrives));
    await ask(`cut/${way}`);
    const at = Date.now();
    gone = true;
    await wait(cutting);
    return at;
  });
  return () => ({
    begins: async (id, { server }) => {
      if (server?.held) held.push(id);
      if (++ready === count) start();
      await (server?.held ? everyone : cut);
    },
    isGone: () => gone,
    isOver: async () => wait((await cut) + outage + settling - Date.now()),
    later: 600 + places++,
  });
};
