import { expect, onTestFinished, test } from "vitest";
import { msOf } from "../agents/callee.ts";
import { serveOpenai } from "../agents/protocols/openai.ts";
import { bridges } from "./bridges.ts";
import { environment, number, token } from "./environment.ts";
import { startService, until } from "./service.ts";

const headers = { authorization: `Bearer ${token}` };
const person = "+12025550101"; // Is busy.

/** A call in which the agent transfers the callee with its first words. */
const transferOn = async (runtime: string, start: (typeof bridges)[string]) => {
  const tools = { 0: [{ name: "transfer", arguments: { target: "person" } }] };
  const agent = await serveOpenai({ answers: [300], tools });
  onTestFinished(agent.close);
  const service = await startService({ speed: 1, callee: [{ type: "silence", ms: 600_000 }] });
  onTestFinished(service.close);
  const more = { AGENT_URL: agent.url, TRANSFER_TO: person };
  const bridge = await start(environment(service, more));
  onTestFinished(bridge.close);
  const body = JSON.stringify({ to_number: number });
  const placed = await fetch(`${bridge.url}/calls`, { method: "POST", headers, body });
  const { id, call_id } = await placed.json();
  const { history } = await service.emulator.ended(call_id);
  await until("every socket is closed", () => service.open() + agent.open() === 0);
  const shown = await (await fetch(`${bridge.url}/calls/${id}`, { headers })).json();
  const actions = history.flatMap((entry) => (entry.type === "action" ? [entry.action] : []));
  const heard = Math.round(msOf(0, service.emulator.audio(call_id)));
  return { runtime, actions, heard, shown };
};

test("on every runtime the last words are heard, and then the named target is called", async () => {
  const calls = Object.entries(bridges).map(([runtime, start]) => transferOn(runtime, start));
  for (const call of await Promise.all(calls)) {
    expect(call).toMatchObject({
      actions: [{ action: "stream" }, { action: "dial", to: person }],
      heard: 300,
      shown: { outcome: "transferred", ended: true },
    });
  }
});
