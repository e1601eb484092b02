import { fileURLToPath } from "node:url";
import type { Runtime } from "./processes.ts";
import type { Bench, Section } from "./section.ts";
import type { Subject } from "./subjects.ts";

const calls = fileURLToPath(new URL("calls.sh", import.meta.url));

export const subjects: readonly Subject[] = [
  { name: "outdialFetch", label: "outdial/fetch", transport: "fetch" },
  { name: "outdial", label: "outdial", transport: "fetch" },
  { name: "floor", label: "floor", transport: "fetch" },
  { name: "ky", label: "ky", transport: "fetch" },
  { name: "slower", label: "slower", peer: "slower", transport: "fetch" },
  { name: "faster", label: "faster", peer: "faster", transport: "fetch" },
  { name: "retell", label: "retell", peer: "retell", transport: "fetch" },
  { name: "axios", label: "axios", peer: "axios", transport: "node:http" },
];

/** A shell in the place of a runtime: it starts in a millisecond, and these tests start hundreds. */
export const command: readonly string[] = ["sh"];
const node: Runtime = { name: "node", label: "Node 24", command, withGc: command };

/** Figures as the stand-in takes them: those of each round on a line. */
const linesOf = (figures: unknown): string =>
  (Array.isArray(figures) ? figures : [figures]).map((each) => JSON.stringify(each)).join("\n");

/** A bench whose clients print given figures in the place of what is measured. */
export const benchOf = (
  figures: Readonly<Record<string, unknown>>,
  full: Partial<Bench> = {},
): Bench => ({
  smoke: true,
  subjects: subjects.filter(({ name }) => name in figures),
  runtimes: [node],
  node,
  server: "",
  files: {
    ...Object.fromEntries(Object.entries(figures).map(([name, each]) => [name, linesOf(each)])),
    calls,
  },
  ...full,
});

/** Whether each goal that has this in its name is met, by the name. */
export const goalsOf = ({ targets }: Pick<Section, "targets">): Readonly<Record<string, boolean>> =>
  Object.fromEntries(targets.map(({ goal, met }) => [goal, met]));
