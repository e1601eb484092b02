import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { listIn, report, run } from "../conformance/run.ts";

// Unhandled rejections end Node by themselves, with a failure.
const [, , peer = "", runtime = "", list] = process.argv;
if (runtime !== "node22" && runtime !== "node24" && runtime !== "node26") throw new Error("which?");
console.log(
  report(
    await run({
      runtime,
      peer,
      ...listIn(list),
      inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
      storage: () => new DatabaseSync(":memory:"),
    }),
  ),
);
