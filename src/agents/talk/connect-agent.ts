import type { MediaSocket } from "../../flows/media/socket.ts";
import { refuse } from "../../rules/refuse.ts";
import type { Agent } from "../agent.ts";
import { Conversation } from "./conversation.ts";
import type { TalkMetrics } from "./metrics.ts";
import type { TalkEnd, TalkOptions } from "./options.ts";
import { calledBy, type WarmAgent } from "./warm.ts";

/** A callee and an agent who talk. */
export interface Talk {
  /** Settles once the talk has ended, with the reason; it never rejects. On Workers, `waitUntil` it. */
  readonly ended: Promise<TalkEnd>;
  /** What it has been like so far. */
  readonly metrics: TalkMetrics;
  /** Ends the call, whatever is being said. */
  readonly close: () => void;
}

/**
 * Puts an agent on the line: carries what the callee says to the agent, and what the agent says to the
 * callee, paced as it is heard, and silent at once when the callee interrupts. Make it before you yield to
 * the event loop, as with `streamSession`.
 *
 * It ends for sure, for one of the reasons of `EndReason`, and lets go of both sockets. It throws and rejects
 * nothing but what is said below: all else is told to `onError`.
 *
 * @param socket - the call's media socket, already accepted
 * @param agent - who, or what `warmAgent` gave, which one call can take
 * @param options - what to hear of it, and its limits
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an argument is
 * none, a limit is no time, or `chunk_size` breaks its rule; a warm agent is still warm then
 *
 * @example Put an agent on the line
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
 *     longest: 300,
 *   });
 *
 * // In Deno: serve(Deno.upgradeWebSocket(request).socket). Here, a socket of nothing:
 * const socket = Object.assign(new EventTarget(), { readyState: 1, send: () => {}, close: () => {} });
 * const talk = serve(socket);
 * talk.close(); // closed
 * ```
 * @see docs/agents.md
 */
export const connectAgent = (
  socket: MediaSocket,
  agent: Agent | WarmAgent,
  options: TalkOptions = {},
): Talk => {
  if (typeof Object(socket).addEventListener !== "function")
    refuse("socket", "must be a WebSocket");
  if (Object(options) !== options) refuse("options", "must be an object");
  const conversation = new Conversation(socket, calledBy(agent), options);
  return {
    ended: conversation.ended,
    get metrics() {
      return conversation.meter.metrics;
    },
    close: () => conversation.end("closed"),
  };
};
