import { Database } from "bun:sqlite";
import { report, run } from "../conformance/run.ts";

declare const Bun: {
  readonly argv: readonly string[];
  inspect(value: unknown, options: { depth: number }): string;
};

// Unhandled rejections end Bun by themselves, with a failure.
const [, , peer = ""] = Bun.argv;
const inspect = (value: unknown) => Bun.inspect(value, { depth: 9 });
const storage = () => new Database(":memory:");
console.log(report(await run({ runtime: "bun", peer, inspect, storage })));
