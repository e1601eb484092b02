import { Database } from "bun:sqlite";
import { listIn, report, run } from "../conformance/run.ts";

declare const Bun: {
  readonly argv: readonly string[];
  inspect(value: unknown, options: { depth: number }): string;
};

// Unhandled rejections end Bun by themselves, with a failure.
const [, , peer = "", name] = Bun.argv;
const list = listIn(name);
const inspect = (value: unknown) => Bun.inspect(value, { depth: 9 });
const storage = () => new Database(":memory:");
console.log(report(await run({ runtime: "bun", peer, ...list, inspect, storage })));
