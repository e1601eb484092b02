import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { carriers as registered } from "../../src/carriers/carriers.ts";
import { apiKey, from_number, to_number } from "../conformance/fixtures.ts";
import { keepPrinted } from "../conformance/printed.ts";
import {
  carrierOf,
  casesWith,
  entriesWith,
  serviceNames,
  unknownExemptions,
} from "../conformance/services/index.ts";
import { startPeer } from "../stub-server/start.ts";
import { carriers as clients } from "../unit/carriers/carriers.ts";
import { carriers } from "./carriers.ts";

// As in an application that uses fetch before it imports this package.
vi.hoisted(() => new Response());

let peer: Awaited<ReturnType<typeof startPeer>>;
beforeAll(async () => {
  peer = await startPeer();
});
afterAll(() => peer.stop());

test("every carrier of the package has its data in the tests", () => {
  const names = Object.keys(registered).sort();
  expect([...serviceNames].sort()).toEqual(names);
  expect(carriers.map(({ name }) => name).sort()).toEqual(names);
  expect(clients.map(({ service }) => service.name).sort()).toEqual(names);
});

// Here on Node and by `outdial/fetch`; `npm run conformance` has every runtime and entry.
describe.each(serviceNames)("the conformance list with %s", (service) => {
  const printed = keepPrinted();
  const entries = entriesWith(service).filter(({ entry }) => entry.startsWith("outdial/fetch"));

  test.each(casesWith(service, entries).filter(({ exempt }) => exempt === undefined))(
    "$name",
    ({ run }) =>
      run({
        runtime: "node24",
        isLoadedLate: true,
        peer: peer.url,
        service,
        inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
      }),
  );

  test("every case that is left out is one of the list", () => {
    expect(unknownExemptions(service)).toEqual([]);
  });

  test("nothing that the cases printed contains a key or a telephone number", () => {
    expect(printed()).toContain("CANARY");
    for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
      expect(printed()).not.toContain(secret);
    }
    expect(carrierOf(service).showsKey(printed())).toBe(false);
  });
});
