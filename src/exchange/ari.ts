import { fieldsOf, isRecord, isText, withoutThrowing } from "../lib/check.ts";

/** Where Asterisk's REST interface is, and who asks. */
export interface AriOptions {
  /** The origin of Asterisk's HTTP server, such as `http://127.0.0.1:8088`. */
  readonly url: string;
  readonly user: string;
  readonly password: string;
  /** The name of the application: one process has it at a time. */
  readonly app: string;
}

/** What happens to a channel. */
export type ChannelEvent =
  | { readonly type: "ringing" }
  /** The channel is in the application's hands: for a telephone that was called, it has answered. */
  | { readonly type: "entered" }
  | { readonly type: "key"; readonly key: string }
  /** Why it ended: Q.850's cause and SIP's status, where they are known. */
  | {
      readonly type: "ended";
      readonly cause: number | undefined;
      readonly status: number | undefined;
    }
  /** It has ended, and nobody saw why. */
  | { readonly type: "lost" };

/** A response of Asterisk's. */
export interface AriResponse {
  readonly status: number;
  readonly body: unknown;
}

/** How long a request may take, and how long until a lost socket is opened again, in milliseconds. */
const requestTimeout = 10_000;
const reopenDelay = 500;

const numberOf = (value: unknown): number | undefined =>
  typeof value === "number" ? value : undefined;

/** Reads an event of one channel; `undefined` for one that nothing follows from. */
const eventOf = (event: Readonly<Record<string, unknown>>): ChannelEvent | undefined => {
  switch (event.type) {
    case "ChannelStateChange":
      return fieldsOf(event.channel).state === "Ringing" ? { type: "ringing" } : undefined;
    case "Dial":
      // Sound before the answer is how some networks ring.
      return event.dialstatus === "PROGRESS" ? { type: "ringing" } : undefined;
    case "StasisStart":
      return { type: "entered" };
    case "ChannelDtmfReceived":
      return isText(event.digit) ? { type: "key", key: event.digit } : undefined;
    case "ChannelDestroyed":
      return { type: "ended", cause: numberOf(event.cause), status: numberOf(event.tech_cause) };
    default:
      return;
  }
};

/** A WebSocket with headers in its handshake, as Node's takes them: so the password is in no URL. */
export const openSocket = (
  url: string,
  headers: Readonly<Record<string, string>>,
  protocols: readonly string[] = [],
): WebSocket => Reflect.construct(WebSocket, [url, { headers, protocols }]);

/** Asterisk's REST interface: requests, and the events of the channels that are watched. */
export class Ari {
  readonly #options: AriOptions;
  readonly #watchers = new Map<string, (event: ChannelEvent) => void>();
  readonly #onState: (state: "lost" | "back") => void;
  #socket: WebSocket | undefined;
  #reopening: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  /** @param onState - called when the socket of events was lost, and when it is open again */
  constructor(options: AriOptions, onState: (state: "lost" | "back") => void = () => {}) {
    this.#options = options;
    this.#onState = onState;
  }

  get app(): string {
    return this.#options.app;
  }

  /** Whether events come. */
  get isOpen(): boolean {
    return this.#socket?.readyState === 1;
  }

  /** The origin of its sockets. */
  get socketUrl(): string {
    return this.#options.url.replace(/^http/, "ws");
  }

  get headers(): Readonly<Record<string, string>> {
    const { user, password } = this.#options;
    return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
  }

  /**
   * Opens the socket of events.
   *
   * @throws {TypeError} when Asterisk isn't reached, or refuses the password
   */
  async open(): Promise<void> {
    const app = encodeURIComponent(this.#options.app);
    const socket = openSocket(`${this.socketUrl}/ari/events?app=${app}`, this.headers);
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => this.#receive(data));
    await new Promise<void>((resolve, reject) => {
      const fail = () => reject(new TypeError("url: Asterisk's REST interface gave no answer"));
      socket.addEventListener("open", () => resolve());
      socket.addEventListener("error", fail);
      socket.addEventListener("close", fail);
    });
    socket.addEventListener("close", () => {
      if (!this.#isClosed) this.#onState("lost");
      this.#reopen();
    });
  }

  /** Opens the socket now, or as soon as Asterisk is reached: that is reported as `back`. */
  async start(): Promise<void> {
    await this.open().catch(() => this.#reopen());
  }

  /** Closes the socket. Channels stay. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#reopening);
    this.#socket?.close();
  }

  /**
   * Calls a function with each event of a channel, until the channel has ended or the returned function is called.
   */
  watch(channel: string, onEvent: (event: ChannelEvent) => void): () => void {
    this.#watchers.set(channel, onEvent);
    return () => this.#watchers.delete(channel);
  }

  /**
   * Sends a request.
   *
   * @param path - below `/ari`
   * @param variables - set in a channel that is made
   * @throws {TypeError} when there is no answer
   */
  async request(
    method: "GET" | "POST" | "DELETE",
    path: string,
    query: Readonly<Record<string, string>> = {},
    variables?: Readonly<Record<string, string>>,
  ): Promise<AriResponse> {
    try {
      const response = await fetch(
        `${this.#options.url}/ari${path}?${new URLSearchParams(query)}`,
        {
          method,
          headers: { ...this.headers, ...(variables && { "Content-Type": "application/json" }) },
          ...(variables && { body: JSON.stringify({ variables }) }),
          signal: AbortSignal.timeout(requestTimeout),
        },
      );
      const text = await response.text();
      return { status: response.status, body: withoutThrowing(() => JSON.parse(text)) };
    } catch {
      throw new TypeError("Asterisk's REST interface gave no answer");
    }
  }

  /** Sends a request whose result nobody waits for, such as to end what may have ended already. */
  send(method: "POST" | "DELETE", path: string, query?: Readonly<Record<string, string>>): void {
    this.request(method, path, query).catch(() => {});
  }

  #receive(data: unknown): void {
    const event = isText(data) ? withoutThrowing(() => JSON.parse(data)) : undefined;
    if (!isRecord(event)) return;
    const { id } = fieldsOf(event.channel ?? event.peer);
    const known = eventOf(event);
    if (isText(id) && known) this.#emit(id, known);
  }

  #emit(channel: string, event: ChannelEvent): void {
    const watcher = this.#watchers.get(channel);
    if (event.type === "ended" || event.type === "lost") this.#watchers.delete(channel);
    watcher?.(event);
  }

  #reopen(): void {
    if (this.#isClosed) return;
    this.#reopening = setTimeout(() => {
      this.open().then(
        () => {
          this.#onState("back");
          return this.#reconcile();
        },
        () => this.#reopen(),
      );
    }, reopenDelay);
  }

  /** Asterisk repeats no event: channels that ended while the socket was lost are asked for. */
  async #reconcile(): Promise<void> {
    for (const channel of [...this.#watchers.keys()]) {
      const response = await this.request("GET", `/channels/${channel}`).catch(() => undefined);
      if (response?.status === 404) {
        this.#emit(channel, { type: "lost" });
      } else if (fieldsOf(response?.body).state === "Ringing") {
        this.#emit(channel, { type: "ringing" });
      }
    }
  }
}

/** What calls need of Asterisk's REST interface. */
export type AriClient = Pick<
  Ari,
  "app" | "close" | "headers" | "isOpen" | "request" | "send" | "socketUrl" | "start" | "watch"
>;
