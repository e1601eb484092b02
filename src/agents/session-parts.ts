import type { MediaClock } from "../lib/clock.ts";
import { fail } from "../lib/check.ts";
import type { AgentAbilities } from "./agent.ts";
import type { AgentSession } from "./agent-session.ts";
import type { CallOpening } from "./options.ts";

/** Gets what the callee says, until it has resolved. */
export type BeginListening<T> = (
  resolve: (value: T) => void,
  sampleRate: number,
) => (audio: Uint8Array<ArrayBuffer>) => void;

/** What the functions that are imported by name have of a session, beside its methods. */
export interface SessionParts {
  readonly clock: Pick<MediaClock, "now" | "after">;
  readonly opening: CallOpening | undefined;
  readonly can: () => AgentAbilities;
  /**
   * Listens to the callee, while the agent gets silence. Nothing that is to be said begins meanwhile. Resolves with nothing
   * at the end of the session.
   */
  readonly listen: <T>(begin: BeginListening<T>) => Promise<T | undefined>;
}

const parts = new WeakMap<AgentSession, SessionParts>();

export const setParts = (session: AgentSession, its: SessionParts): void => {
  parts.set(session, its);
};

/** @throws {BadParametersException} (`placed: "no"`) for what is no session of `connectAgent` */
export const partsOf = (session: AgentSession): SessionParts =>
  parts.get(session) ?? fail("session", "must be a session of connectAgent");
