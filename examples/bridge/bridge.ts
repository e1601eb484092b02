import { Client, isException } from "outdial";
import { type AgentSession, connectAgent, tones, type WarmAgent, warmAgent } from "outdial/agents";
import { callbackHandler, isFinal, RefusedException, signUrl, verifyUrl } from "outdial/callbacks";
import { flowHandler, hangup, type MediaSocket, stream } from "outdial/flows";
import { authenticate } from "./callers.ts";
import { Calls, MemoryStore, type Store, viewOf } from "./calls.ts";
import type { Caller, Config } from "./config.ts";

/** Accepts a WebSocket: each runtime has its own way. */
export type Upgrade = (request: Request) => {
  readonly socket: MediaSocket;
  readonly response: Response;
};

/** The whole bridge. It never rejects. */
export type Bridge = (request: Request, upgrade: Upgrade) => Promise<Response>;

/** Bytes of `{ "to_number": "+12025550100" }`, pretty-printed or not. */
const maxBody = 256;

/** Seconds for which the URLs of a call are valid: the service connects to the media URL at once. */
const validFor = { flow: 3600, status: 86_400, media: 60 };

/** Reasons that are not a problem. */
const goodEnds: readonly string[] = ["hung_up", "agent_hung_up", "agent_ended", "left"];

/** Nobody speaks: the callee is asked twice, and then the call ends. */
const onIdle = async ({ count }: { readonly count: number }, session: AgentSession) => {
  if (count <= 2) return session.reply("Ask in five words whether they are still there.");
  await session.reply("Say goodbye in five words.");
  return session.leave("gave_up");
};

const report = (error: unknown): void => console.error(String(error));

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  Response.json(body, {
    status,
    headers: { "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", ...headers },
  });

const refuse = (status: number, error: string, headers: Readonly<Record<string, string>> = {}) =>
  json(status, { error }, headers);

/** The only field that a caller may choose; undefined when the body is anything else. */
const parseNumber = (body: string): string | undefined => {
  try {
    const [[field, number] = [], ...others] = Object.entries(JSON.parse(body));
    const isNumber = typeof number === "string" && /^\+[1-9]\d{6,14}$/.test(number);
    return field === "to_number" && isNumber && others.length === 0 ? number : undefined;
  } catch {
    return undefined;
  }
};

export const createBridge = (config: Config, store: Store = new MemoryStore()): Bridge => {
  const { publicUrl, secret, webhookSecret, callers, agent } = config;
  const client = new Client(config.apiKey, { baseUrl: config.baseUrl });
  const calls = new Calls(store);
  /** Agents that are connected while the telephone rings, by the id of their call. */
  const connected = new Map<string, WarmAgent>();
  /** Ids of the calls whose audio goes through this process. */
  const live = new Set<string>();

  /** `POST /calls`: everything that stands between a token and a telephone that rings at your cost. */
  const place = async (request: Request, caller: Caller): Promise<Response> => {
    const length = Number(request.headers.get("content-length") ?? Number.NaN);
    if (Number.isNaN(length)) return refuse(411, "length_required");
    if (length > maxBody) return refuse(413, "too_large");
    const to_number = parseNumber(await request.text());
    if (to_number === undefined) return refuse(400, "not_a_number_in_E.164");
    if (!caller.prefixes.some((prefix) => to_number.startsWith(prefix))) {
      return refuse(403, "destination_not_allowed");
    }
    const wait = calls.spend(caller, Date.now());
    if (wait > 0) return refuse(429, "too_many_calls", { "Retry-After": String(wait) });

    // Created first: a notification may arrive before the service's response.
    const { id } = calls.create(caller.name, Date.now());
    const location = { Location: `/calls/${id}` };
    const sign = (path: "flow" | "status") =>
      signUrl(`${publicUrl}/${path}`, { secret, context: { id }, expiresIn: validFor[path] });
    try {
      const call = await client.calls.create({
        from_number: config.fromNumber,
        to_number,
        flow_url: await sign("flow"),
        status_callback_url: await sign("status"),
        record: config.record,
      });
      calls.update(id, { call_id: call.id });
      return json(201, { id, call_id: call.id }, location);
    } catch (error) {
      report(error);
      // 503 invites the caller to try again, which is safe only if no telephone has rung.
      if (isException(error) && error.placed === "no") return refuse(503, "not_placed");
      return json(202, { id, placed: "maybe" }, location);
    }
  };

  const flow = flowHandler({
    secret,
    onAnswer: async ({ context }) => {
      // After the stream: where the agent has transferred the call to, if it has.
      if (context.after) return config.transfers.get(String(context.id)) ?? hangup();
      const url = `${publicUrl.replace(/^http/, "ws")}/media`;
      const ws_url = await signUrl(url, { secret, context, expiresIn: validFor.media });
      const after = { secret, context: { ...context, after: true }, expiresIn: validFor.flow };
      const flow_url = await signUrl(`${publicUrl}/flow`, after);
      // Short messages: an interruption is noticed sooner.
      return stream(ws_url, { chunk_size: 80, sample_rate: "8k", flow_url });
    },
    onError: report,
  });

  const status = callbackHandler({
    secret,
    ...(webhookSecret && { webhookSecret }),
    onEvent: ({ event, context }) => {
      const id = String(context.id);
      const stage = calls.find(id)?.stage;
      calls.addEvent(id, event);
      if (event.type === "call.ringing" && stage === "placed") {
        calls.update(id, { stage: "ringing" });
        connected.set(id, warmAgent(agent, { sampleRate: 8000 }));
      }
      if (!isFinal(event)) return;
      // A restart cuts the sockets, and leaves nobody to record how the talk ended.
      const wasCut = stage === "connected" && !live.has(id);
      calls.update(id, { stage: "over", ...(wasCut && { problem: "restarted" }) });
      connected.get(id)?.close();
      connected.delete(id);
    },
    onError: report,
  });

  /** `GET /media`: everything is checked before the upgrade, so a stranger never gets a socket. */
  const media = async (request: Request, upgrade: Upgrade): Promise<Response> => {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refuse(426, "upgrade_required", { Upgrade: "websocket" });
    }
    const context = await verifyUrl(request.url, { secret });
    const id = String(context.id);
    const stage = calls.find(id)?.stage;
    if (stage !== "placed" && stage !== "ringing") return refuse(409, "connected_before");
    calls.update(id, { stage: "connected" });
    const { socket, response } = upgrade(request);
    live.add(id);
    connectAgent(socket, connected.get(id) ?? agent, {
      context,
      ...(config.pressKeys && { press: tones }),
      onIdle,
      idleTimeout: config.idleTimeout,
      agentTimeout: config.agentTimeout,
      maxDuration: config.maxDuration,
      onEnd: ({ reason, outcome }) => {
        live.delete(id);
        if (outcome) calls.update(id, { outcome });
        const isGood = goodEnds.includes(reason);
        calls.update(id, { stage: "over", ...(!isGood && { problem: reason }) });
      },
      onError: report,
    });
    connected.delete(id);
    return response;
  };

  const route = async (request: Request, upgrade: Upgrade): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/flow") return flow(request);
    if (pathname === "/status") return status(request);
    if (pathname === "/media") return media(request, upgrade);
    const [, id] = /^\/calls(?:\/([\w-]+))?$/.exec(pathname) ?? [];
    const caller = await authenticate(request, callers);
    if (!caller) return refuse(401, "unauthorized", { "WWW-Authenticate": "Bearer" });
    if (pathname === "/calls" && request.method === "POST") return place(request, caller);
    const call = id && request.method === "GET" ? calls.find(id) : undefined;
    return call?.caller === caller.name ? json(200, viewOf(call)) : refuse(404, "unknown_call");
  };

  return async (request, upgrade) => {
    try {
      return await route(request, upgrade);
    } catch (error) {
      report(error);
      return error instanceof RefusedException
        ? refuse(error.status, "refused")
        : refuse(500, "failed");
    }
  };
};
