import { describe, expect, test } from "vitest";
import { bridges, startBridge } from "./bridges.ts";
import { number, token } from "./environment.ts";
import { samplesOf } from "./recording.ts";
import { startService, until } from "./service.ts";

const authorization = `Bearer ${token}`;

describe.each(Object.entries(bridges))("%s", (_, start) => {
  test("a call through the bridge, from the token to the recording of what the agent said", async () => {
    const service = await startService();
    const bridge = await startBridge(start, service);
    try {
      const placed = await fetch(`${bridge.url}/calls`, {
        method: "POST",
        headers: { authorization },
        body: JSON.stringify({ to_number: number }),
      });
      expect(placed.status).toBe(201);
      const { id, call_id } = await placed.json();
      expect(placed.headers.get("location")).toBe(`/calls/${id}`);

      const heard = () =>
        service.emulator.audio(call_id)?.heard.reduce((sum, { samples }) => sum + samples, 0) ?? 0;
      await until("two seconds of the agent are heard", () => heard() >= 16_000);
      service.emulator.hangup(call_id);
      const record = await service.emulator.ended(call_id);
      expect(record).toMatchObject({ state: "completed", reason: "normal", to_number: number });
      const tries = record.history.filter(({ type }) => type === "notification");
      expect(tries.map((entry) => Object(entry).outcome)).toEqual(Array(4).fill("delivered"));

      const shown = await fetch(`${bridge.url}/calls/${id}`, { headers: { authorization } });
      expect(await shown.json()).toEqual({
        id,
        call_id,
        state: "completed",
        rang: true,
        ended: true,
        reason: "normal",
        duration: record.duration,
        events: ["call.initiated", "call.ringing", "call.answered", "call.completed"].map(
          (type) => ({ type, at: expect.stringMatching(/^\d{4}-.*Z$/) }),
        ),
      });

      const [socket, ...others] = service.sockets;
      expect(others).toEqual([]);
      const { asked = new Int16Array(), answered = new Int16Array() } = socket ?? {};
      expect(answered.length).toBeGreaterThanOrEqual(16_000);
      expect([...answered]).toEqual([...asked.subarray(0, answered.length)]);
      expect(String(record.recording_url)).toContain(service.baseUrl);
      const recording = await samplesOf(await fetch(String(record.recording_url)));
      const person = service.emulator.audio(call_id)?.samples("callee") ?? expect.fail();
      const agent = recording.map((sample, at) => sample - (person[at] ?? 0));
      // The echo of two seconds can't begin before they were said.
      expect(agent.findIndex(Boolean)).toBeGreaterThanOrEqual(16_000);
      // There may be gaps in it: on a busy machine it comes in pieces.
      const said = agent.filter(Boolean);
      expect(said.length).toBeGreaterThan(15_000);
      expect([...said]).toEqual([...answered.filter(Boolean).subarray(0, said.length)]);

      await until("every socket is closed", () => service.open() === 0);
    } finally {
      await bridge.close();
      await service.close();
    }
  });
});
