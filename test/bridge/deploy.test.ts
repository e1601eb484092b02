import type { CalleeAct } from "outdial/emulator";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { serveOpenai } from "../agents/protocols/openai.ts";
import { asWorker, startBridge } from "./bridges.ts";
import { number, token } from "./environment.ts";
import { startService, until } from "./service.ts";

const callee: readonly CalleeAct[] = [{ type: "silence", ms: 60_000 }];
const authorization = `Bearer ${token}`;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A Worker with a talk in it, in the middle of the agent's first sentence. */
const talking = async () => {
  const agent = await serveOpenai({ answers: [40_000] });
  closing.push(agent.close);
  const service = await startService({ speed: 1, callee });
  closing.push(service.close);
  const env = { AGENT: "openai", AGENT_KEY: "sk-key", AGENT_URL: agent.url };
  const bridge = await startBridge(asWorker, service, env);
  closing.push(bridge.close);
  const placed = await fetch(`${bridge.url}/calls`, {
    method: "POST",
    headers: { authorization },
    body: JSON.stringify({ to_number: number }),
  });
  const { id, call_id } = await placed.json();
  await until("the agent is heard", () => (service.sockets[0]?.answered.length ?? 0) > 0);
  const shown = async () =>
    (await fetch(`${bridge.url}/calls/${id}`, { headers: { authorization } })).json();
  return { agent, service, bridge, call_id, shown };
};

/** The status of the answer to a request for a socket. */
const upgrade = (url: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url);
    socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
    socket.on("upgrade", () => resolve(101));
    socket.on("error", reject);
  });

test("a deploy in the middle of a talk ends the call, and says so; nobody can take it up again", async () => {
  const { agent, service, bridge, call_id, shown } = await talking();
  const [socket] = service.sockets;
  await bridge.deploy();

  // Both sockets are cut, and the service hangs up.
  const record = await service.emulator.ended(call_id);
  expect(record).toMatchObject({ state: "completed" });
  expect(socket?.closed?.code).toBe(1006);
  await until("the agent's socket is closed", () => agent.open() === 0);

  // The new isolate knows the call, and that its talk was cut.
  expect(await shown()).toMatchObject({ ended: true, rang: true, problem: "restarted" });

  // The claim outlives the isolate: the same URL gets no second talk, and no second agent.
  expect(await upgrade(String(socket?.url))).toBe(409);
  expect(agent.peers).toHaveLength(1);
  expect(service.sockets).toHaveLength(1);
});

test("a deploy between a talk's end and the news of the call's changes nothing of what is shown", async () => {
  const { agent, service, bridge, call_id, shown } = await talking();
  agent.peers[0]?.socket.close(1011);
  const { history } = await service.emulator.ended(call_id);
  await bridge.deploy();
  const last = history.findLast((entry) => entry.type === "notification");
  if (last?.type !== "notification") expect.fail("nothing was told");
  const { url, headers, body } = last.request;
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(204);
  expect(await shown()).toMatchObject({ ended: true, problem: "agent_lost" });
});
