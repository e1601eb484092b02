import type { AgentMessage, MediaClock } from "outdial/agents";
import type { MediaEvent } from "outdial/flows";
import type { Behaviour, Conversation, Model } from "./model.ts";
import { type ProtocolName, protocols } from "./protocols.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A model behind a socket within the process: its time is that of the call. */
export class TimedModel {
  readyState = 1;
  readonly bufferedAmount = 0;
  /** What the application has sent, read. */
  readonly received: Fields[] = [];
  readonly #listeners = new Set<(event: MediaEvent) => void>();
  readonly #clock: MediaClock;
  readonly #conversation: Conversation;
  /** What it sends once its socket is open. */
  #welcome: object | undefined;

  constructor(name: ProtocolName, clock: MediaClock, behaviour: Behaviour = {}) {
    this.#clock = clock;
    const send = (message: object | Uint8Array<ArrayBuffer>) => this.#send(message);
    this.#conversation = protocols[name](send, clock, behaviour, () => {});
    this.#welcome = this.#conversation.welcome;
  }

  /** Audible milliseconds that it was sent, and when, by the clock. */
  get heard(): Model["heard"] {
    return this.#conversation.model.heard;
  }

  /** Says its next answer, unasked. */
  answer(): void {
    this.#conversation.model.answer();
  }

  send(message: AgentMessage): void {
    if (typeof message !== "string") {
      this.#conversation.receive(new Uint8Array(message));
      return;
    }
    const fields = JSON.parse(message);
    const isAudio = fields.realtimeInput?.audio || /append$/.test(fields.type ?? "");
    if (!isAudio || fields.content) this.received.push(fields);
    this.#conversation.receive(fields);
  }

  #send(message: object | Uint8Array<ArrayBuffer>): void {
    const data = message instanceof Uint8Array ? message.slice().buffer : JSON.stringify(message);
    queueMicrotask(() => {
      if (this.readyState !== 1) return;
      for (const listener of this.#listeners) listener({ type: "message", data });
    });
  }

  close(): void {
    this.readyState = 3;
    this.#conversation.stop();
  }

  addEventListener(type: string, listener: (event: MediaEvent) => void): void {
    if (type !== "message") return;
    this.#listeners.add(listener);
    const welcome = this.#welcome;
    if (welcome) this.#clock.after(1, () => this.#send(welcome));
    this.#welcome = undefined;
  }

  removeEventListener(type: string, listener: (event: MediaEvent) => void): void {
    if (type === "message") this.#listeners.delete(listener);
  }
}
