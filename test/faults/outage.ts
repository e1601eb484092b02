import { type Cut, type Fault, outage } from "./fault.ts";
import type { Outage as Times } from "./server/network.ts";
import type { Seen } from "./server/seen.ts";
import { pause } from "./watch.ts";

/** Asks the server that misbehaves. */
export type Ask = <T>(path: string) => Promise<T>;

/** What happens around one call whose network goes away. */
export interface Outage {
  /** When the call may begin: before the network goes if its answer is held back, otherwise after. */
  readonly begins: (id: string, fault: Fault) => Promise<void>;
  /** When the network is gone. */
  readonly isGone: () => Promise<void>;
  /** When the network was gone, once it has been back for so long that a POST under way has arrived if it can. */
  readonly isOver: () => Promise<Times>;
}

/** From the answer of the server that it will cut the network, until it has, in milliseconds. */
const cutting = 400;

/** From the network's return until what the kernel sends again has arrived, in milliseconds. */
const settling = 1_800;

/**
 * One outage for several calls: it begins when all of them are ready for it.
 *
 * @param slowness - how many times as long as usual everything takes
 */
export const outages = (ask: Ask, way: Cut, count: number, slowness: number): (() => Outage) => {
  const held: string[] = [];
  let ready = 0;
  let start = () => {};
  const everyone = new Promise<void>((resolve) => {
    start = resolve;
  });
  const arrives = async (id: string) => {
    while ((await ask<Seen>(`seen/${id}`)).posts === 0) await pause(10);
  };
  const cut = everyone.then(async () => {
    await Promise.all(held.map(arrives));
    await ask(`cut/${way}/${slowness}`);
    const at = Date.now();
    await pause(cutting * slowness);
    return at;
  });
  return () => ({
    begins: async (id, { server }) => {
      if (server?.held) held.push(id);
      if (++ready === count) start();
      await (server?.held ? everyone : cut);
    },
    isGone: async () => void (await cut),
    isOver: async () => {
      await pause((await cut) + outage * slowness + settling - Date.now());
      return ask<Times>("outage");
    },
  });
};
