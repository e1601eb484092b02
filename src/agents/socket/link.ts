import type { MediaEvent } from "../../flows/media/socket.ts";
import type { Agent, AgentEvent, Codec, Frame, Line } from "../agent.ts";
import { AgentException } from "../exception.ts";
import { connect, release } from "./connect.ts";
import type { AgentSocket, OpenSocket } from "./socket.ts";

/** What may wait for the network before the agent counts as stalled, in bytes: half a minute of speech. */
const mostWaiting = 2 ** 21;

/** The longest message that is looked at: more than a minute of audio. */
const longest = 2 ** 23;

/** What is told later to whoever comes to listen: an agent that isn't on a line has little to say. */
const mostUntold = 1000;

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

/** Why an agent's socket is gone. */
export type Gone =
  | "agent_unreachable"
  | "agent_refused"
  | "agent_lost"
  | "agent_ended"
  | "agent_stalled";

const frameIn = (data: unknown): Frame => {
  if (typeof data === "string" && data.length <= longest) return data;
  if (data instanceof ArrayBuffer && data.byteLength <= longest) return new Uint8Array(data);
  throw new AgentException("agent_malformed");
};

/** The connection to an agent: its socket and its codec. Whoever listens may come later. */
export class Link {
  readonly codec: Codec;
  readonly line: Line;
  #socket: AgentSocket | undefined;
  #listener: LinkListener | undefined;
  /** What was told before anybody listened. */
  readonly #untold: ((listener: LinkListener) => void)[] = [];
  readonly #over = new AbortController();
  #isOpen = false;
  #isAnswered = false;
  #isEnded = false;
  #sentAt = 0;
  #alive: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: Agent, line: Line, open: OpenSocket) {
    this.line = line;
    this.codec = agent.codec(line);
    const attach = (socket: AgentSocket) => {
      this.#socket = socket;
      socket.addEventListener("message", this.#onMessage);
      socket.addEventListener("close", this.#onClose);
      socket.addEventListener("error", this.#onClose);
    };
    connect(agent.address, open, this.#over.signal, attach).then(
      (socket) => this.#onOpen(socket),
      (error) => this.#onFailed(error),
    );
  }

  get isGone(): boolean {
    return this.#isEnded;
  }

  /** From now on somebody listens; what has happened so far is told first. */
  listen(listener: LinkListener): void {
    this.#listener = listener;
    for (const tell of this.#untold.splice(0)) tell(listener);
  }

  /** The callee is on the line. */
  answered(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.#isOpen) this.send(this.codec.answered());
  }

  send(frames: readonly Frame[]): void {
    const socket = this.#socket;
    if (!socket || this.#isEnded) return;
    try {
      for (const frame of frames) socket.send(frame);
    } catch {
      this.#gone("agent_lost");
      return;
    }
    if (frames.length > 0) this.#sentAt = performance.now();
    if ((socket.bufferedAmount ?? 0) > mostWaiting) this.#gone("agent_stalled");
  }

  /** Lets the agent go; nothing is told any more. */
  close(): void {
    if (!this.#isEnded && this.#isOpen) this.send(this.codec.close?.() ?? []);
    this.#end();
  }

  #tell(tell: (listener: LinkListener) => void): void {
    if (this.#listener) tell(this.#listener);
    else if (this.#untold.length < mostUntold) this.#untold.push(tell);
  }

  #onOpen(socket: AgentSocket): void {
    if (this.#isEnded) {
      release(socket);
      return;
    }
    this.#isOpen = true;
    this.send(this.codec.open());
    if (this.#isAnswered) this.send(this.codec.answered());
    this.#keepAlive();
  }

  #onFailed(error: unknown): void {
    if (this.#isEnded) return;
    this.#tell(({ onError }) => onError(error));
    const isRefused = error instanceof AgentException && error.problem === "agent_refused";
    this.#gone(isRefused ? "agent_refused" : "agent_unreachable");
  }

  readonly #onMessage = ({ data }: MediaEvent): void => {
    const at = performance.now();
    this.#listener?.onSign(at);
    try {
      for (const event of this.codec.read(frameIn(data))) {
        if (event.type === "send") this.send(event.frames);
        else this.#tell(({ onEvent }) => onEvent(event, at));
      }
    } catch (error) {
      const told = error instanceof AgentException ? error : new AgentException("agent_malformed");
      this.#tell(({ onError }) => onError(told));
    }
  };

  readonly #onClose = ({ code }: MediaEvent): void => {
    if (!this.#isOpen) return; // `connect` tells of it.
    this.#gone(code === 1000 || code === 1005 ? "agent_ended" : "agent_lost");
  };

  #gone(reason: Gone): void {
    if (this.#isEnded) return;
    this.#end();
    this.#tell(({ onGone }) => onGone(reason));
  }

  #end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    clearTimeout(this.#alive);
    this.#over.abort();
    const socket = this.#socket;
    if (!socket) return;
    socket.removeEventListener("message", this.#onMessage);
    socket.removeEventListener("close", this.#onClose);
    socket.removeEventListener("error", this.#onClose);
    release(socket);
  }

  /** Services let go of who says nothing for a while. */
  #keepAlive(): void {
    const { keepAlive } = this.codec;
    if (!keepAlive || this.#isEnded) return;
    const rest = this.#sentAt + keepAlive.after - performance.now();
    if (rest <= 0) this.send([keepAlive.frame]);
    const wait = rest > 0 ? rest : keepAlive.after;
    if (!this.#isEnded) this.#alive = setTimeout(() => this.#keepAlive(), wait);
  }
}
