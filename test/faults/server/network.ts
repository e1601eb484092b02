import { execFileSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { type Cut, outage } from "../fault.ts";

const ip = (...args: readonly string[]): void => {
  execFileSync("ip", args);
};

/** The network of this process, by its name in the kernel. */
export const ownNetwork = (): string => readlinkSync("/proc/self/ns/net");

const waiting: (() => void)[] = [];
/** When the network is gone, the next time. */
export const gone = (): Promise<void> => new Promise((resolve) => waiting.push(resolve));

/** When the network began to go, when it was gone, and when it was given back, by the clock of the machine. */
export interface Outage {
  readonly going: number;
  readonly gone: number;
  readonly back: number;
}

/**
 * Takes loopback away for a while, and gives it back.
 *
 * @param slowness - how many times as long as usual
 * @param machine - the machine's own network, which must never be taken away
 */
export const cut = async (way: Cut, slowness: number, machine: string): Promise<Outage> => {
  if (!machine || ownNetwork() === machine) throw new Error("this is the machine's own network");
  const going = Date.now();
  if (way === "unaddressed") ip("address", "delete", "127.0.0.1/8", "dev", "lo");
  ip("link", "set", "lo", "down");
  const gone = Date.now();
  for (const resolve of waiting.splice(0)) resolve();
  await wait(outage * slowness);
  const back = Date.now();
  ip("link", "set", "lo", "up");
  if (way === "unaddressed") ip("address", "replace", "127.0.0.1/8", "dev", "lo");
  return { going, gone, back };
};
