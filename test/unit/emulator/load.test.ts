import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createEmulator } from "../../../src/emulator/index.ts";

const params = JSON.stringify({
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
});

const app = (request: Request) =>
  request.url.endsWith("/flow")
    ? Response.json({ action: "hangup" })
    : new Response(null, { status: 204 });

it("2 000 calls at once end with every history complete, in memory that does not grow", async () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const heap = () => {
    collect();
    return process.memoryUsage().heapUsed / 2 ** 20;
  };
  const emulator = createEmulator({ fetch: app, clock: "instant", keep: 100 });
  const headers = { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" };
  const init = { method: "POST", headers, body: params };
  const call = async (): Promise<boolean> => {
    const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", init);
    const { history } = await emulator.ended((await response.json()).data.id);
    const seen = history.map((entry) =>
      entry.type === "state" ? entry.state : entry.type === "notification" ? entry.event : "",
    );
    return (
      seen.filter((each) => /^[a-z]+$/.test(each)).join(" ") ===
        "initiated ringing answered completed" &&
      seen.filter((each) => each.startsWith("call.")).join(" ") ===
        "call.initiated call.ringing call.answered call.completed"
    );
  };
  const round = async () => {
    const ends = await Promise.all(Array.from({ length: 2_000 }, call));
    expect(ends.filter(Boolean)).toHaveLength(2_000);
    expect(emulator.calls).toHaveLength(100);
    return heap();
  };
  await round(); // V8 compiles what runs.
  const first = await round();
  const second = await round();
  expect(second - first).toBeLessThan(1);
});
