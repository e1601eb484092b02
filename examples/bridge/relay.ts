import { type Context, type Heard, type MediaSocket, streamSession } from "outdial/flows";
import type { Agent, Connect } from "./agent.ts";

/** Milliseconds that the service may take for its first message. */
const startWithin = 10_000;

/** Bytes that are kept until the agent is there: more than any patience of a person. */
const mostEarly = 2 ** 19;

/** What ended a call at the bridge. */
export type Problem = "no_start" | "agent_down" | "agent_slow" | "too_long";

/** What a relay needs. */
export interface RelayOptions {
  readonly connect: Connect;
  readonly context: Context;
  readonly agentWithin: number;
  readonly longest: number;
  readonly onProblem: (problem: Problem) => unknown;
  readonly onError: (error: unknown) => unknown;
}

/**
 * Carries audio both ways between the service and an agent, until one of them goes; then the other is
 * let go too, and nothing stays: no timer, no socket.
 */
export const relay = (socket: MediaSocket, options: RelayOptions): void => {
  const { connect, context, agentWithin, longest, onProblem, onError } = options;
  const gone = new AbortController();
  const early: Heard[] = [];
  let kept = 0;
  let agent: Agent | undefined;
  let stopTimer = (): void => {};

  const end = (problem: Problem): void => {
    if (gone.signal.aborted) return;
    onProblem(problem);
    session.close(1011, problem);
  };
  const endAfter = (milliseconds: number, problem: Problem): void => {
    stopTimer();
    const timer = setTimeout(end, milliseconds, problem);
    stopTimer = () => clearTimeout(timer);
  };

  const session = streamSession(socket, {
    onStart: async ({ call_id, data: { sample_rate } }) => {
      endAfter(agentWithin, "agent_slow");
      const { audio: say, interrupt, clear } = session;
      const hangUp = () => session.close();
      const line = { call_id, sample_rate, context, signal: gone.signal, say, interrupt, clear };
      try {
        const connected = await connect({ ...line, hangUp });
        if (gone.signal.aborted) return;
        endAfter(longest, "too_long");
        for (const heard of early.splice(0)) connected.hear(heard);
        agent = connected;
      } catch (error) {
        if (gone.signal.aborted) return; // It was too slow, or the person has gone.
        onError(error);
        end("agent_down");
      }
    },
    onAudio: (heard) => {
      if (agent) return agent.hear(heard);
      kept += heard.bytes.length;
      if (kept <= mostEarly) early.push(heard);
    },
    onClose: () => {
      stopTimer();
      gone.abort();
    },
    onError,
  });
  endAfter(startWithin, "no_start");
};
