import type { Runtime } from "../conformance/case.ts";
import { report, run, serviceIn } from "../conformance/run.ts";
import { inspect } from "./inspect.ts";

/** The list as a global function, for the Edge VM and for a web page. */
export const conform = async (runtime: Runtime, peer: string, service: string): Promise<string> =>
  report(await run({ runtime, peer, service: serviceIn(service), inspect }));
