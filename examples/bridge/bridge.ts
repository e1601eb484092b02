import { callbackHandler, isFinal, RefusedException, signUrl, verifyUrl } from "outdial/callbacks";
import { type Context, flowHandler, stream } from "outdial/flows";
import type { Connect } from "./agent.ts";
import { json, refuse } from "./answer.ts";
import { callerOf } from "./callers.ts";
import type { Config } from "./config.ts";
import { echoAgent } from "./echo-agent.ts";
import { type Lines, linesHere, type Upgrade } from "./lines.ts";
import { memory } from "./memory.ts";
import { page } from "./page.ts";
import { place } from "./place.ts";
import { remoteAgent } from "./remote-agent.ts";
import { type State, viewOf } from "./state.ts";

/** The whole bridge: a request and the platform's upgrade in, an answer out. */
export type Bridge = (request: Request, upgrade: Upgrade) => Promise<Response>;

/** What may be put in the place of the recipe's own. */
export interface Parts {
  readonly state?: State;
  readonly connect?: Connect;
  readonly lines?: Lines;
}

/** Seconds: the service connects as soon as the flow has answered. */
const mediaFor = 60;

/** Milliseconds of audio in one message: the shorter, the sooner a barge-in is noticed. */
const chunk_size = 80;

const report = (error: unknown): void => {
  const { name, message = error } = Object(error);
  console.error(name, message);
};

const idIn = ({ id }: Context): string => String(id);

export const createBridge = (config: Config, parts: Parts = {}): Bridge => {
  const { publicUrl, secret, webhookSecret, agentUrl, agentSecret, callers } = config;
  const { state = memory() } = parts;
  const { connect = agentUrl ? remoteAgent(agentUrl, agentSecret) : echoAgent } = parts;
  const onProblem = (id: string, problem: string) => state.note(id, { problem }).catch(report);
  const { lines = linesHere(config, connect, { onProblem, onError: report }) } = parts;
  const unauthorized = () => refuse(401, "unauthorized", { "WWW-Authenticate": "Bearer" });

  /**
   * Takes all that a call has once, so that what is repeated or replayed later gets nothing of it; and
   * says whether its audio was still to be had.
   */
  const takeAll = async (id: string): Promise<boolean> => {
    const [isFirst] = await Promise.all([state.claim(id, "media"), state.claim(id, "agent")]);
    return isFirst;
  };

  const flow = flowHandler({
    secret,
    onAnswer: async ({ context }) => {
      const media = `${publicUrl.replace(/^http/, "ws")}/media`;
      const ws_url = await signUrl(media, { secret, context, expiresIn: mediaFor });
      return stream(ws_url, { chunk_size, sample_rate: "8k" });
    },
    onError: report,
  });

  const status = callbackHandler({
    secret,
    ...(webhookSecret && { webhookSecret }),
    onEvent: async ({ event, context }) => {
      const id = idIn(context);
      await state.note(id, { caller: String(context.caller), events: [event] });
      const isRinging = event.type === "call.ringing";
      if (isRinging && (await state.claim(id, "agent"))) await lines.ringing(id);
      if (isFinal(event)) {
        await takeAll(id);
        await lines.over(id);
      }
    },
    onError: report,
  });

  /** Everything is checked before the upgrade: a stranger gets an answer, never a socket. */
  const media = async (request: Request, upgrade: Upgrade): Promise<Response> => {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refuse(426, "upgrade_required", { Upgrade: "websocket" });
    }
    let context: Context;
    try {
      context = await verifyUrl(request.url, { secret });
    } catch (error) {
      report(error);
      return refuse(error instanceof RefusedException ? error.status : 500, "refused");
    }
    const id = idIn(context);
    if (!(await takeAll(id))) return refuse(409, "connected_before");
    return lines.connect(request, upgrade, id, context);
  };

  const post = async (request: Request): Promise<Response> => {
    const caller = await callerOf(request, callers);
    return caller ? place(request, caller, config, state) : unauthorized();
  };

  const show = async (request: Request, id: string): Promise<Response> => {
    const caller = await callerOf(request, callers);
    if (!caller) return unauthorized();
    const call = await state.find(id);
    return call?.caller === caller.name ? json(200, viewOf(call)) : refuse(404, "unknown_call");
  };

  /** By method and path; `/flow` and `/status` answer to other methods themselves. */
  const route = async (request: Request, upgrade: Upgrade): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/flow") return flow(request);
    if (pathname === "/status") return status(request);
    const [, id] = /^\/calls\/([\w-]+)$/.exec(pathname) ?? [];
    const routes: Readonly<Record<string, () => Response | Promise<Response>>> = {
      "POST /calls": () => post(request),
      "GET /media": () => media(request, upgrade),
      ...(id && { [`GET ${pathname}`]: () => show(request, id) }),
    };
    return (
      routes[`${request.method} ${pathname}`]?.() ?? page(request) ?? refuse(404, "no_such_page")
    );
  };

  return async (request, upgrade) => {
    try {
      return await route(request, upgrade);
    } catch (error) {
      report(error);
      return refuse(500, "failed");
    }
  };
};
