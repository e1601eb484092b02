import { byOccurrence, didRing, type Event, isFinal, type UnknownEvent } from "outdial/callbacks";

/** One call, as the bridge knows it. */
export interface KnownCall {
  /** The bridge's own: known before the service has answered, and signed into every URL. */
  readonly id: string;
  /** The caller's name: nobody else may see the call. */
  readonly caller: string;
  /** The service's id, once it is known. */
  readonly call_id?: string | undefined;
  /** What went wrong at the bridge, such as `agent_down`. */
  readonly problem?: string | undefined;
  readonly events: readonly (Event | UnknownEvent)[];
}

/** So many calls in so many seconds. */
export interface Limit {
  readonly calls: number;
  readonly seconds: number;
}

/** What is done once for a call, however often it is asked for: a socket for its audio, an agent. */
export type Once = "media" | "agent";

/** What the bridge remembers. In memory here; what takes its place in production says the README. */
export interface State {
  /** Counts one more call of a caller, if every limit allows it; else gives the seconds to wait. */
  readonly spend: (caller: string, limits: readonly Limit[]) => Promise<number>;
  /**
   * Adds what is known of a call. An event that is known already, by its `id`, is left out, and one
   * that is longer, or one more, than any call has.
   */
  readonly note: (id: string, news: Partial<Omit<KnownCall, "id">>) => Promise<void>;
  /** Gives `true` to the first who asks for this of a call, and `false` to everyone after. */
  readonly claim: (id: string, what: Once) => Promise<boolean>;
  readonly find: (id: string) => Promise<KnownCall | undefined>;
}

/** What a caller is shown of a call. The recording is not: fetch it where the key is. */
export interface CallView {
  readonly id: string;
  readonly call_id: string | undefined;
  /** `requested` until the service says more, then the end of its latest event's type. */
  readonly state: string;
  readonly rang: boolean;
  readonly ended: boolean;
  readonly reason: unknown;
  /** Whole seconds since the answer. */
  readonly duration: unknown;
  readonly problem: string | undefined;
  readonly events: readonly { readonly type: string; readonly at: string | undefined }[];
}

export const viewOf = ({ id, call_id, problem, events }: KnownCall): CallView => {
  const inOrder = [...events].sort(byOccurrence);
  const last = inOrder.at(-1);
  const end = inOrder.findLast(isFinal);
  return {
    id,
    call_id,
    state: last?.type.replace(/^call\./, "") ?? "requested",
    rang: didRing(events),
    ended: end !== undefined,
    reason: end?.data.reason,
    duration: end?.type === "call.completed" ? end.data.duration : undefined,
    problem,
    events: inOrder.map(({ type, occurred_at }) => ({ type, at: occurred_at })),
  };
};
