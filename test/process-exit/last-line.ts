import { entries } from "../conformance/entries.ts";
import { accepted, apiKey, params } from "../conformance/fixtures.ts";
import { answering } from "../stub-server/answer.ts";

declare const Deno:
  | { readonly args: readonly string[]; unrefTimer(timer: unknown): void }
  | undefined;
declare const process: { readonly argv: readonly string[] };

/** A server that keeps its connections open. */
const keeping = { ...accepted, keepAlive: true } as const;
/** A deadline that keeps a process for longer than anything else here, in milliseconds. */
const timeout = 600_000;
const peer = (typeof Deno === "undefined" ? process.argv[2] : Deno.args[0]) ?? "";

// Calls that end in every way; after the last line nothing may keep the process.
for (const { calls, Client } of entries) {
  const create = (answer: Parameters<typeof answering>[1], more: object = {}) =>
    calls
      .create(params, { apiKey, baseUrl: answering(peer, answer).baseUrl, timeout, ...more })
      .catch(() => {});
  await create(keeping);
  await create({ status: 503 });
  await create({ instead: "drop" });
  await create({ instead: "silence" }, { timeout: 100 });
  await create({ status: 202, body: "{", after: "stall" }, { timeout: 100 });
  await create({ status: 202, body: " ".repeat(1024), times: 4096 });
  await create(
    { status: 429, headers: { "retry-after": "60" } },
    { retries: 3, timeout: false, signal: AbortSignal.timeout(100) },
  );
  await create(keeping, { apiKey: () => new Promise(() => {}), timeout: 100 });
  await create(keeping, { signal: new AbortController().signal });
  const client = new Client(apiKey, { baseUrl: answering(peer, keeping).baseUrl, timeout });
  await client.calls.create(params);
  await client[Symbol.asyncDispose]();
}

// This timer keeps no process. It fires only if something else does, such as the timer of a deadline.
const held: unknown = setTimeout(() => console.log("HELD"), 60_000);
if (typeof Deno === "undefined") Object(held).unref();
else Deno.unrefTimer(held);
console.log("LAST LINE");
