import type { Serve } from "./server.ts";

/** Listens, by the server of the runtime that this runs in. */
export const serve: Serve = async (handler, address) => {
  if ("Deno" in globalThis) return (await import("./deno.ts")).serveDeno(handler, address);
  if ("Bun" in globalThis) return (await import("./bun.ts")).serveBun(handler, address);
  return (await import("./node.ts")).serveNode(handler, address);
};
