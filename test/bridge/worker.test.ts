import type { EmulatorOptions } from "outdial/emulator";
import { afterEach, describe, expect, test } from "vitest";
import { serveOpenai } from "../agents/protocols.ts";
import { type AgentServer, serveAgent } from "../agents/server.ts";
import { startWorker, upgrade } from "./bridges.ts";
import { environment, number, token } from "./environment.ts";
import { startService, until } from "./service.ts";

const authorization = `Bearer ${token}`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const closeLater = <T extends { readonly close: () => Promise<void> }>(thing: T): T => {
  closing.push(thing.close);
  return thing;
};

const callee = [{ type: "silence", ms: 60_000 }] as const;

/** A bridge in workerd that has placed one call. */
const placeCall = async (
  agent: AgentServer,
  more: Readonly<Record<string, string>> = {},
  options: EmulatorOptions = {},
) => {
  const service = closeLater(await startService({ callee, ...options }));
  const variables = environment(service, { AGENT_URL: agent.url, ...more });
  const bridge = closeLater(await startWorker(variables));
  const placed = await fetch(`${bridge.url}/calls`, {
    method: "POST",
    headers: { authorization },
    body: JSON.stringify({ to_number: number }),
  });
  const { id, call_id } = await placed.json();
  const shown = async () =>
    (await fetch(`${bridge.url}/calls/${id}`, { headers: { authorization } })).json();
  const ended = () => service.emulator.ended(call_id);
  const everythingIsClosed = async () => {
    await until("the service's sockets are closed", () => service.open() === 0);
    await until("the agent's are", async () => (await agent.connections()) === 0);
  };
  return { service, bridge, call_id, shown, ended, everythingIsClosed };
};

describe("whatever the agent does, the call ends and every socket is closed", () => {
  test("it cannot be reached", async () => {
    const agent = await serveOpenai();
    await agent.close();
    const { shown, ended, service } = await placeCall(agent);
    expect(await ended()).toMatchObject({ state: "completed", reason: "normal" });
    expect(await shown()).toMatchObject({ state: "completed", problem: "agent_unreachable" });
    await until("the service's sockets are closed", () => service.open() === 0);
  });

  test("it does not answer", async () => {
    const agent = closeLater(await serveAgent({ accept: () => {}, isDeaf: true }));
    const { shown, ended, everythingIsClosed } = await placeCall(agent, {
      AGENT_TIMEOUT_SECONDS: "0.3",
    });
    expect(await ended()).toMatchObject({ state: "completed" });
    expect(await shown()).toMatchObject({ state: "completed", problem: "agent_slow" });
    await everythingIsClosed();
  });

  test("its connection is lost in the middle of the call", async () => {
    const agent = closeLater(await serveOpenai({ answers: [40_000] }));
    const { service, shown, ended, everythingIsClosed, call_id } = await placeCall(agent);
    await until("the agent is heard", () => service.emulator.audio(call_id)?.played.length);
    for (const { socket } of agent.peers) socket.terminate();
    expect(await ended()).toMatchObject({ state: "completed" });
    expect(await shown()).toMatchObject({ problem: "agent_lost" });
    await everythingIsClosed();
  });

  test("the callee hangs up first", async () => {
    const agent = closeLater(await serveOpenai({ answers: [40_000] }));
    const { service, shown, ended, everythingIsClosed, call_id } = await placeCall(agent);
    await until("the agent is heard", () => service.emulator.audio(call_id)?.played.length);
    service.emulator.hangup(call_id);
    expect(await ended()).toMatchObject({ state: "completed", reason: "normal" });
    await everythingIsClosed();
    expect(await shown()).not.toHaveProperty("problem");
    expect(agent.peers).toHaveLength(1);
  });

  test("nobody hangs up", async () => {
    const agent = closeLater(await serveOpenai({ answers: [40_000] }));
    const { shown, ended, everythingIsClosed } = await placeCall(agent, {
      MAX_CALL_SECONDS: "0.5",
    });
    expect(await ended()).toMatchObject({ state: "completed" });
    await everythingIsClosed();
    expect(await shown()).toMatchObject({ problem: "too_long" });
  });
});

describe("a deploy", () => {
  const talking = async () => {
    const agent = closeLater(await serveOpenai({ answers: [40_000] }));
    const call = await placeCall(agent, {}, { speed: 1 });
    await until(
      "the agent is heard",
      () => call.service.emulator.audio(call.call_id)?.played.length,
    );
    return { ...call, agent };
  };

  test("in the middle of a talk ends the call as restarted, and its URL opens no second talk", async () => {
    const { agent, service, bridge, shown, ended } = await talking();
    const [socket] = service.sockets;
    await bridge.deploy();
    expect(await ended()).toMatchObject({ state: "completed" });
    expect(socket?.closed?.code).toBe(1006);
    await until("the agent's socket is closed", () => agent.open() === 0);
    expect(await shown()).toMatchObject({ ended: true, rang: true, problem: "restarted" });
    expect(await upgrade(String(socket?.url))).toBe(409);
    expect(agent.peers).toHaveLength(1);
    expect(service.sockets).toHaveLength(1);
  });

  test("after a talk changes nothing of how it ended", async () => {
    const { agent, bridge, shown, ended } = await talking();
    agent.peers[0]?.socket.close(1011);
    const { history } = await ended();
    await bridge.deploy();
    const last = history.findLast((entry) => entry.type === "notification");
    if (last?.type !== "notification") expect.fail("there was no notification");
    const { url, headers, body } = last.request;
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(204);
    expect(await shown()).toMatchObject({ ended: true, problem: "agent_lost" });
  });
});
