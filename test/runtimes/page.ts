import type { Runtime } from "../conformance/case.ts";
import { listIn, report, run } from "../conformance/run.ts";
import { inspect } from "./inspect.ts";

/** The list as a global function, for the Edge VM and for a web page. */
export const conform = async (runtime: Runtime, peer: string, list: string): Promise<string> =>
  report(await run({ runtime, peer, ...listIn(list), inspect }));
