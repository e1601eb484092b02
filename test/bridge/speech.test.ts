import { afterEach, describe, expect, test } from "vitest";
import { interrupting, msOf } from "../agents/callee.ts";
import { names, protocols } from "../agents/protocols/protocols.ts";
import { bridges, startBridge } from "./bridges.ts";
import { number, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

/** What a scripted agent of each protocol is reached with. */
const keys = { openai: "sk-key", "gpt-live": "sk-key", elevenlabs: "xi-key", deepgram: "dg-key" };

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe.each(Object.entries(bridges))("%s", (_, start) => {
  test.each(names)(
    "%s: a call with an agent that is warm when it is answered, and is interrupted",
    async (name) => {
      const agent = await protocols[name].serve({ answers: [20_000, 700], late: 5 });
      const service: Service = await startService({
        speed: 1,
        answerWithin: 60_000,
        onCall: () => ({ outcome: "no_answer" }),
        callee: interrupting(500, (id) => service.emulator.audio(id)),
      });
      const bridge = await startBridge(start, service, {
        AGENT: name,
        AGENT_KEY: keys[name],
        AGENT_ID: "agent_1",
        AGENT_URL: name === "elevenlabs" ? agent.http : agent.url,
      });
      closing.push(bridge.close, service.close, agent.close);
      const placed = await fetch(`${bridge.url}/calls`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify({ to_number: number }),
      });
      const { id, call_id } = await placed.json();
      await until("the agent is connected", () => agent.peers.length === 1);
      expect(service.sockets).toHaveLength(0); // Nobody has answered yet.
      await until("it rings", () => service.emulator.answer(call_id));
      const record = await service.emulator.ended(call_id);
      expect(record).toMatchObject({ state: "completed", reason: "normal" });
      expect(agent.peers).toHaveLength(1);

      const audio = service.emulator.audio(call_id);
      expect(msOf(1, audio)).toBeGreaterThanOrEqual(500);
      // The cut: of the 20 000 ms of its first answer no more was heard than until the interruption.
      expect(msOf(0, audio)).toBeGreaterThan(0);
      expect(msOf(0, audio)).toBeLessThan(10_000);
      if (name !== "gpt-live") expect(audio?.cuts).toHaveLength(1);
      expect(audio?.samples("callee").some((sample) => sample > 1_000)).toBe(true);
      await until("every socket is closed", () => service.open() + agent.open() === 0);
      const shown = await fetch(`${bridge.url}/calls/${id}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(await shown.json()).not.toHaveProperty("problem");
    },
  );
});
