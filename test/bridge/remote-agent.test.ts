import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Line } from "../../examples/bridge/agent.ts";
import { remoteAgent } from "../../examples/bridge/remote-agent.ts";

/** The agent's socket, whose other end is the test. */
class AgentSocket extends EventTarget {
  static last: AgentSocket | undefined;
  readyState = 0;
  bufferedAmount = 0;
  binaryType = "";
  readonly sent: unknown[] = [];
  readonly close = vi.fn();

  constructor(url: string) {
    super();
    expect(url).toBe("wss://agent.test/");
    AgentSocket.last = this;
  }

  send(data: unknown): void {
    this.sent.push(data);
  }

  happen(type: string, data?: unknown): void {
    if (type === "open") this.readyState = 1;
    this.dispatchEvent(Object.assign(new Event(type), { data }));
  }
}

beforeEach(() => {
  vi.stubGlobal("WebSocket", AgentSocket);
  vi.spyOn(console, "error").mockImplementation(() => {});
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const connect = () => {
  const controller = new AbortController();
  const line = {
    call_id: "cs_1",
    sample_rate: 8000,
    context: {},
    signal: controller.signal,
    say: vi.fn(async () => true),
    interrupt: vi.fn(),
    clear: vi.fn(),
    hangUp: vi.fn(),
  } satisfies Line;
  const agent = Promise.resolve(remoteAgent("wss://agent.test/", undefined)(line));
  const socket = AgentSocket.last ?? expect.fail();
  return { line, agent, socket, controller };
};

const heard = { bytes: new Uint8Array(640), time: 0 };

test("the agent is told of the call first, then what the person says", async () => {
  const { agent, socket } = connect();
  socket.happen("open");
  (await agent).hear(heard);
  expect(socket.sent).toEqual([
    '{"type":"start","call_id":"cs_1","sample_rate":8000}',
    heard.bytes,
  ]);
});

test("what an agent is too slow for is left out, and what comes later isn't", async () => {
  const { agent, socket } = connect();
  socket.happen("open");
  const { hear } = await agent;
  socket.bufferedAmount = 2 ** 16 + 1;
  hear(heard);
  expect(socket.sent).toHaveLength(1);
  socket.bufferedAmount = 0;
  hear(heard);
  expect(socket.sent).toHaveLength(2);
});

test("audio is said, and commands are obeyed; what is neither changes nothing", async () => {
  const { line, agent, socket } = connect();
  socket.happen("open");
  await agent;
  const audio = new ArrayBuffer(640);
  socket.happen("message", audio);
  expect(line.say).toHaveBeenCalledExactlyOnceWith(audio);
  for (const text of ["{", "null", "[]", '{"type":"constructor"}']) socket.happen("message", text);
  expect(line.clear).not.toHaveBeenCalled();
  expect(line.hangUp).not.toHaveBeenCalled();
  socket.happen("message", '{"type":"clear"}');
  expect(line.clear).toHaveBeenCalledOnce();
  socket.happen("message", '{"type":"hangup"}');
  expect(line.hangUp).toHaveBeenCalledOnce();
});

test("an agent that closes hangs up", async () => {
  const { line, agent, socket } = connect();
  socket.happen("open");
  await agent;
  socket.happen("close");
  expect(line.hangUp).toHaveBeenCalledOnce();
});

test("an agent that can't be reached is none, and hangs nothing up itself", async () => {
  const { line, agent, socket } = connect();
  socket.happen("error");
  socket.happen("close");
  await expect(agent).rejects.toThrow("The agent can't be reached");
  expect(line.hangUp).not.toHaveBeenCalled();
});

test("a call that has gone closes the socket, also one that is still connecting", async () => {
  const { agent, socket, controller } = connect();
  controller.abort();
  expect(socket.close).toHaveBeenCalledWith(1000);
  await expect(agent).rejects.toThrow();
});
