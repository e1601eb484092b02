import { fileURLToPath } from "node:url";
import type { Bench } from "../../bench/bench.ts";
import type { Runtime } from "../../bench/runtimes.ts";
import type { Section } from "../../bench/section.ts";
import type { Subject } from "../../bench/subjects.ts";

const loop = fileURLToPath(new URL("loop.ts", import.meta.url));
const memory = fileURLToPath(new URL("memory.ts", import.meta.url));

export const subjects: readonly Subject[] = [
  { name: "outdial-fetch", label: "outdial/fetch", transport: "fetch" },
  { name: "outdial", label: "outdial", transport: "fetch" },
  { name: "floor", label: "floor", transport: "fetch" },
  { name: "ky", label: "ky", transport: "fetch" },
  { name: "slower", label: "slower", peer: "slower", transport: "fetch" },
  { name: "faster", label: "faster", peer: "faster", transport: "fetch" },
  { name: "retell", label: "retell", peer: "retell", transport: "fetch" },
  { name: "axios", label: "axios", peer: "axios", transport: "node:http" },
];

const command = [process.execPath];
const node: Runtime = { name: "node", label: "Node 24", command, withGc: command };

/** What each one tells in its rounds, in the place of what was measured. */
export const benchOf = (
  told: Readonly<Record<string, unknown>>,
  full: Partial<Bench> = {},
): Bench => ({
  smoke: true,
  subjects: subjects.filter(({ name }) => name in told),
  runtimes: [node],
  server: "",
  files: {
    ...Object.fromEntries(Object.entries(told).map(([name, each]) => [name, JSON.stringify(each)])),
    ...{ loop, memory, import: memory },
  },
  ...full,
});

/** Whether each goal that has this in its name is met, by the name. */
export const goalsOf = ({ targets }: Pick<Section, "targets">): Readonly<Record<string, boolean>> =>
  Object.fromEntries(targets.map(({ goal, met }) => [goal, met]));
