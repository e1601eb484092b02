import { DatabaseSync } from "node:sqlite";
import { listIn, report, run } from "../conformance/run.ts";

declare const Deno: {
  readonly args: readonly string[];
  inspect(value: unknown, options: { depth: number; showHidden: boolean }): string;
};

// Unhandled rejections end Deno by themselves, with a failure.
const [peer = "", name] = Deno.args;
const list = listIn(name);
const inspect = (value: unknown) => Deno.inspect(value, { depth: 9, showHidden: true });
const storage = () => new DatabaseSync(":memory:");
console.log(report(await run({ runtime: "deno", peer, ...list, inspect, storage })));
