import { afterEach, expect, test } from "vitest";
import { interrupting, msOf } from "../agents/callee.ts";
import { names, protocols } from "../agents/protocols.ts";
import { bridges, upgrade } from "./bridges.ts";
import { environment, number, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

const authorization = `Bearer ${token}`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Every runtime with one agent, and every agent on one runtime. */
const pairs = Object.entries(bridges).flatMap(([runtime, start]) =>
  names
    .filter((name) => name === "openai" || runtime === "workerd")
    .map((name) => [runtime, name, start] as const),
);

test.each(pairs)(
  "%s, %s: the agent is connected while the telephone rings, talks, and is interrupted",
  async (_, name, start) => {
    const agent = await protocols[name].serve({ answers: [100_000, 700], late: 5, turns: 1 });
    closing.push(agent.close);
    const service: Service = await startService({
      speed: 1,
      answerTimeout: 600_000,
      onCall: () => ({ outcome: "no_answer" }),
      callee: interrupting(500, (id) => service.emulator.audio(id)),
    });
    closing.push(service.close);
    const bridge = await start(
      environment(service, {
        AGENT: name,
        AGENT_ID: "agent_1",
        AGENT_KEY: name === "elevenlabs" ? "xi-key" : "sk-key",
        AGENT_URL: name === "elevenlabs" ? agent.http : agent.url,
      }),
    );
    closing.push(bridge.close);

    const placed = await fetch(`${bridge.url}/calls`, {
      method: "POST",
      headers: { authorization },
      body: JSON.stringify({ to_number: number }),
    });
    expect(placed.status).toBe(201);
    const { id, call_id } = await placed.json();
    expect(placed.headers.get("location")).toBe(`/calls/${id}`);
    await until("the agent is connected", () => agent.peers.length === 1);
    expect(service.sockets).toHaveLength(0); // Nobody has answered yet.
    await until("the telephone rings", () => service.emulator.answer(call_id));
    const record = await service.emulator.ended(call_id);
    expect(record).toMatchObject({ state: "completed", reason: "normal", to_number: number });

    const audio = service.emulator.audio(call_id);
    expect(msOf(1, audio)).toBeGreaterThanOrEqual(500);
    // Of the first answer, 100,000 ms long, no more was heard than until the interruption.
    expect(msOf(0, audio)).toBeGreaterThan(0);
    expect(msOf(0, audio)).toBeLessThan(50_000);
    if (name !== "gpt-live") expect(audio?.cuts).toHaveLength(1);
    expect(audio?.samples("callee").some((sample) => sample > 1_000)).toBe(true);
    await until("every socket is closed", () => service.open() + agent.open() === 0);

    const requests = record.history
      .filter((entry) => entry.type === "notification")
      .map(({ request }) => request);
    for (const { url, headers, body } of requests) {
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(204);
    }
    const shown = await fetch(`${bridge.url}/calls/${id}`, { headers: { authorization } });
    expect(await shown.json()).toEqual({
      id,
      call_id,
      state: "completed",
      rang: true,
      ended: true,
      reason: "normal",
      duration: record.duration,
      events: ["call.initiated", "call.ringing", "call.answered", "call.completed"].map((type) => ({
        type,
        at: expect.stringMatching(/^\d{4}-.*Z$/),
      })),
    });
    // Neither the repeated notifications nor the used URL connect to the agent again.
    expect(await upgrade(String(service.sockets[0]?.url))).toBe(409);
    expect(agent.peers).toHaveLength(1);
  },
);
