import { connectAgent, elevenlabs, openaiRealtime } from "outdial/agents";
import type { MediaSocket } from "outdial/flows";

/** How a talk ended, as the test receives it. */
export interface Reported {
  readonly reason: string;
  readonly errors: readonly string[];
  /** Milliseconds of the agent's audio that weren't said. */
  readonly dropped: number;
  /** Milliseconds that the callee was heard to say. */
  readonly heard: number;
}

/** What the application knows. */
export interface State {
  readonly ends: Readonly<Record<string, Reported>>;
  /** Timers that wait: those of the talks, and those of the sockets if they are the application's. */
  readonly timers: number;
}

const ends: Record<string, Reported> = {};
const timers = new Set<unknown>();

/** The platform's timers, counted. */
const count = (): void => {
  const { setTimeout: set, clearTimeout: clear } = globalThis;
  Object.assign(globalThis, {
    setTimeout: (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
      const timer = set(() => {
        timers.delete(timer);
        work(...args);
      }, ms);
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer: ReturnType<typeof setTimeout>) => {
      timers.delete(timer);
      clear(timer);
    },
  });
};

count();

const apiKey = "sk-MARKED";

/**
 * Puts an agent on a call's media socket.
 *
 * @param url - says which call it is, where the agent is, and the limits of the talk
 */
export const talk = (socket: MediaSocket, url: string): void => {
  const {
    call = "",
    agent = "",
    ticket,
    ...limits
  } = Object.fromEntries(new URL(url).searchParams);
  const errors: string[] = [];
  const times = Object.entries(limits).map(([name, seconds]) => [name, Number(seconds)]);
  connectAgent(
    socket,
    ticket
      ? elevenlabs({ apiKey, agentId: "agent_1", url: ticket })
      : openaiRealtime({ apiKey, url: agent }),
    {
      ...Object.fromEntries(times),
      onError: (error) => errors.push(`${error} ${JSON.stringify(error)}`),
      onEnd: ({ reason, metrics: { audio } }) => {
        ends[call] = { reason, errors, dropped: audio.dropped, heard: audio.input };
      },
    },
  );
};

/** Answers every request that isn't for a socket, and keeps no connection. */
export const answer = (): Response => {
  const state = { ends, timers: timers.size } satisfies State;
  return Response.json(state, { headers: { connection: "close" } });
};
