import { fail, isFunction, isRecord } from "../lib/check.ts";
import { type MediaClock, processClock } from "../lib/clock.ts";
import {
  checkOptions,
  durationRule,
  functionRule,
  type OptionRules,
  objectRule,
} from "../lib/rules.ts";
import type { Agent, AgentEvent, LineFormat } from "./agent.ts";
import { Connection, type ConnectionListener } from "./connection.ts";
import type { OpenSocket } from "./open-socket.ts";
import { AgentException } from "./problems.ts";
import { checkTools } from "./tools.ts";

/** The options of `warmAgent`. */
export interface WarmOptions extends LineFormat {
  /**
   * Milliseconds after which the connection is closed, if no call has taken it.
   *
   * @defaultValue 90 000
   */
  readonly timeout?: number | undefined;
  /** Opens the agent's socket, instead of the runtime's own WebSocket. */
  readonly open?: OpenSocket | undefined;
  /** The time of a simulated call: `simulateCall` passes it to the application. */
  readonly simulation?: MediaClock | undefined;
}

/** An agent that is connected while the telephone still rings. One call can take it. */
export interface WarmAgent {
  /** The agent that is connected. */
  readonly agent: Agent;
  /** Closes the connection, if no call has taken it. */
  readonly close: () => void;
}

/** What is kept until a call takes the connection, in number and in bytes or characters. */
const maxKept = 1000;
const maxKeptBytes = 2 ** 20;

const sizeOf = (event: AgentEvent): number => {
  if (event.type === "audio") return event.audio.length;
  return event.type === "transcript" ? event.text.length : 0;
};

/** A connection that keeps what happens until a call listens. */
class WarmConnection extends Connection {
  readonly #kept: ((listener: ConnectionListener) => void)[] = [];
  #bytes = 0;

  constructor(...given: ConstructorParameters<typeof Connection>) {
    super(...given);
    super.listen({
      onEvent: (event, at) => this.#keep(({ onEvent }) => onEvent(event, at), sizeOf(event)),
      onMessage: () => {},
      onError: (error) => this.#keep(({ onError }) => onError(error), 0),
      onEnd: () => {}, // The next listener gets it.
    });
  }

  #keep(call: (listener: ConnectionListener) => void, bytes: number): void {
    if (this.#kept.length >= maxKept || this.#bytes + bytes > maxKeptBytes) return;
    this.#bytes += bytes;
    this.#kept.push(call);
  }

  override listen(listener: ConnectionListener): void {
    for (let call = this.#kept.shift(); call; call = this.#kept.shift()) {
      try {
        call(listener);
      } catch {
        listener.onError(new AgentException("agent_malformed"));
      }
    }
    super.listen(listener);
  }
}

/** Takes the connections that no call has taken yet. */
const connections: WeakMap<WarmAgent, () => Connection> = new WeakMap();

const isAgent = (value: unknown): value is Agent =>
  isRecord(value) && isFunction(value.address) && isFunction(value.codec);

/**
 * The agent to connect: itself, or the one that is connected already.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it is neither, or its tools break a rule
 */
export const agentOf = (given: unknown): Agent => {
  const agent = isRecord(given) && "agent" in given ? given.agent : given;
  if (!isAgent(agent)) return fail("agent", "must be an agent, or what warmAgent returns");
  checkTools(agent.tools);
  return agent;
};

const rules: OptionRules<WarmOptions> = {
  sampleRate: [(value) => value === 8000 || value === 16_000, "must be 8000 or 16000"],
  timeout: durationRule,
  open: functionRule,
  simulation: objectRule,
};

/**
 * Connects to an agent while the telephone rings, so that its first audio doesn't wait for a handshake. It sends no
 * audio and gets none before `connectAgent` takes it.
 *
 * @param agent - the agent
 * @param options - the stream's `sampleRate`, and how long to wait
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when `agent` is none, or an option breaks
 * its rule
 *
 * @example Connect while the telephone rings
 * ```ts
 * import { connectAgent, openaiRealtime, warmAgent } from "outdial/agents";
 * import type { MediaSocket } from "outdial/flows";
 *
 * const agent = openaiRealtime({ apiKey: "sk-key", url: "ws://127.0.0.1:9/" });
 * const warm = warmAgent(agent, { sampleRate: 8000 }); // as soon as the call is placed
 * const answered = (socket: MediaSocket) => connectAgent(socket, warm);
 * warm.close(); // nobody answered
 * ```
 * @see docs/agents.md
 */
export const warmAgent = (agent: Agent, options: WarmOptions): WarmAgent => {
  agentOf(agent);
  checkOptions(options, rules);
  const { sampleRate, timeout = 90_000, open, simulation = processClock } = options;
  if (sampleRate === undefined) fail("sampleRate", "is missing");
  const connection = new WarmConnection(agent, { sampleRate }, open, simulation);
  const take = () => {
    cancel();
    connections.delete(warm);
    return connection;
  };
  const close = () => {
    if (connections.has(warm)) take().close();
  };
  const cancel = simulation.after(timeout, close);
  connection.over.addEventListener("abort", cancel);
  if (connection.isOver) cancel();
  const warm: WarmAgent = { agent, close };
  connections.set(warm, take);
  return warm;
};

/** The connection of a warm agent, for the first call that takes it; nothing once it has ended. */
export const takeConnection = (given: Agent | WarmAgent): Connection | undefined => {
  const connection = "agent" in given ? connections.get(given)?.() : undefined;
  return connection?.isOver ? undefined : connection;
};
