import fc from "fast-check";
import { expect, it } from "vitest";
import { Call } from "../../../../src/emulator/call.ts";
import { instantClock } from "../../../../src/emulator/clock.ts";
import { downloadOf } from "../../../../src/emulator/recording/download.ts";
import { reachOf } from "../../../../src/server/outgoing.ts";

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

it("any part of a recording is that part of the whole", async () => {
  const call = new Call(
    {
      id: "cs_1",
      params,
      recordingUrl: () => "https://emulator.test/",
      reach: reachOf(false, false),
    },
    instantClock,
    { onEntry: () => {}, onState: () => {} },
  );
  await call.timeline.run(async () => {
    call.transition("ring");
    call.transition("answer");
    await call.timeline.wait(5_000);
    call.recording.callee.openTone(440, 1_000, 4_500);
    call.transition("normal");
  });
  const whole = new Uint8Array(
    await downloadOf(call.recording, { to: call.talkTime }, null).arrayBuffer(),
  );
  const size = 44 + 5 * 16_000;
  expect(whole).toHaveLength(size);
  const edge = fc.oneof(fc.nat(size + 9), fc.constantFrom(0, 43, 44, 45, 32_044, 32_045, size - 1));
  await fc.assert(
    fc.asyncProperty(edge, fc.option(edge), async (first, last) => {
      const response = downloadOf(
        call.recording,
        { to: call.talkTime },
        `bytes=${first}-${last ?? ""}`,
      );
      const bytes = new Uint8Array(await response.arrayBuffer());
      if (first >= size || (last !== null && last < first)) {
        expect(response.status).toBe(416);
        expect(response.headers.get("Content-Range")).toBe(`bytes */${size}`);
        return;
      }
      const part = whole.slice(first, (last ?? size - 1) + 1);
      expect(response.status).toBe(part.length === size ? 200 : 206);
      expect(response.headers.get("Content-Length")).toBe(String(part.length));
      expect(Buffer.compare(bytes, part)).toBe(0);
    }),
    { numRuns: 200 },
  );
  const tail = new Uint8Array(
    await downloadOf(call.recording, { to: call.talkTime }, "bytes=-100").arrayBuffer(),
  );
  expect(tail).toEqual(whole.slice(-100));
  for (const all of ["", "bytes=-", "bytes=1-2,4-5", "items=1-2", "junk"]) {
    expect(downloadOf(call.recording, { to: call.talkTime }, all).status).toBe(200);
  }
});
