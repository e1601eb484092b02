/** Somebody who places the call. */
export interface Subject {
  /** The file in `clients/`. */
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
  { name: "outdial-fetch", label: "**outdial/fetch**, `Client`", transport: "fetch" },
  { name: "outdial-fetch-calls", label: "**outdial/fetch**, `calls.create`", transport: "fetch" },
  { name: "outdial", label: "**outdial**, `Client`", transport: "fetch" },
  { name: "outdial-calls", label: "**outdial**, `calls.create`", transport: "fetch" },
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
