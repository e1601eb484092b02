import { refuse } from "../../rules/refuse.ts";
import type { Agent, Line } from "../agent.ts";
import { Link } from "../socket/link.ts";
import { openSocket } from "../socket/open.ts";
import type { OpenSocket } from "../socket/socket.ts";
import { millisecondsOf } from "./options.ts";

/** What `warmAgent` takes. */
export interface WarmOptions extends Line {
  /**
   * Seconds after which it is given up, if no call has taken it.
   *
   * @defaultValue 90
   */
  readonly within?: number | undefined;
  /** Opens the agent's socket, in the place of the runtime's own. */
  readonly open?: OpenSocket | undefined;
}

/** An agent that is connected while the telephone still rings. One call can take it. */
export interface WarmAgent {
  /** The agent that is connected. */
  readonly agent: Agent;
  /** Lets the agent go, if no call has taken it. */
  readonly close: () => void;
}

const isWarm = (agent: Agent | WarmAgent): agent is WarmAgent => "agent" in Object(agent);

const check = (agent: unknown): void => {
  const { address, codec } = Object(agent);
  if (typeof address !== "function" || typeof codec !== "function") {
    refuse("agent", "must be an agent, or what warmAgent gave");
  }
};

/** An agent, and whether it is warm. */
export interface Called {
  readonly who: Agent;
  readonly warm?: WarmAgent;
}

/**
 * Who is to be put on a line.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it is nobody
 */
export const calledBy = (agent: Agent | WarmAgent): Called => {
  const called = isWarm(agent) ? { who: agent.agent, warm: agent } : { who: agent };
  check(called.who);
  return called;
};

/** The links of those that nobody has taken yet. */
const links: WeakMap<WarmAgent, () => Link> = /* @__PURE__ */ new WeakMap();

/**
 * Connects to an agent while the telephone rings, so that its first word doesn't wait for a handshake. It
 * says nothing and hears nothing before `connectAgent` takes it.
 *
 * @param agent - who
 * @param options - the stream's `sample_rate`, and how long to wait
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when `agent` is none, or an option
 * breaks its rule
 *
 * @example Connect while it rings
 * ```ts
 * import { connectAgent, openaiRealtime, warmAgent } from "outdial/agents";
 * import type { MediaSocket } from "outdial/flows";
 *
 * const agent = openaiRealtime({ apiKey: "sk-key", url: "ws://127.0.0.1:9/" });
 * const warm = warmAgent(agent, { sample_rate: 8000 }); // as soon as the call is placed
 * const answered = (socket: MediaSocket) => connectAgent(socket, warm);
 * warm.close(); // nobody answered
 * ```
 */
export const warmAgent = (agent: Agent, options: WarmOptions): WarmAgent => {
  check(agent);
  if (Object(options) !== options) refuse("options", "must be an object");
  const { sample_rate, within = 90, open = openSocket } = options;
  if (sample_rate !== 8000 && sample_rate !== 16_000)
    refuse("sample_rate", "must be 8000 or 16000");
  const milliseconds = millisecondsOf("within", within);
  const link = new Link(agent, { sample_rate }, open);
  const close = () => {
    clearTimeout(timer);
    if (links.delete(warm)) link.close();
  };
  const timer = setTimeout(close, milliseconds);
  link.over.addEventListener("abort", () => clearTimeout(timer));
  if (link.isGone) clearTimeout(timer);
  const warm: WarmAgent = { agent, close };
  links.set(warm, () => {
    clearTimeout(timer);
    links.delete(warm);
    return link;
  });
  return warm;
};

/** The link of a warm agent, for the first who asks; undefined when it is gone. */
export const taken = (warm: WarmAgent): Link | undefined => {
  const link = links.get(warm)?.();
  return link?.isGone ? undefined : link;
};
