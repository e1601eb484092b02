import { fail, isFunction } from "../lib/check.ts";
import type { MediaClock } from "../lib/clock.ts";
import type { AgentSession, Spoken } from "./agent-session.ts";
import type { Words } from "./inbound.ts";
import type { CallOpening } from "./options.ts";

/** Gets what the callee says, and whether somebody speaks in it, until it has resolved; first, their words before. */
export type Listener<T> = (
  resolve: (value: T) => void,
  sampleRate: number,
  words: Words,
) => (audio: Uint8Array<ArrayBuffer>, isSound: boolean) => void;

/** The names of what the functions that are imported by name have of a session, beside its methods. */
export const sessionParts: unique symbol = Symbol("parts");
export const listenTo: unique symbol = Symbol("listen");
export const playAtOnce: unique symbol = Symbol("play");

/** What a session has for them. */
export interface SessionInternals {
  readonly [sessionParts]: {
    readonly clock: MediaClock;
    readonly opening: CallOpening | undefined;
  };
  /**
   * Listens to the callee, while the agent gets silence and nothing that is to be said begins. Resolves with nothing if that is
   * interrupted, and at the end of the session.
   */
  readonly [listenTo]: <T>(listener: Listener<T>) => Promise<T | undefined>;
  /** Plays samples though the callee speaks, as a menu does; the agent gets their speech afterwards. */
  readonly [playAtOnce]: (audio: Int16Array, sampleRate: number) => Promise<Spoken>;
}

const hasInternals = (session: AgentSession): session is AgentSession & SessionInternals =>
  isFunction(Reflect.get(Object(session), listenTo));

/** @throws {BadParametersException} (`placed: "no"`) for what is no session of `connectAgent` */
export const internalsOf = (session: AgentSession): SessionInternals =>
  hasInternals(session) ? session : fail("session", "must be a session of connectAgent");
