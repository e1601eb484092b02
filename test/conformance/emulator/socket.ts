import type { EmulatorOptions } from "outdial/emulator";
import { application } from "./app.ts";

/** A message of the service. */
type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** What an application does on its end of the socket. */
interface Application {
  readonly onMessage?: (message: Message, socket: ServiceSocket) => void;
}

/** The service's end of a socket whose other end is an application in this process. */
export class ServiceSocket extends EventTarget {
  readonly url: string;
  readyState = 0;
  bufferedAmount = 0;
  readonly sent: Message[] = [];
  closed: number | undefined;
  readonly #application: Application;

  constructor(url: string, application: Application) {
    super();
    this.url = url;
    this.#application = application;
    setTimeout(() => {
      if (this.readyState === 0) this.readyState = 1;
      this.dispatchEvent(new Event(this.readyState === 1 ? "open" : "error"));
    });
  }

  send(text: string): void {
    if (this.readyState !== 1) throw new Error("not open");
    const message = JSON.parse(text);
    this.sent.push(message);
    setTimeout(() => this.#application.onMessage?.(message, this));
  }

  /** What the application says. */
  say(data: unknown): void {
    const isRaw = typeof data === "string" || data instanceof ArrayBuffer;
    const raw = isRaw ? data : JSON.stringify(data);
    this.dispatchEvent(Object.assign(new Event("message"), { data: raw }));
  }

  close(code?: number): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.closed = code;
    this.dispatchEvent(new Event("close"));
  }
}

/** A call that is streamed to an application in this process. */
export const streaming = (
  { onMessage }: Application,
  action: object = {},
  options: EmulatorOptions = {},
) => {
  const sockets: ServiceSocket[] = [];
  // An arrow function is no constructor.
  // biome-ignore lint/complexity/useArrowFunction: see above
  const WebSocket = function (url: string) {
    const socket = new ServiceSocket(url, { ...(onMessage && { onMessage }) });
    sockets.push(socket);
    return socket;
  } as unknown as NonNullable<EmulatorOptions["WebSocket"]>;
  const flow = { action: "stream", ws_url: "wss://app.test/media", ...action };
  return { ...application({ "/flow": flow }, { WebSocket, ...options }), sockets };
};

/** 16-bit samples of one value, in base64. */
export const audio = (samples: number, value: number): string => {
  const bytes = new Uint8Array(new Int16Array(samples).fill(value).buffer);
  return btoa(String.fromCharCode(...bytes));
};

/** What the service's frames hold, as samples. */
export const said = (socket: ServiceSocket | undefined): Int16Array => {
  const frames = socket?.sent.filter(({ type }) => type === "audio") ?? [];
  const text = frames.map(({ data }) => atob(Object(data).audio_b64)).join("");
  return new Int16Array(Uint8Array.from(text, (each) => each.charCodeAt(0)).buffer);
};
