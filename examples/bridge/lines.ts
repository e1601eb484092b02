import { connectAgent, type WarmAgent, warmAgent } from "outdial/agents";
import type { Context, MediaSocket } from "outdial/flows";
import type { Connect } from "./agent.ts";
import type { Config } from "./config.ts";
import { relay } from "./relay.ts";
import { speechAgent } from "./speech.ts";

/** What each platform does in its own way: makes a WebSocket out of a request. */
export type Upgrade = (request: Request) => {
  readonly socket: MediaSocket;
  readonly response: Response;
};

/** Where the talks live: in this process, or, on Workers, each in an object of its own. */
export interface Lines {
  /** A telephone rings: an agent may get ready. */
  readonly ringing: (id: string) => unknown;
  /** The call has ended, answered or not. */
  readonly over: (id: string) => unknown;
  /** The service connects the call's audio. All has been checked. */
  readonly connect: (
    request: Request,
    upgrade: Upgrade,
    id: string,
    context: Context,
  ) => Response | Promise<Response>;
}

/** Reasons for which nobody is to blame. */
const fine: ReadonlySet<string> = new Set(["hung_up", "agent_hung_up", "agent_ended"]);

/** The stream's, as the flow asks for it. */
const sample_rate = 8000;

/** Whom to tell. */
interface Listeners {
  readonly onProblem: (id: string, problem: string) => unknown;
  readonly onError: (error: unknown) => unknown;
}

/** Talks in this process, with a speech agent or with what `connect` gives. */
export const linesHere = (
  { speech, agentWithin, longest }: Config,
  connect: Connect,
  { onProblem, onError }: Listeners,
): Lines => {
  const agent = speech && speechAgent(speech);
  const warm = new Map<string, WarmAgent>();
  const over = (id: string) => {
    warm.get(id)?.close();
    warm.delete(id);
  };
  const talk = (socket: MediaSocket, id: string, context: Context): void => {
    if (!agent) {
      const told = (problem: string) => onProblem(id, problem);
      relay(socket, { connect, context, agentWithin, longest, onProblem: told, onError });
      return;
    }
    const ready = warm.get(id) ?? agent;
    warm.delete(id);
    connectAgent(socket, ready, {
      agentWithin: agentWithin / 1000,
      longest: longest / 1000,
      onEnd: ({ reason }) => fine.has(reason) || onProblem(id, reason),
      onError,
    });
  };
  return {
    ringing: (id) => {
      if (agent && !warm.has(id)) warm.set(id, warmAgent(agent, { sample_rate }));
    },
    over,
    connect: (request, upgrade, id, context) => {
      const { socket, response } = upgrade(request);
      talk(socket, id, context);
      return response;
    },
  };
};
