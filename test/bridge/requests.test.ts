import { signUrl } from "outdial/callbacks";
import type { CallRecord, EmulatorOptions } from "outdial/emulator";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Bridge, createBridge, type Upgrade } from "../../examples/bridge/bridge.ts";
import { readConfig } from "../../examples/bridge/config.ts";
import { serveOpenai } from "../agents/protocols.ts";
import type { AgentServer } from "../agents/server.ts";
import { environment, number, secret, stranger, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

// The bridge in this process: its requests, and no real media socket.

const origin = "https://bridge.test";

const noUpgrade: Upgrade = () => expect.fail("nothing is upgraded here");

let agent: AgentServer;
let service: Service;
let bridge: Bridge;

const ask = (path: string, init: RequestInit = {}, upgrade = noUpgrade): Promise<Response> =>
  bridge(new Request(new URL(path, origin), init), upgrade);

/** The service's requests go straight to the bridge. */
const start = async (
  more: Readonly<Record<string, string>> = {},
  options: EmulatorOptions = {},
) => {
  service = await startService({ fetch: (request) => ask(request.url, request), ...options });
  const variables = environment(service, { PUBLIC_URL: origin, AGENT_URL: agent.url, ...more });
  bridge = createBridge(readConfig(variables));
};

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  agent = await serveOpenai({ answers: [] });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await service.close();
  await agent.close();
});

const post = (body: unknown = { to_number: number }, authorization = `Bearer ${token}`) => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const headers = { authorization, "content-length": String(text.length) };
  return ask("/calls", { method: "POST", headers, body: text });
};

const show = (id: string, whose = token): Promise<Response> =>
  ask(`/calls/${id}`, { headers: { authorization: `Bearer ${whose}` } });

const notificationsOf = ({ history }: CallRecord) =>
  history.filter((entry) => entry.type === "notification").map(({ request }) => request);

const posted = async (url: string, body = "{}") =>
  (await ask(url, { method: "POST", body })).status;

describe("who may call", () => {
  test("without the token of a caller: 401, and nobody is called", async () => {
    await start();
    for (const authorization of [
      "",
      "Bearer",
      "Bearer ",
      token,
      `Basic ${token}`,
      `Bearer ${token}0`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer ${service.emulator.apiKey}`,
      "Bearer undefined",
    ]) {
      const response = await post(undefined, authorization);
      expect(response.status, authorization).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
      expect(await response.json()).toEqual({ error: "unauthorized" });
    }
    expect((await show("any", "")).status).toBe(401);
    expect((await ask("/")).status).toBe(401);
    expect(service.emulator.posts.size).toBe(0);
  });

  test("a call is shown to the caller who placed it, and to nobody else", async () => {
    await start({}, { onCall: () => ({ outcome: "busy" }) });
    const { id } = await (await post()).json();
    expect((await show(id)).status).toBe(200);
    expect((await show(id, stranger)).status).toBe(404);
    expect((await show("unknown")).status).toBe(404);
  });

  test("a destination without an allowed prefix: 403, and nobody is called", async () => {
    await start();
    for (const to_number of ["+441632960000", "+12035550100"]) {
      const response = await post({ to_number });
      expect(response.status).toBe(403);
      expect(await response.json()).toEqual({ error: "destination_not_allowed" });
    }
    expect(service.emulator.posts.size).toBe(0);
  });

  test("a body that is not one number and nothing else is refused, and nobody is called", async () => {
    await start();
    const refused = {
      '{"to_number":"12025550100"}': 400,
      '{"to_number":"+120255"}': 400,
      '{"to_number":"+1900555010012345"}': 400,
      '{"to_number":"+1202555 0100"}': 400,
      '{"to_number":["+12025550100"]}': 400,
      '{"to_number":"+12025550100","from_number":"+12025550198"}': 400,
      '{"to_number":"+12025550100","flow_url":"https://other.test"}': 400,
      null: 400,
      "{": 400,
      [`{"to_number":"+12025550100"${" ".repeat(256)}}`]: 413,
    };
    for (const [body, status] of Object.entries(refused)) {
      expect((await post(body)).status, body).toBe(status);
    }
    const headers = { authorization: `Bearer ${token}` };
    const body = `{"to_number":"${number}"}`;
    expect((await ask("/calls", { method: "POST", headers, body })).status).toBe(411);
    expect(service.emulator.posts.size).toBe(0);
  });

  test("over the limit: 429 with the seconds to wait, for this caller only", async () => {
    await start({}, { onCall: () => ({ outcome: "busy" }) });
    const statuses = [];
    for (let calls = 0; calls < 3; calls++) statuses.push((await post()).status);
    expect(statuses).toEqual([201, 201, 201]);
    const response = await post();
    expect(response.status).toBe(429);
    expect(await response.json()).toEqual({ error: "too_many_calls" });
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(Number(response.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    expect(service.emulator.calls).toHaveLength(3);
    expect((await post(undefined, `Bearer ${stranger}`)).status).toBe(201);
    expect(service.emulator.calls).toHaveLength(4);
  });
});

describe("what the caller learns", () => {
  test("503 when the service refuses the key, and the key is not in the response", async () => {
    const key = "ak_MARKEDkey0123456789";
    await start({ OUTDIAL_API_KEY: key });
    const response = await post();
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('{"error":"not_placed"}');
    expect(JSON.stringify(vi.mocked(console.error).mock.calls)).not.toContain(key);
  });

  test("202 when a call may have been placed, after one POST, and its outcome later", async () => {
    await start({}, { onCall: () => ({ outcome: "busy" }) });
    const response = await post({ to_number: "+12025550115" });
    expect(response.status).toBe(202);
    const { id, placed } = await response.json();
    expect(placed).toBe("maybe");
    expect([...service.emulator.posts.values()]).toEqual([1]);
    const [call] = service.emulator.calls;
    await service.emulator.ended(String(call?.id));
    expect(await (await show(id)).json()).toMatchObject({
      call_id: call?.id,
      state: "failed",
      reason: "busy",
      rang: false,
      ended: true,
    });
  });
});

describe("forged and repeated requests", () => {
  const socket = Object.assign(new EventTarget(), {
    readyState: 1,
    send: () => {},
    close: () => {},
  });
  const accept: Upgrade = () => ({ socket, response: new Response() });
  const connect = async (url: string): Promise<number> => {
    const { status } = await ask(url, { headers: { upgrade: "websocket" } }, accept);
    return status;
  };
  const sign = (path: string, id: string, key = secret) =>
    signUrl(`${origin}${path}`, { secret: key, context: { id } });

  test("a media URL opens one socket, and no other URL opens any", async () => {
    await start({}, { onCall: () => ({ outcome: "no_answer", ringDuration: 600_000 }) });
    const { id } = await (await post()).json();
    const media = await sign("/media", id);
    expect(await connect("/media")).toBe(401);
    expect(await connect(`${media}x`)).toBe(401);
    expect(await connect((await sign("/flow", id)).replace("/flow", "/media"))).toBe(401);
    expect(await connect(await sign("/media", id, secret.toUpperCase()))).toBe(401);
    expect(await connect(await sign("/media", "unknown"))).toBe(409);
    expect((await ask(media)).status).toBe(426);
    expect(await connect(media)).toBe(200);
    expect(await connect(media)).toBe(409);
    socket.dispatchEvent(new Event("close"));
    expect(await connect(media)).toBe(409);
  });

  test("a forged notification or flow request is refused, and changes nothing", async () => {
    await start({}, { onCall: () => ({ outcome: "no_answer", ringDuration: 600_000 }) });
    const { id, call_id } = await (await post()).json();
    const body = JSON.stringify({ type: "call.completed", call_id, data: {} });
    const signed = String(service.emulator.call(call_id)?.status_callback_url);
    // The last URL is signed, but the body lacks the service's own signature.
    for (const url of ["/status", signed.slice(0, -1), signed]) {
      expect(await posted(url, body)).toBe(401);
    }
    expect(await posted("/flow", body)).toBe(401);
    expect((await ask("/flow")).status).toBe(405);
    expect(await (await show(id)).json()).toMatchObject({ ended: false });
  });

  test("a call gets one agent ready, however often and late its notifications come", async () => {
    await start({}, { onCall: () => ({ outcome: "no_answer", ringDuration: 600_000 }) });
    const first = await (await post()).json();
    await until("the agent is connected", () => agent.open() === 1);
    service.emulator.reject(first.call_id);
    const record = await service.emulator.ended(first.call_id);
    await until("the agent is closed", () => agent.open() === 0);

    const requests = notificationsOf(record);
    for (const { url, headers, body } of [...requests, ...requests, ...requests.toReversed()]) {
      expect((await ask(url, { method: "POST", headers, body })).status).toBe(204);
    }
    const { events } = await (await show(first.id)).json();
    expect(events).toHaveLength(requests.length);
    // The next agent that connects is the one of the next call.
    const second = await (await post()).json();
    await until("the next agent is connected", () => agent.open() === 1);
    service.emulator.reject(second.call_id);
    await until("it is closed", () => agent.open() === 0);
    expect(agent.peers).toHaveLength(2);
    expect(await connect(await sign("/media", first.id))).toBe(409);
  });

  test("a call that is answered or over gets no agent ready", async () => {
    // The service's own notifications do not arrive.
    const fetch = () => new Response(null, { status: 204 });
    await start({ WEBHOOK_SECRET: "" }, { fetch });
    const place = async () => (await (await post()).json()).id;
    const notify = async (id: string, type: string) => {
      const body = JSON.stringify({ type, call_id: "cs_1", data: { reason: "busy" } });
      expect(await posted(await sign("/status", id), body)).toBe(204);
    };

    const answered = await place();
    expect(await connect(await sign("/media", answered))).toBe(200);
    await notify(answered, "call.ringing");
    const over = await place();
    await notify(over, "call.failed");
    await notify(over, "call.ringing");
    expect(await connect(await sign("/media", over))).toBe(409);
    const ringing = await place();
    await notify(ringing, "call.ringing");
    await notify(ringing, "call.ringing"); // Without an id, as an older service sends it.
    await until("an agent is connected", () => agent.peers.length > 0);
    await notify(ringing, "call.failed");
    await until("the agent is closed", () => agent.open() === 0);
    expect(agent.peers).toHaveLength(1);
    socket.dispatchEvent(new Event("close"));
  });
});
