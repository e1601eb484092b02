import { beforeAll, expect, inject, test } from "vitest";
import { announce } from "../output.ts";
import { startPeer } from "../stub-server/start.ts";
import type { Runtime } from "./case.ts";
import { apiKey, from_number, to_number } from "./fixtures.ts";
import { cases } from "./index.ts";
import { launch } from "./launch.ts";
import type { Result } from "./run.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Which runtime the project is for. */
    runtime: Runtime;
  }
}

const runtime = inject("runtime");
let code: number | null;
let printed: string;
let results: readonly Result[] = [];

// The runtime runs the whole list at once; each test below then shows the result of one case.
beforeAll(async () => {
  const peer = await startPeer();
  const ended = await launch(runtime, peer.url);
  await peer.stop();
  code = ended.code;
  const output = ended.stdout + ended.stderr;
  const [line, json] = /^REPORT (\[.*\])$/m.exec(output) ?? [];
  if (!line || !json) throw new Error(`${runtime} reported nothing:\n${output}`);
  printed = output.replace(line, "");
  results = JSON.parse(json);
  const exempt = results.flatMap(({ exempt }) => exempt ?? []);
  for (const reason of new Set(exempt)) {
    const count = exempt.filter((one) => one === reason).length;
    announce(`not run in ${runtime}: ${count} cases: ${reason}`);
  }
});

for (const { name } of cases) {
  test(name, ({ skip }) => {
    const result = results.find((one) => one.name === name);
    if (!result) throw new Error("the runtime has not run this case");
    if (result.exempt) skip(result.exempt);
    if (result.error) throw new Error(result.error);
  });
}

test("the runtime ran the whole list in its order, and exited without an error", () => {
  expect(results.map(({ name }) => name)).toEqual(cases.map(({ name }) => name));
  expect(code, printed).toBe(0);
  expect(printed.match(/^.*UNHANDLED.*$/gm)).toBeNull();
});

test("nothing that the runtime printed contains a key or a telephone number", () => {
  expect(printed).toContain("CANARY");
  for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
    expect(printed).not.toContain(secret);
  }
});
