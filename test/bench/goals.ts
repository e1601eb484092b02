import type { Runtime } from "./runtimes.ts";
import type { Subject } from "./subjects.ts";

/** What an entry of the package is to reach; but for the size, as a ratio to somebody in the same run. */
export interface Goals {
  readonly entry: "outdial/fetch" | "outdial";
  /** The subject that places calls with the entry's `Client`. */
  readonly client: Subject["name"];
  /** The subject that places them with `calls.create` alone. */
  readonly create: Subject["name"];
  /** The least that can be done on the same road. */
  readonly floor: Subject["name"];
  readonly floorLabel: string;
  /** The most that a Worker with one call may take, in kB, zipped. */
  readonly kB: number;
  /** The most times of the floor that a call may take, without the network. */
  readonly perCall: Readonly<Record<Runtime["name"], number>>;
  /** The least part of the floor's calls a second, by how many are in flight. */
  readonly rate: Readonly<Record<number, number>>;
  /** The least times the calls a second of the best peer on `fetch`, with 50 in flight. */
  readonly overPeers: number;
  /** The most times of the floor's cold start, by the place. */
  readonly coldStart: Readonly<Record<string, number>>;
  /** The peers whose cold start it need not beat, and the most times of theirs that it may take. */
  readonly behind: Readonly<Record<Subject["name"], number>>;
}

export const goals: readonly Goals[] = [
  {
    entry: "outdial/fetch",
    client: "outdial-fetch",
    create: "outdial-fetch-calls",
    floor: "floor",
    floorLabel: "the floor",
    kB: 5.8,
    perCall: { node: 1.5, bun: 2.1, deno: 2.2 },
    rate: { 1: 0.9, 50: 0.93, 500: 0.93 },
    overPeers: 1.25,
    coldStart: { node: 1.15, deno: 1.2, bun: 2, workers: 1.3 },
    behind: {},
  },
  {
    entry: "outdial",
    client: "outdial",
    create: "outdial-calls",
    floor: "ky",
    floorLabel: "the floor through `ky`",
    kB: 14.2,
    perCall: { node: 1.45, bun: 1.45, deno: 1.45 },
    rate: { 1: 0.95, 50: 0.95, 500: 0.95 },
    overPeers: 1.1,
    coldStart: {},
    behind: { retell: 1.1 },
  },
];

/** The least whole calls a second through the emulator, one at a time, on Node. */
export const emulatorRate = 5000;

/** The least times the rate without kept keys, by the operation, on Node. */
export const keptKeys = { "sign-url": 1.7, "handler-url": 1.4, "handler-webhook": 1.4 } as const;
