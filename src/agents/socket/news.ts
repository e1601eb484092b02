import type { AgentEvent } from "../agent.ts";
import { AgentException } from "../exception.ts";

/** What is told later to whoever comes to listen, in number and in bytes: until then there is little to say. */
const mostUntold = 1000;
const mostUntoldBytes = 2 ** 20;

/** Why an agent's socket is gone. */
export type Gone =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_lost"
  | "agent_ended"
  | "agent_stalled"
  | "agent_failed";

/** What a link tells. */
export interface LinkListener {
  /** What the agent's message means, and when it was read, by `performance.now()`. */
  readonly onEvent: (event: AgentEvent, at: number) => void;
  /** Something came, whatever it means. */
  readonly onSign: (at: number) => void;
  readonly onError: (error: unknown) => void;
  /** Once: the socket is gone, or never came. */
  readonly onGone: (reason: Gone) => void;
}

type Telling = (listener: LinkListener) => void;

/** What a link has to tell, kept for whoever comes to listen. */
export class News {
  #listener: LinkListener | undefined;
  readonly #untold: Telling[] = [];
  #bytes = 0;
  #gone: Gone | undefined;

  listen(listener: LinkListener): void {
    this.#listener = listener;
    for (const telling of this.#untold.splice(0)) this.tell(telling);
    if (this.#gone) listener.onGone(this.#gone);
  }

  /** There was a sign of life. */
  sign(at: number): void {
    this.#listener?.onSign(at);
  }

  /** Tells something, or keeps it, as far as there is room for so many bytes. */
  tell(telling: Telling, bytes = 0): void {
    const listener = this.#listener;
    if (listener) {
      try {
        telling(listener);
      } catch {
        listener.onError(new AgentException("agent_malformed"));
      }
    } else if (this.#untold.length < mostUntold && this.#bytes + bytes <= mostUntoldBytes) {
      this.#bytes += bytes;
      this.#untold.push(telling);
    }
  }

  /** The last thing that is told, and never forgotten. */
  gone(reason: Gone): void {
    this.#gone = reason;
    this.#listener?.onGone(reason);
  }
}
