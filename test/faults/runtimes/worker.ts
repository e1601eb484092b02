import "../watch.ts"; // Before the package.
import { attemptAll, report } from "../attempt.ts";

/** The faults met by a Cloudflare Worker. */
export default {
  async fetch(request: Request): Promise<Response> {
    const { searchParams } = new URL(request.url);
    const unhandled: string[] = [];
    addEventListener("unhandledrejection", ({ reason }) => unhandled.push(String(reason)));
    const control = searchParams.get("control") ?? "";
    const attempts = await attemptAll(control, "workerd");
    const lines = unhandled.map((each) => `UNHANDLED ${each}`);
    return new Response([...lines, report(attempts)].join("\n"));
  },
};
