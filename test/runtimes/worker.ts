import { report, run } from "../conformance/run.ts";
import { inspect } from "./inspect.ts";

/** The list as a Cloudflare Worker. */
export default {
  async fetch(request: Request): Promise<Response> {
    const peer = new URL(request.url).searchParams.get("peer") ?? "";
    const unhandled: string[] = [];
    addEventListener("unhandledrejection", ({ reason }) => unhandled.push(String(reason)));
    const results = await run({ runtime: "workerd", peer, inspect });
    return new Response(
      [...unhandled.map((each) => `UNHANDLED ${each}`), report(results)].join("\n"),
    );
  },
};
