import { signUrl } from "outdial/callbacks";
import type { EmulatorOptions } from "outdial/emulator";
import { afterEach, describe, expect, test } from "vitest";
import { agentSecret, startAgent, startSilence } from "./agent-server.ts";
import { inWorkerd, type RunningBridge, startBridge } from "./bridges.ts";
import { environment, freePort, number, stranger, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

const start = inWorkerd("test/bridge/counting-worker.ts");

interface Running {
  readonly service: Service;
  readonly bridge: RunningBridge;
}

const cleaning: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const clean of cleaning.splice(0).reverse()) await clean();
});

const kept = <T extends { readonly close: () => Promise<void> }>(thing: T): T => {
  cleaning.push(thing.close);
  return thing;
};

const run = async (
  env: Readonly<Record<string, string>> = {},
  options: EmulatorOptions = {},
): Promise<Running> => {
  const service = kept(await startService(options));
  return { service, bridge: kept(await startBridge(start, service, env)) };
};

const withAgent = (url: string) => ({ AGENT_URL: url, AGENT_SECRET: agentSecret });

const post = (
  { bridge }: Running,
  body: unknown = { to_number: number },
  authorization = `Bearer ${token}`,
): Promise<Response> =>
  fetch(`${bridge.url}/calls`, {
    method: "POST",
    headers: { authorization },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const show = async ({ bridge }: Running, id: string, whose = token): Promise<Response> =>
  fetch(`${bridge.url}/calls/${id}`, { headers: { authorization: `Bearer ${whose}` } });

/** Places a call, waits for its end, and gives it as the caller is shown it. */
const callThrough = async (
  running: Running,
  during: (call_id: string) => void | Promise<void> = () => {},
) => {
  const { id, call_id } = await (await post(running)).json();
  await during(call_id);
  const record = await running.service.emulator.ended(call_id);
  return { record, shown: await (await show(running, id)).json() };
};

/** Counted at the service, at the agent, and in the Worker. */
const noSocketIsOpen = async (
  { service, bridge }: Running,
  connections: () => Promise<number> = async () => 0,
): Promise<void> => {
  await until("the service's sockets are closed", () => service.open() === 0);
  await until("the agent's connections are closed", async () => (await connections()) === 0);
  await until("the Worker's sockets are closed", async () => {
    const response = await fetch(`${bridge.url}/open-sockets`);
    return (await response.json()) === 0;
  });
};

const codes = ({ service }: Running) => service.sockets.map(({ closed }) => closed?.code);

describe("who may call", () => {
  test("unauthorised: 401, and nobody is called", async () => {
    const running = await run();
    const body = { to_number: number };
    const { port } = new URL(running.bridge.url);
    const { OUTDIAL_API_KEY = "" } = environment(running.service, Number(port));
    for (const authorization of [
      "",
      "Bearer",
      "Bearer ",
      token,
      `Basic ${token}`,
      `Bearer ${token}0`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${OUTDIAL_API_KEY}`,
      "Bearer undefined",
    ]) {
      const response = await post(running, body, authorization);
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toEqual({ error: "unauthorized" });
    }
    expect((await show(running, "any", "")).status).toBe(401);
    expect(running.service.emulator.calls).toEqual([]);
    await noSocketIsOpen(running);
  });

  test("another caller's call is not shown", async () => {
    const running = await run();
    const { id } = await (await post(running)).json();
    expect((await show(running, id)).status).toBe(200);
    const response = await show(running, id, stranger);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ error: "unknown_call" });
  });

  test("a forbidden prefix: 403, and nobody is called", async () => {
    const running = await run();
    for (const to_number of ["+441632960000", "+12035550100", "+120255", "+1900555010012"]) {
      const response = await post(running, { to_number });
      expect([400, 403]).toContain(response.status);
    }
    const response = await post(running, { to_number: "+441632960000" });
    expect(response.status).toBe(403);
    expect(await response.json()).toEqual({ error: "destination_not_allowed" });
    expect(running.service.emulator.calls).toEqual([]);
    await noSocketIsOpen(running);
  });

  test("what isn't one number and nothing else is refused, and nobody is called", async () => {
    const running = await run();
    const refused = {
      '{"to_number":"12025550100"}': 400,
      '{"to_number":"+1202555 0100"}': 400,
      '{"to_number":["+12025550100"]}': 400,
      '{"to_number":"+12025550100","from_number":"+12025550198"}': 400,
      '{"to_number":"+12025550100","flow_url":"https://other.test"}': 400,
      null: 400,
      "{": 400,
      [`{"to_number":"+12025550100"${" ".repeat(256)}}`]: 413,
    };
    for (const [body, status] of Object.entries(refused)) {
      expect((await post(running, body)).status, body).toBe(status);
    }
    expect(running.service.emulator.calls).toEqual([]);
  });

  test("over the rate: 429 with the seconds to wait, for this caller only", async () => {
    const running = await run({}, { fetch: () => Response.json({ action: "hangup" }) });
    const statuses = [];
    for (let calls = 0; calls < 3; calls++) statuses.push((await post(running)).status);
    expect(statuses).toEqual([201, 201, 201]);
    const response = await post(running);
    expect(response.status).toBe(429);
    expect(await response.json()).toEqual({ error: "too_many_calls" });
    const wait = Number(response.headers.get("retry-after"));
    expect(wait).toBeGreaterThan(50);
    expect(wait).toBeLessThanOrEqual(60);
    expect(running.service.emulator.calls).toHaveLength(3);
    const other = await post(running, { to_number: number }, `Bearer ${stranger}`);
    expect(other.status).toBe(201);
    expect(running.service.emulator.calls).toHaveLength(4);
    await noSocketIsOpen(running);
  });
});

describe("what the caller learns", () => {
  test("503 when the service refuses the key, which is not in the answer", async () => {
    const key = "ak_MARKEDkey0123456789";
    const running = await run({ OUTDIAL_API_KEY: key });
    const response = await post(running);
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('{"error":"not_placed"}');
  });

  test("202 when a call may have been placed, and its outcome all the same", async () => {
    const running = await run({}, { onCall: () => ({ outcome: "busy" }) });
    const response = await post(running, { to_number: "+12025550115" });
    expect(response.status).toBe(202);
    const { id, placed } = await response.json();
    expect(placed).toBe("maybe");
    const [call] = running.service.emulator.calls;
    await running.service.emulator.ended(String(call?.id));
    expect(await (await show(running, id)).json()).toMatchObject({
      call_id: call?.id,
      state: "failed",
      reason: "busy",
      rang: false,
      ended: true,
    });
  });
});

describe("the voice agent", () => {
  test("hears the person and is heard, and its hanging up ends the call", async () => {
    const said = Int16Array.from({ length: 800 }, (_, at) => at * 7);
    const agent = kept(
      await startAgent(0, (socket) => {
        socket.send(said);
        let heard = 0;
        socket.on("message", (data: Buffer, isBinary) => {
          heard += isBinary ? data.length / 2 : 0;
          if (heard > 800) socket.send('{"type":"hangup"}');
        });
      }),
    );
    const running = await run(withAgent(agent.url));
    const { record, shown } = await callThrough(running);
    expect(record.reason).toBe("normal");
    expect(agent.started).toEqual([{ type: "start", call_id: record.id, sample_rate: 8000 }]);
    const [socket] = running.service.sockets;
    expect([...(socket?.answered ?? [])]).toEqual([...said]);
    const heard = agent.heard();
    expect(heard.length).toBeGreaterThan(800);
    expect([...heard]).toEqual([...(socket?.asked.subarray(0, heard.length) ?? [])]);
    expect(shown).toMatchObject({ state: "completed" });
    expect(shown).not.toHaveProperty("problem");
    await noSocketIsOpen(running, agent.connections);
  });

  test("down: the call ends at once, and the caller sees why", async () => {
    const url = `ws://127.0.0.1:${await freePort()}/agent`;
    const running = await run(withAgent(url));
    const { record, shown } = await callThrough(running);
    expect(record).toMatchObject({ state: "completed", reason: "normal" });
    expect(shown).toMatchObject({ state: "completed", problem: "agent_down" });
    expect(codes(running)).toEqual([1011]);
    await noSocketIsOpen(running);
  });

  test("slow: the call ends after the time that an agent has, and its connection is let go", async () => {
    const silence = kept(await startSilence());
    const running = await run({ ...withAgent(silence.url), AGENT_WITHIN_SECONDS: "0.3" });
    const { shown } = await callThrough(running);
    expect(silence.taken()).toBe(1);
    expect(shown).toMatchObject({ state: "completed", problem: "agent_slow" });
    expect(codes(running)).toEqual([1011]);
    await noSocketIsOpen(running, silence.connections);
  });

  test("late: it hears the person from the first sample all the same", async () => {
    const agent = kept(await startAgent(400));
    const running = await run(withAgent(agent.url));
    const { shown } = await callThrough(running, async (call_id) => {
      await until("it has heard two seconds", () => agent.heard().length > 16_000);
      running.service.emulator.hangup(call_id);
    });
    expect(shown).not.toHaveProperty("problem");
    await noSocketIsOpen(running, agent.connections);
    const heard = agent.heard();
    const [socket] = running.service.sockets;
    expect([...heard]).toEqual([...(socket?.asked ?? [])]);
  });

  test("lost in the middle of the call: the call ends", async () => {
    const agent = kept(await startAgent(0, (socket) => setTimeout(() => socket.terminate(), 200)));
    const running = await run(withAgent(agent.url));
    const { record } = await callThrough(running);
    expect(record.state).toBe("completed");
    await noSocketIsOpen(running, agent.connections);
  });

  test("the person hangs up first: the agent is let go", async () => {
    const agent = kept(await startAgent());
    const running = await run(withAgent(agent.url));
    const { record, shown } = await callThrough(running, async (call_id) => {
      await until("the agent is there", () => agent.started.length === 1);
      running.service.emulator.hangup(call_id);
    });
    expect(record).toMatchObject({ state: "completed", reason: "normal" });
    expect(shown).not.toHaveProperty("problem");
    await noSocketIsOpen(running, agent.connections);
    expect(agent.closed).toEqual([1000]);
    expect(agent.sockets.size).toBe(0);
  });

  test("the person hangs up before the agent is there: nobody is waited for", async () => {
    const silence = kept(await startSilence());
    const running = await run(withAgent(silence.url), {
      onCall: () => ({ outcome: "answer", hangUpAfter: 1_000 }),
    });
    const { shown } = await callThrough(running);
    expect(shown).not.toHaveProperty("problem");
    await noSocketIsOpen(running, silence.connections);
  });

  test("a call that nobody ends is ended", async () => {
    const agent = kept(await startAgent());
    const running = await run({ ...withAgent(agent.url), LONGEST_CALL_SECONDS: "0.5" });
    const { shown } = await callThrough(running);
    expect(shown).toMatchObject({ state: "completed", problem: "too_long" });
    await noSocketIsOpen(running, agent.connections);
  });
});

describe("forged and replayed requests", () => {
  const upgrade = async (url: string): Promise<"open" | "refused"> => {
    const socket = new WebSocket(url.replace(/^http/, "ws"));
    const outcome = await new Promise<"open" | "refused">((resolve) => {
      socket.addEventListener("open", () => resolve("open"));
      socket.addEventListener("error", () => resolve("refused"));
    });
    if (outcome === "open") {
      const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
      socket.close();
      await closed;
    }
    return outcome;
  };

  test("the media socket opens for its signed URL, once, and for no other", async () => {
    const running = await run();
    const { url } = running.bridge;
    const { BRIDGE_SECRET: secret = "" } = environment(running.service, Number(new URL(url).port));
    const context = { id: "cb_1", caller: "one" };
    const media = await signUrl(`${url}/media`, { secret, context });
    const flow = await signUrl(`${url}/flow`, { secret, context });
    const other = await signUrl(`${url}/media`, { secret: secret.toUpperCase(), context });
    const late = await signUrl(`${url}/media`, { secret, context, expiresIn: 1 });
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    expect(await upgrade(`${url}/media`)).toBe("refused");
    expect(await upgrade(`${media}x`)).toBe("refused");
    expect(await upgrade(flow.replace("/flow", "/media"))).toBe("refused");
    expect(await upgrade(other)).toBe("refused");
    expect(await upgrade(late)).toBe("refused");
    expect((await fetch(media)).status).toBe(426);
    expect(await upgrade(media)).toBe("open");
    expect(await upgrade(media)).toBe("refused");
    await noSocketIsOpen(running);
  });

  test("a forged notification or flow request is refused, and changes nothing", async () => {
    const running = await run({}, { onCall: () => ({ outcome: "no_answer" }) });
    const { url } = running.bridge;
    const { id, call_id } = await (await post(running)).json();
    const body = JSON.stringify({ type: "call.completed", call_id, data: {} });
    const [call] = running.service.emulator.calls;
    const signed = String(call?.status_callback_url);
    for (const address of [`${url}/status`, `${signed.slice(0, -1)}`, signed]) {
      // The last one is signed, but the body has no signature of the service.
      expect((await fetch(address, { method: "POST", body })).status).toBe(401);
    }
    expect((await fetch(`${url}/flow`, { method: "POST", body })).status).toBe(401);
    expect((await fetch(`${url}/flow`)).status).toBe(405);
    expect(await (await show(running, id)).json()).toMatchObject({ ended: false });
  });

  test("a notification that is delivered twice is shown once", async () => {
    const running = await run({}, { onCall: () => ({ outcome: "busy" }) });
    const { id, call_id } = await (await post(running)).json();
    const { history } = await running.service.emulator.ended(call_id);
    for (const entry of history) {
      if (entry.type !== "notification") continue;
      const { url, headers, body } = entry.request;
      const again = await fetch(url, { method: "POST", headers, body });
      expect(again.status).toBe(204);
    }
    const { events } = await (await show(running, id)).json();
    expect(events).toHaveLength(2);
  });
});
