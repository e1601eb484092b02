import type { Agent, Line } from "../agent.ts";
import { Link } from "../socket/link.ts";
import { openSocket } from "../socket/open.ts";
import type { OpenSocket } from "../socket/socket.ts";

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

/** The links of those that nobody has taken yet. */
const links: WeakMap<WarmAgent, () => Link> = /* @__PURE__ */ new WeakMap();

/**
 * Connects to an agent while the telephone rings, so that its first word doesn't wait for a handshake. It
 * says nothing and hears nothing before `connectAgent` takes it.
 *
 * @param agent - who
 * @param options - the stream's `sample_rate`, and how long to wait
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
  const { sample_rate, within = 90, open = openSocket } = options;
  const link = new Link(agent, { sample_rate }, open);
  const close = () => {
    clearTimeout(timer);
    if (links.delete(warm)) link.close();
  };
  const timer = setTimeout(close, within * 1000);
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
