import type { MediaEvent } from "../flows/media/socket.ts";
import { isText, withoutThrowing } from "../lib/check.ts";
import type { MediaClock } from "../lib/clock.ts";
import type { Agent, AgentEvent, AgentMessage, Codec, LineFormat } from "./agent.ts";
import type { ConnectionEnd } from "./agent-session.ts";
import {
  type Address,
  type AgentSocket,
  connect,
  type OpenSocket,
  openSocket,
  release,
} from "./open-socket.ts";
import { AgentException, type AgentProblem, meaningOf } from "./problems.ts";

/** The longest message that is decoded, in bytes or characters: more than a minute of audio. */
const maxMessage = 2 ** 23;

/** The longest name that an agent may give to anything, in characters. */
const maxName = 1000;

/** The most events of a message: each call of a tool is answered at once, and nothing else runs meanwhile. */
const maxEvents = 1000;

/** What may wait for the network before the agent counts as stalled, in bytes: half a minute of speech. */
const maxBuffered = 2 ** 21;

/** The shortest and the longest interval of keep-alive messages, in ms. */
const minInterval = 100;
const maxInterval = 2 ** 31 - 1;

/** So many letters and digits of a secret, one after the other, are a piece of it. */
const pieceOfSecret = 8;

/** What a connection calls. */
export interface ConnectionListener {
  /** An event of the agent, and when its message came, by its clock. */
  readonly onEvent: (event: AgentEvent, at: number) => void;
  /** A message of any kind has come. */
  readonly onMessage: () => void;
  readonly onError: (error: unknown) => void;
  /** Called once: the connection has ended, or was never made. */
  readonly onEnd: (reason: ConnectionEnd) => void;
}

const letters = (text: unknown): string =>
  String(text)
    .toLowerCase()
    .replace(/[^a-z\d]/g, "");

/** The values of headers and the subprotocols, as far as they are long enough to be secret. */
const secretsOf = ({ headers, protocols, ticket }: Address): readonly string[] =>
  [headers, protocols, ticket?.headers]
    .flatMap((each) => Object.values(each ?? {}))
    .map(letters)
    .filter(({ length }) => length > pieceOfSecret);

/** Whether a text contains a piece of a secret, whatever stands between its letters. */
const containsSecret = (text: unknown, secrets: readonly string[]): boolean => {
  const given = letters(text);
  for (let at = 0; at + pieceOfSecret <= given.length; at++) {
    const piece = given.slice(at, at + pieceOfSecret);
    if (secrets.some((secret) => secret.includes(piece))) return true;
  }
  return false;
};

/**
 * What came on a socket, for the codec.
 *
 * @throws {AgentException} without the content
 */
const messageOf = (data: unknown): AgentMessage => {
  if (isText(data) && data.length <= maxMessage) return data;
  if (data instanceof ArrayBuffer && data.byteLength <= maxMessage) return new Uint8Array(data);
  throw new AgentException("agent_malformed");
};

/**
 * An event whose names are short enough to be remembered.
 *
 * @throws {AgentException}
 */
const checkEvent = (event: AgentEvent): AgentEvent => {
  for (const name of ["item", "response", "id", "name"]) {
    const value: unknown = Reflect.get(event, name);
    if (isText(value) && value.length > maxName) throw new AgentException("agent_malformed");
  }
  return event;
};

/**
 * The connection to an agent: its socket and its codec. Listen before you yield to the event loop. All foreign code is
 * called here, and whatever it throws becomes an event or ends the connection.
 */
export class Connection {
  readonly #codec: Codec | undefined;
  readonly #over = new AbortController();
  #socket: AgentSocket | undefined;
  #listener: ConnectionListener | undefined;
  #end: ConnectionEnd | undefined;
  #secrets: readonly string[] = [];
  #isOpen = false;
  #isAnswered = false;
  /** Whether its last response has not failed; nothing before the agent is ready. */
  #isWell: boolean | undefined;
  #sentAt = 0;
  #cancelKeepAlive: (() => void) | undefined;
  readonly #clock: MediaClock;

  /** @param given - opens the socket, in the place of the agent's own function or the platform's */
  constructor(agent: Agent, line: LineFormat, given: OpenSocket | undefined, clock: MediaClock) {
    this.#clock = clock;
    const open = given ?? agent.open ?? openSocket;
    this.#codec = withoutThrowing(() => agent.codec(line));
    if (!this.#codec) return;
    const address = async () => {
      if (open === openSocket) clock.useNetwork?.();
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
    clock.hold(
      connect(address, open, this.#over.signal, attach).then(
        (socket) => this.#onOpen(socket),
        (error) => this.#onFailed(error),
      ),
    );
  }

  get isOver(): boolean {
    return this.over.aborted;
  }

  /** Aborts once the connection has ended. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Calls a listener from now on. */
  listen(listener: ConnectionListener): void {
    this.#listener = listener;
    if (this.#end) listener.onEnd(this.#end);
    else if (!this.#codec) this.fail("codec");
  }

  /** The callee is on the line. */
  answered(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.#isOpen) this.send("answered", (codec) => codec.answered());
  }

  /** Reads a property of the codec. */
  read<T>(from: (codec: Codec) => T): T | undefined {
    const codec = this.#codec;
    return codec && withoutThrowing(() => from(codec));
  }

  /** Sends what a function of the codec returns; the connection ends if it throws. */
  send(name: string, encode: (codec: Codec) => readonly AgentMessage[]): void {
    if (this.isOver) return;
    const messages = this.read((codec) => [...encode(codec)]);
    if (messages) this.#write(messages);
    else this.fail(name);
  }

  /** An error of the agent's, with its code unless that holds a piece of the key. */
  exception(problem: AgentProblem, code: unknown): AgentException {
    return new AgentException(problem, containsSecret(code, this.#secrets) ? undefined : code);
  }

  /** Ends the connection, because of a part of the adapter. */
  fail(name: string): void {
    this.#report(new AgentException("agent_failed", name));
    this.#finish("agent_failed");
  }

  /** Closes the connection; the listener isn't called any more. */
  close(): void {
    if (this.#isOpen) this.send("close", (codec) => codec.close?.() ?? []);
    this.#release();
  }

  #write(messages: readonly AgentMessage[]): void {
    const socket = this.#socket;
    if (!socket || this.isOver) return;
    const buffered = withoutThrowing(() => {
      for (const message of messages) socket.send(message);
      return socket.bufferedAmount ?? 0;
    });
    if (messages.length > 0) this.#sentAt = this.#clock.now();
    if (buffered === undefined) this.#finish("agent_lost");
    else if (buffered > maxBuffered) this.#finish("agent_stalled");
  }

  #report(error: unknown): void {
    this.#listener?.onError(error);
  }

  #onOpen(socket: AgentSocket): void {
    if (this.isOver) {
      release(socket);
      return;
    }
    this.#isOpen = true;
    this.send("open", (codec) => codec.open());
    if (this.#isAnswered) this.send("answered", (codec) => codec.answered());
  }

  #onFailed(error: unknown): void {
    if (this.isOver) return;
    this.#report(error);
    const isRefused = error instanceof AgentException && error.problem === "agent_refused";
    this.#finish(isRefused ? "agent_refused" : "agent_unreachable");
  }

  readonly #onMessage = ({ data }: MediaEvent): void => {
    const at = this.#clock.now();
    this.#listener?.onMessage();
    try {
      const events = this.#codec?.decode(messageOf(data)) ?? [];
      if (events.length > maxEvents) throw new AgentException("agent_malformed");
      for (const event of events) {
        if (event.type === "send") this.#write(event.messages);
        else {
          if (event.type === "ready" && !this.#cancelKeepAlive) this.#keepAlive();
          if (event.type === "ready" || event.type === "audio") this.#isWell = true;
          else if (event.type === "response_done") this.#isWell = event.outcome !== "failed";
          this.#listener?.onEvent(checkEvent(event), at);
        }
      }
    } catch (error) {
      const { problem, code } =
        error instanceof AgentException ? error : new AgentException("agent_malformed");
      this.#report(this.exception(problem, code));
    }
  };

  readonly #onClose = ({ code = 1006, reason = "" }: MediaEvent): void => {
    if (!this.#isOpen || this.isOver) return; // `connect` reports it.
    const { end, errorCode } = meaningOf(code, reason, this.#isWell);
    if (errorCode) {
      this.#report(this.exception(end === "agent_refused" ? end : "agent_complained", errorCode));
    }
    this.#finish(end);
  };

  #finish(reason: ConnectionEnd): void {
    if (this.isOver) return;
    this.#release();
    this.#end = reason;
    this.#listener?.onEnd(reason);
  }

  #release(): void {
    if (this.isOver) return;
    this.#cancelKeepAlive?.();
    this.#over.abort();
    const socket = this.#socket;
    if (!socket) return;
    withoutThrowing(() => {
      socket.removeEventListener("message", this.#onMessage);
      socket.removeEventListener("close", this.#onClose);
      socket.removeEventListener("error", this.#onClose);
    });
    release(socket);
  }

  /** Sends the codec's message after each pause: services close a connection on which nothing comes. */
  #keepAlive(): void {
    const { after, message } = this.read(({ keepAlive }) => ({ ...keepAlive })) ?? {};
    if (!after || !message || this.isOver) return;
    const rest = this.#sentAt + after - this.#clock.now();
    if (rest <= 0) this.#write([message]);
    if (this.isOver) return;
    const wait = Math.min(Math.max(minInterval, rest > 0 ? rest : after), maxInterval);
    this.#cancelKeepAlive = this.#clock.after(wait, () => this.#keepAlive());
  }
}
