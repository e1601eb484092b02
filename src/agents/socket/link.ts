import type { MediaEvent } from "../../flows/media/socket.ts";
import { quietly } from "../../rules/quietly.ts";
import type { Agent, Codec, Frame, Line } from "../agent.ts";
import { AgentException, type AgentProblem } from "../exception.ts";
import { connect, release } from "./connect.ts";
import { checked, frameIn } from "./frame.ts";
import { type Gone, type LinkListener, News } from "./news.ts";
import { isTelling, secretsOf } from "./secrets.ts";
import type { AgentSocket, OpenSocket } from "./socket.ts";

/** What may wait for the network before the agent counts as stalled, in bytes: half a minute of speech. */
const mostWaiting = 2 ** 21;

/** How often an agent may be told that somebody is there, in ms. */
const often = 100;
const latest = 2 ** 31 - 1;

/**
 * The connection to an agent: its socket and its codec. Whoever listens may come later. All that isn't ours is
 * called here, and whatever throws is told, or ends the connection: nothing gets past it.
 */
export class Link {
  #codec: Codec | undefined;
  #socket: AgentSocket | undefined;
  readonly #news = new News();
  readonly #over = new AbortController();
  /** What must be in no error. */
  #secrets: readonly string[] = [];
  #isOpen = false;
  #isAnswered = false;
  #sentAt = 0;
  #alive: ReturnType<typeof setTimeout> | undefined;

  constructor(agent: Agent, line: Line, open: OpenSocket) {
    this.#codec = quietly(() => agent.codec(line));
    if (!this.#codec) {
      this.#fail("codec");
      return;
    }
    const address = async () => {
      const found = await agent.address();
      this.#secrets = secretsOf(found);
      return found;
    };
    const attach = (socket: AgentSocket) => {
      this.#socket = socket;
      socket.addEventListener("message", this.#onMessage);
      socket.addEventListener("close", this.#onClose);
      socket.addEventListener("error", this.#onClose);
    };
    connect(address, open, this.#over.signal, attach).then(
      (socket) => this.#onOpen(socket),
      (error) => this.#onFailed(error),
    );
  }

  get isGone(): boolean {
    return this.over.aborted;
  }

  /** Aborts once the connection is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** From now on somebody listens; what has happened so far is told first. */
  listen(listener: LinkListener): void {
    this.#news.listen(listener);
  }

  /** The callee is on the line. */
  answered(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.#isOpen) this.ask("answered", (codec) => codec.answered());
  }

  /** What the codec says of itself. */
  look<T>(at: (codec: Codec) => T): T | undefined {
    const codec = this.#codec;
    return codec && quietly(() => at(codec));
  }

  /** Sends what the codec makes of something: one that throws then has failed. */
  ask(what: string, make: (codec: Codec) => readonly Frame[]): void {
    if (this.isGone) return;
    const frames = this.look((codec) => [...make(codec)]);
    if (frames) this.#send(frames);
    else this.#fail(what);
  }

  /** A complaint of the agent's, in its own word unless that holds some of the key. */
  complaint(problem: AgentProblem, code: unknown): AgentException {
    return new AgentException(problem, isTelling(code, this.#secrets) ? undefined : code);
  }

  /** Lets the agent go; nothing is told any more. */
  close(): void {
    if (this.#isOpen) this.ask("close", (codec) => codec.close?.() ?? []);
    this.#end();
  }

  #send(frames: readonly Frame[]): void {
    const socket = this.#socket;
    if (!socket || this.isGone) return;
    const waiting = quietly(() => {
      for (const frame of frames) socket.send(frame);
      return socket.bufferedAmount ?? 0;
    });
    if (frames.length > 0) this.#sentAt = performance.now();
    if (waiting === undefined) this.#gone("agent_lost");
    else if (waiting > mostWaiting) this.#gone("agent_stalled");
  }

  #complain(error: AgentException): void {
    this.#news.tell(({ onError }) => onError(error));
  }

  #onOpen(socket: AgentSocket): void {
    if (this.isGone) {
      release(socket);
      return;
    }
    this.#isOpen = true;
    this.ask("open", (codec) => codec.open());
    if (this.#isAnswered) this.ask("answered", (codec) => codec.answered());
    this.#keepAlive();
  }

  #onFailed(error: unknown): void {
    if (this.isGone) return;
    this.#news.tell(({ onError }) => onError(error));
    const isRefused = error instanceof AgentException && error.problem === "agent_refused";
    this.#gone(isRefused ? "agent_refused" : "agent_unreachable");
  }

  readonly #onMessage = ({ data }: MediaEvent): void => {
    const at = performance.now();
    this.#news.sign(at);
    try {
      const frame = frameIn(data);
      for (const event of this.#codec?.read(frame) ?? []) {
        if (event.type === "send") this.#send(event.frames);
        else {
          const told = checked(event);
          this.#news.tell(({ onEvent }) => onEvent(told, at), frame.length);
        }
      }
    } catch (error) {
      const { problem, code } =
        error instanceof AgentException ? error : new AgentException("agent_malformed");
      this.#complain(this.complaint(problem, code));
    }
  };

  readonly #onClose = ({ code }: MediaEvent): void => {
    if (!this.#isOpen) return; // `connect` tells of it.
    this.#gone(code === 1000 || code === 1005 ? "agent_ended" : "agent_lost");
  };

  #fail(what: string): void {
    this.#complain(new AgentException("agent_failed", what));
    this.#gone("agent_failed");
  }

  #gone(reason: Gone): void {
    if (this.isGone) return;
    this.#end();
    this.#news.gone(reason);
  }

  #end(): void {
    if (this.isGone) return;
    clearTimeout(this.#alive);
    this.#over.abort();
    const socket = this.#socket;
    if (!socket) return;
    quietly(() => {
      socket.removeEventListener("message", this.#onMessage);
      socket.removeEventListener("close", this.#onClose);
      socket.removeEventListener("error", this.#onClose);
    });
    release(socket);
  }

  /** Services let go of who says nothing for a while. */
  #keepAlive(): void {
    const { after, frame } = this.look(({ keepAlive }) => ({ ...keepAlive })) ?? {};
    if (!after || !frame || this.isGone) return;
    const rest = this.#sentAt + after - performance.now();
    if (rest <= 0) this.#send([frame]);
    if (this.isGone) return;
    const wait = Math.min(Math.max(often, rest > 0 ? rest : after), latest);
    this.#alive = setTimeout(() => this.#keepAlive(), wait);
  }
}
