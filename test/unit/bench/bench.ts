import { fileURLToPath } from "node:url";
import type { Runtime } from "../../bench/processes.ts";
import type { Bench, Section } from "../../bench/section.ts";
import type { Subject } from "../../bench/subjects.ts";

const calls = fileURLToPath(new URL("calls.ts", import.meta.url));

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

const command = [process.execPath];
const node: Runtime = { name: "node", label: "Node 24", command, withGc: command };

/** A bench whose clients print given figures in the place of what is measured. */
export const benchOf = (
  figures: Readonly<Record<string, unknown>>,
  full: Partial<Bench> = {},
): Bench => ({
  smoke: true,
  subjects: subjects.filter(({ name }) => name in figures),
  runtimes: [node],
  server: "",
  files: {
    ...Object.fromEntries(
      Object.entries(figures).map(([name, each]) => [name, JSON.stringify(each)]),
    ),
    calls,
  },
  ...full,
});

/** Whether each goal that has this in its name is met, by the name. */
export const goalsOf = ({ targets }: Pick<Section, "targets">): Readonly<Record<string, boolean>> =>
  Object.fromEntries(targets.map(({ goal, met }) => [goal, met]));
