import { afterEach, expect, test, vi } from "vitest";
import { Client } from "../../../src/fetch.ts";
import { placeByHand } from "../../bench/floor.ts";

afterEach(() => void vi.unstubAllGlobals());

const apiKey = "ak_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";
const baseUrl = "https://voice.test";
const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

/** The milliseconds of so many calls. */
const time = async (place: () => Promise<unknown>, calls: number): Promise<number> => {
  const began = performance.now();
  for (let call = 0; call < calls; call++) await place();
  return performance.now() - began;
};

test("a call without the network takes at most three times what it takes by hand", async () => {
  const body = JSON.stringify({ data: { id: "cs_1" } });
  const headers = { "content-type": "application/json", "content-length": `${body.length}` };
  vi.stubGlobal("fetch", async () => new Response(body, { status: 202, headers }));
  const client = new Client(apiKey, { baseUrl });
  const ours = () => client.calls.create(params);
  const floor = () => placeByHand(params, { apiKey, baseUrl });
  for (const place of [ours, floor]) await time(place, 3_000);
  const least = { ours: Infinity, floor: Infinity };
  // Short rounds in turn: on a busy machine some of each are not interrupted.
  for (let round = 0; round < 60; round++) {
    least.ours = Math.min(least.ours, await time(ours, 40));
    least.floor = Math.min(least.floor, await time(floor, 40));
  }
  expect(least.ours / least.floor).toBeLessThan(3);
});
