import { Database } from "bun:sqlite";
import { report, run, serviceIn } from "../conformance/run.ts";

declare const Bun: {
  readonly argv: readonly string[];
  inspect(value: unknown, options: { depth: number }): string;
};

// Unhandled rejections end Bun by themselves, with a failure.
const [, , peer = "", name] = Bun.argv;
const service = serviceIn(name);
const inspect = (value: unknown) => Bun.inspect(value, { depth: 9 });
const storage = () => new Database(":memory:");
console.log(report(await run({ runtime: "bun", peer, service, inspect, storage })));
