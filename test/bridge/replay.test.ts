import { signUrl } from "outdial/callbacks";
import { afterEach, describe, expect, test } from "vitest";
import { createBridge } from "../../examples/bridge/bridge.ts";
import { configOf } from "../../examples/bridge/config.ts";
import { serveOpenai } from "../agents/protocols/openai.ts";
import { bridges, startBridge } from "./bridges.ts";
import { environment, number, token } from "./environment.ts";
import { startService, until } from "./service.ts";

const authorization = `Bearer ${token}`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe.each(Object.entries(bridges))("%s", (_, start) => {
  test("a call gets ready one agent, however often and how late its notifications come", async () => {
    const agent = await serveOpenai({ answers: [] });
    closing.push(agent.close);
    const service = await startService({ speed: 1, onCall: () => ({ outcome: "no_answer" }) });
    closing.push(service.close);
    const env = { AGENT: "openai", AGENT_KEY: "sk-key", AGENT_URL: agent.url };
    const bridge = await startBridge(start, service, env);
    closing.push(bridge.close);
    const place = async (): Promise<string> => {
      const body = JSON.stringify({ to_number: number });
      const request = { method: "POST", headers: { authorization }, body };
      return (await (await fetch(`${bridge.url}/calls`, request)).json()).call_id;
    };
    const first = await place();
    await until("the agent is ready", () => agent.open() === 1);
    service.emulator.reject(first);
    const { history } = await service.emulator.ended(first);
    await until("the agent is let go", () => agent.open() === 0);

    const told = history.filter((entry) => entry.type === "notification");
    for (const { request } of [...told, ...told, ...told.toReversed()]) {
      const { url, headers, body } = request;
      expect((await fetch(url, { method: "POST", headers, body })).status).toBe(204);
    }
    // An agent for the next call is one that the bridge asks for after all those.
    const second = await place();
    await until("the next agent is ready", () => agent.open() > 0);
    service.emulator.reject(second);
    await until("it is let go", () => agent.open() === 0);
    expect(agent.peers).toHaveLength(2);
  });
});

test("a call that is answered or over gets no agent ready, and one that is over no socket", async () => {
  const service = await startService();
  closing.push(service.close);
  const { WEBHOOK_SECRET: _, ...env } = environment(service, 8787);
  const done: string[] = [];
  const config = configOf((name) => env[name]);
  const bridge = createBridge(config, {
    lines: {
      ringing: (id) => done.push(`ringing ${id}`),
      over: (id) => done.push(`over ${id}`),
      connect: (_request, _upgrade, id) => {
        done.push(`talk ${id}`);
        return new Response();
      },
    },
  });
  const upgrade = () => expect.fail("nothing is upgraded here");
  const ask = async (path: string, id: string, init: RequestInit) => {
    const { secret, publicUrl } = config;
    const url = await signUrl(publicUrl + path, { secret, context: { id, caller: "one" } });
    return (await bridge(new Request(url, init), upgrade)).status;
  };
  const tell = (id: string, type: string) =>
    ask("/status", id, {
      method: "POST",
      body: JSON.stringify({ type, call_id: "cs_1", data: { reason: "busy" } }),
    });
  const connect = (id: string) => ask("/media", id, { headers: { upgrade: "websocket" } });

  expect(await connect("answered")).toBe(200);
  expect(await tell("answered", "call.ringing")).toBe(204);
  expect(await tell("over", "call.failed")).toBe(204);
  expect(await tell("over", "call.ringing")).toBe(204);
  expect(await connect("over")).toBe(409);
  expect(await tell("rings", "call.ringing")).toBe(204);
  expect(await tell("rings", "call.ringing")).toBe(204); // Without an id, as an older service sends it.
  expect(done).toEqual(["talk answered", "over over", "ringing rings"]);
});
