import type { Bench } from "./bench.ts";
import { agents } from "./measure/agents.ts";
import { coldStart } from "./measure/cold-start.ts";
import { emulator } from "./measure/emulator.ts";
import { lists } from "./measure/lists.ts";
import { loopback } from "./measure/loopback.ts";
import { memory } from "./measure/memory.ts";
import { perCall } from "./measure/per-call.ts";
import { signatures } from "./measure/signatures.ts";
import { size } from "./measure/size.ts";
import type { Section } from "./section.ts";

/**
 * All that is measured, in the order of the report, by the word that asks for it. Another one is a file in
 * `measure/` and a line here; what it runs in processes of its own lies in `operations/` or `work/`.
 */
export const measurements: Readonly<Record<string, (bench: Bench) => Promise<Section>>> = {
  size,
  "per-call": perCall,
  loopback,
  "cold-start": coldStart,
  memory,
  emulator,
  signatures,
  lists,
  agents,
};
