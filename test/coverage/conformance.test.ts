import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { afterAll, test } from "vitest";
import { cases } from "../conformance/index.ts";
import { keepPrinted } from "../conformance/printed.ts";
import { startPeer } from "../stub-server/start.ts";

const peer = await startPeer();
afterAll(peer.stop);
keepPrinted();

// Each case is a test of its own, so that Stryker runs only the cases that reach a mutant.
for (const { name, run } of cases) {
  test(name, () =>
    run({
      runtime: "node24",
      peer: peer.url,
      inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
      storage: () => new DatabaseSync(":memory:"),
    }),
  );
}
