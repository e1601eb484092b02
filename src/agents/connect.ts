import type { MediaSocket } from "../flows/media/socket.ts";
import { fail, isFunction } from "../lib/check.ts";
import type { Agent } from "./agent.ts";
import type { AgentSession } from "./agent-session.ts";
import type { SessionOptions } from "./options.ts";
import type { WarmAgent } from "./preconnect.ts";
import { createSession } from "./session.ts";

/**
 * Connects an agent to a call: sends the callee's audio to the agent and plays the agent's audio to the callee, paced
 * and silent at once when the callee interrupts. Call it before you yield to the event loop, as with `streamSession`.
 *
 * It always ends, for one of the reasons of `EndReason`, and releases both sockets. It throws and rejects nothing but
 * what is documented here: all other errors go to `onError`.
 *
 * @param socket - the call's media socket, already accepted
 * @param agent - the agent, or what `warmAgent` returned, which one call can take; of a list, the next one takes over
 * while the one before can't be reached, refuses, is lost or is slow to be ready, and none of its audio was heard
 * @param options - functions to call, and limits
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an argument, an option or a tool breaks
 * its rule; a warm agent stays connected then
 *
 * @example Connect an agent to a call
 * ```ts
 * import { connectAgent, openaiRealtime } from "outdial/agents";
 * import type { MediaSocket } from "outdial/flows";
 *
 * const agent = openaiRealtime({
 *   apiKey: "sk-key",
 *   instructions: "Say at once that you are a machine, and that the call isn't recorded.",
 * });
 * const serve = (socket: MediaSocket) =>
 *   connectAgent(socket, agent, {
 *     onTranscript: ({ who, text, final }) => final && console.log(who, text),
 *     onEnd: ({ reason }) => console.log(reason),
 *     onError: console.error,
 *     maxDuration: 300_000,
 *   });
 *
 * // In Deno: serve(Deno.upgradeWebSocket(request).socket). Here, a socket of nothing:
 * const socket = Object.assign(new EventTarget(), { readyState: 1, send: () => {}, close: () => {} });
 * const session = serve(socket);
 * session.close(); // closed
 * ```
 * @see docs/agents.md
 */
export const connectAgent = (
  socket: MediaSocket,
  agent: Agent | WarmAgent | readonly (Agent | WarmAgent)[],
  options: SessionOptions = {},
): AgentSession => {
  if (!socket || !isFunction(socket.addEventListener)) fail("socket", "must be a WebSocket");
  return createSession(socket, agent, options);
};
