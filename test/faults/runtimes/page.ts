import "../watch.ts"; // Before the package.
import type { Runtime } from "../../conformance/case.ts";
import { attemptAll, report } from "../attempt.ts";

/** The faults as a global function, for the Edge VM and for a web page. */
export const meet = async (control: string, runtime: Runtime): Promise<string> =>
  report(await attemptAll(control, runtime));
