import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { path } from "../examples/execute.ts";
import { startPeer } from "../stub-server/start.ts";

new Response(); // Something has used fetch before the package is loaded.
const peer = await startPeer();
afterAll(peer.stop);
afterEach(() => {
  vi.doUnmock("ky");
  vi.doUnmock("outdial");
  vi.resetModules();
});

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(path(`${name}/package.json`), "utf8")).version;

test("the range of ky is what is tested, and not what is larger", () => {
  const { dependencies } = JSON.parse(readFileSync(path("package.json"), "utf8"));
  expect(dependencies.ky).toBe("~1.14.3 || ~2.0.2");
  expect(versionOf("node_modules/ky")).toMatch(/^2\.0\./);
  expect(versionOf("test/node_modules/ky1")).toMatch(/^1\.14\./);
});

// The one in node_modules passes the whole list, on every runtime; the newest is what an application may override it with.
describe.each(["ky1", "ky2"])("through %s of test/package.json", (name) => {
  test("a call keeps each rule of the client", async () => {
    vi.resetModules();
    vi.doMock("ky", () => import(name));
    vi.doMock("outdial", () => import("../../src/index.ts"));
    // What `create` takes is made by the builders of the same package.
    vi.doMock("outdial/flows", () => import("../../src/flows/index.ts"));
    const { cases } = await import("../conformance/client/index.ts");
    const { entries } = await import("../conformance/entries.ts");
    const entry = entries.find((each) => each.entry === "outdial");
    const broken: string[] = [];
    for (const { name: rule, run } of cases) {
      if (!entry) break;
      const env = {
        runtime: "node24",
        isLoadedLate: true,
        peer: peer.url,
        inspect,
        ...entry,
      } as const;
      await Promise.resolve(run(env)).catch((error) => broken.push(`${rule}: ${error}`));
    }
    expect(broken).toEqual([]);
    expect(entry && cases.length).toBeGreaterThan(100);
  });
});
