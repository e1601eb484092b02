import { describe, expect, test } from "vitest";
import { bridges, startBridge } from "./bridges.ts";
import { number, token } from "./environment.ts";
import { indexOf, samplesOf, withoutPerson } from "./recording.ts";
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

      await until(
        "two seconds of the agent are heard in one piece, and the person beside it",
        () => {
          const phrase = service.sockets[0]?.answered.subarray(0, 16_000);
          const audio = service.emulator.audio(call_id);
          if (phrase?.length !== 16_000 || !audio) return false;
          const at = indexOf(audio.samples("application"), phrase);
          return at >= 0 && audio.samples("callee").findLastIndex(Boolean) > at + 16_000;
        },
      );
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
      const agent = withoutPerson(recording);
      const phrase = answered.subarray(0, 16_000);
      const at = indexOf(agent, phrase);
      // The echo of two seconds can't begin before they were said.
      expect(at).toBeGreaterThanOrEqual(16_000);
      expect(agent.subarray(0, at).every((sample) => sample === 0)).toBe(true);

      await until("every socket is closed", () => service.open() === 0);
    } finally {
      await bridge.close();
      await service.close();
    }
  });
});
