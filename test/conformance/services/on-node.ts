import { inspect } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPeer } from "../../peer/start.ts";
import { casesWith, entriesWith, type ServiceName, unknownExemptions } from "./index.ts";

/**
 * The list with a carrier, here on Node and by `outdial/fetch`; `npm run conformance` has every runtime and entry.
 */
export const testOnNode = (service: ServiceName): void => {
  let peer: Awaited<ReturnType<typeof startPeer>>;
  beforeAll(async () => {
    peer = await startPeer();
  });
  afterAll(() => peer.stop());

  const entries = entriesWith(service).filter(({ entry }) => entry.startsWith("outdial/fetch"));
  test.each(casesWith(service, entries).filter(({ exempt }) => exempt === undefined))(
    "$name",
    ({ run }) =>
      run({
        runtime: "node24",
        peer: peer.url,
        service,
        inspect: (value) => inspect(value, { depth: 9, showHidden: true }),
      }),
  );

  test("every case that is left out is one of the list", () => {
    expect(unknownExemptions(service)).toEqual([]);
  });
};
