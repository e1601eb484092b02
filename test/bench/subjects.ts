// Who is measured, and what the entries of the package are to reach.
import type { Runtime } from "./processes.ts";

/** Somebody who places the call. */
export interface Subject {
  /** The export of clients.ts. */
  readonly name: string;
  /** What it is called in the tables. */
  readonly label: string;
  /** The package, when it is a peer. */
  readonly peer?: string;
  /** What carries its requests; all that are on `node:http` are on it by axios. */
  readonly transport: "fetch" | "node:http";
  /** So slow that a round of it takes fewer calls. */
  readonly slow?: boolean;
  /** A peer that is measured in a smoke too. */
  readonly smoke?: boolean;
  /** What a reader has to know to read its numbers. */
  readonly note?: string;
}

const listed: readonly Subject[] = [
  { name: "outdialFetch", label: "**outdial/fetch**, `Client`", transport: "fetch" },
  { name: "outdialFetchCalls", label: "**outdial/fetch**, `calls.create`", transport: "fetch" },
  { name: "outdial", label: "**outdial**, `Client`", transport: "fetch" },
  { name: "outdialCalls", label: "**outdial**, `calls.create`", transport: "fetch" },
  { name: "floor", label: "the floor: bare `fetch`", transport: "fetch" },
  {
    name: "ky",
    label: "the floor, through `ky`",
    transport: "fetch",
    note: "what `ky`, which outdial is made with, takes by itself",
  },
  {
    name: "teler",
    label: "`@frejun/teler`",
    peer: "@frejun/teler",
    transport: "node:http",
    smoke: true,
    note: "no checks of the parameters",
  },
  { name: "twilio", label: "`twilio`", peer: "twilio", transport: "node:http" },
  { name: "telnyx", label: "`telnyx`", peer: "telnyx", transport: "fetch", smoke: true },
  {
    name: "plivo",
    label: "`plivo`",
    peer: "plivo",
    transport: "node:http",
    note: "sends a message, as the host of its calls is fixed",
  },
  {
    name: "vonage",
    label: "`@vonage/voice`",
    peer: "@vonage/voice",
    transport: "fetch",
    slow: true,
    note: "signs a JWT with RSA for each call, as its API asks",
  },
  { name: "vapi", label: "`@vapi-ai/server-sdk`", peer: "@vapi-ai/server-sdk", transport: "fetch" },
  { name: "retell", label: "`retell-sdk`", peer: "retell-sdk", transport: "fetch" },
  {
    name: "openai",
    label: "`openai`",
    peer: "openai",
    transport: "fetch",
    note: "a plain POST of the same body",
  },
];

/** Ours, the floors, the peers on `fetch`, and those on `node:http`. */
export const subjects: readonly Subject[] = [
  ...listed.filter(({ transport }) => transport === "fetch"),
  ...listed
    .filter(({ transport }) => transport === "node:http")
    .map((each) => ({ ...each, label: `${each.label}, on \`node:http\`` })),
];

const found = (name: Subject["name"]): readonly Subject[] =>
  subjects.filter((each) => each.name === name);

/** A call with a carrier: outdial, and the carrier's own client. */
export const carriers: readonly {
  readonly label: string;
  readonly ours: Subject;
  /** Its one subject. */
  readonly peer: readonly Subject[];
}[] = [
  {
    label: "Twilio",
    ours: {
      name: "outdialTwilio",
      label: "**outdial/fetch**, `twilioCalls`",
      transport: "fetch",
    },
    peer: found("twilio"),
  },
  {
    label: "Vonage",
    ours: {
      name: "outdialVonage",
      label: "**outdial/fetch**, `vonageCalls`",
      transport: "fetch",
      slow: true,
    },
    peer: found("vonage"),
  },
  {
    label: "Telnyx",
    ours: {
      name: "outdialTelnyx",
      label: "**outdial/fetch**, `telnyxCalls`",
      transport: "fetch",
    },
    peer: [{ name: "telnyxTexml", label: "`telnyx`", peer: "telnyx", transport: "fetch" }],
  },
];

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
    client: "outdialFetch",
    create: "outdialFetchCalls",
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
    create: "outdialCalls",
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
export const keptKeys = { sign: 1.7, receiveUrl: 1.4, receiveWebhook: 1.4 } as const;
