import { afterAll, beforeAll, expect, test } from "vitest";
import { interrupting } from "../agents/callee.ts";
import { serveOpenai } from "../agents/protocols.ts";
import type { AgentServer } from "../agents/server.ts";
import { type Service, startService, until } from "../bridge/service.ts";
import { answerAt } from "../conformance/models/model.ts";
import { rowsOf } from "./csv.ts";
import { startWorker, type Worker } from "./worker.ts";

let agent: AgentServer;
let service: Service;
let worker: Worker;

beforeAll(async () => {
  agent = await serveOpenai({ answers: [4_000, 700], turns: 1 });
  service = await startService({
    speed: 1,
    answerTimeout: 3_000,
    callee: interrupting(500, (id) => service.emulator.audio(id)),
  });
  const { emulator, baseUrl } = service;
  const { apiKey, webhookSecret } = emulator;
  const more = { AGENT: "openai", AGENT_KEY: "sk-key", AGENT_URL: agent.url };
  worker = await startWorker(
    { baseUrl, apiKey, webhookSecret },
    { ...more, AGENT_INSTRUCTIONS: "Ask whether Tuesday suits them." },
  );
});

afterAll(async () => {
  await worker.close();
  await service.close();
  await agent.close();
});

test("an agent talks with everybody of a list who answers, each called once", async () => {
  const ask = async (method: string, where: string, body?: unknown) =>
    worker.ask(method, where, body);
  const plan = { rate: 50, concurrency: 10, window: "always", variables: ["name"] };
  const { id } = await (await ask("POST", "/campaigns", plan)).json();
  const list =
    "to_number,name\n+12025550100,Ada\n+12025550101,Bob\n+13035550001,Cid\n+12025550102,Dan\n";
  await ask("PUT", `/campaigns/${id}/contacts`, list);
  await ask("POST", `/campaigns/${id}/start`);
  const progress = async () => (await ask("GET", `/campaigns/${id}/progress`)).json();
  await expect.poll(async () => (await progress()).done, { timeout: 600_000 }).toBe(true);

  expect(await progress()).toMatchObject({ completed: 2, busy: 1, no_answer: 1, contacts: 4 });
  const rows = rowsOf(await (await ask("GET", `/campaigns/${id}/results`)).text());
  expect(Object.fromEntries(rows.map((row) => [row.to_number, row.disposition]))).toEqual({
    "+12025550100": "completed",
    "+12025550101": "busy",
    "+13035550001": "completed",
    "+12025550102": "no_answer",
  });
  expect([...service.emulator.posts.values()]).toEqual([1, 1, 1, 1]);

  // Two were there to talk with, and each was given who it is.
  expect(agent.peers).toHaveLength(2);
  const reported = agent.peers.map(({ received }) => JSON.stringify(received[0]));
  expect(reported.every((text) => text.includes("I am a machine"))).toBe(true);
  expect(reported.every((text) => text.includes("Tuesday"))).toBe(true);
  expect(reported.filter((text) => text.includes("name: Ada"))).toHaveLength(1);
  expect(reported.filter((text) => text.includes("name: Cid"))).toHaveLength(1);
  for (const { id: call, state } of service.emulator.calls) {
    if (state !== "completed") continue;
    const heard = service.emulator.audio(call)?.samples("application") ?? new Int16Array();
    const answers = new Set(Array.from(heard, answerAt).filter((answer) => answer >= 0));
    expect(answers).toContain(0);
    expect(answers).toContain(1);
  }
  await until("every socket is closed", () => service.open() + agent.open() === 0);
});

test("a media socket is nobody's without a signed URL, and only a socket", async () => {
  const media = `${worker.url}/media`;
  expect((await fetch(media)).status).toBe(426);
  const closed = new Promise((resolve) => {
    const socket = new WebSocket(media.replace("http", "ws"));
    socket.addEventListener("error", () => resolve("refused"));
    socket.addEventListener("open", () => resolve("open"));
  });
  expect(await closed).toBe("refused");
  expect(agent.open()).toBe(0);
});
