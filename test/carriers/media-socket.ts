import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { encodeMulaw } from "../../src/lib/mulaw.ts";

/** A message of a carrier that sends μ-law in JSON, by the names of each. */
export interface StreamMessage {
  readonly event: string;
  readonly sequenceNumber?: string;
  readonly sequence_number?: string;
  readonly streamSid?: string;
  readonly stream_id?: string;
  readonly occurred_at?: string;
  readonly start?: object;
  readonly payload?: { readonly code: number; readonly title: string };
  readonly media?: {
    readonly track: string;
    readonly chunk: string;
    readonly timestamp: string;
    readonly payload: string;
  };
  readonly mark?: { readonly name: string };
  readonly dtmf?: { readonly digit: string };
}

export type OnMessage = (message: StreamMessage, socket: MediaSocket) => void;

/** The carrier's end of a media socket whose other end is an application in this process. */
export class MediaSocket extends EventTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly sent: StreamMessage[] = [];
  readonly bufferedAmount = 0;
  readyState = 0;
  closed = 0;
  readonly #onMessage: OnMessage;
  readonly #address: (sent: readonly StreamMessage[]) => object;

  /** @param address - the fields that every message of the application has */
  constructor(
    url: string,
    options: { headers?: Record<string, string> } | undefined,
    onMessage: OnMessage,
    address: (sent: readonly StreamMessage[]) => object,
  ) {
    super();
    this.url = url;
    this.headers = options?.headers;
    this.#onMessage = onMessage;
    this.#address = address;
    setTimeout(() => {
      this.readyState = 1;
      this.dispatchEvent(new Event("open"));
    });
  }

  send(text: string): void {
    const message: StreamMessage = JSON.parse(text);
    this.sent.push(message);
    this.#onMessage(message, this);
  }

  /** What the application sends. */
  receive(event: string, fields: object = {}): void {
    this.receiveText(JSON.stringify({ event, ...this.#address(this.sent), ...fields }));
  }

  receiveText(data: string): void {
    this.dispatchEvent(Object.assign(new Event("message"), { data }));
  }

  /** Audio of a loudness, in milliseconds. */
  play(ms: number, value = 1_000): void {
    const bytes = encodeMulaw(new Int16Array(8 * ms).fill(value));
    this.receive("media", { media: { payload: Buffer.from(bytes).toString("base64") } });
  }

  mark(name: string): void {
    this.receive("mark", { mark: { name } });
  }

  close(): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.closed++;
    this.dispatchEvent(new Event("close"));
  }
}

/** The option `WebSocket` of an emulator, and the sockets that it has opened. */
export const mediaSockets = (
  onMessage: OnMessage,
  address: (sent: readonly StreamMessage[]) => object,
) => {
  const sockets: MediaSocket[] = [];
  // An arrow function is no constructor.
  // biome-ignore lint/complexity/useArrowFunction: see above
  const WebSocket = function (url: string, init?: { headers?: Record<string, string> }) {
    const socket = new MediaSocket(url, init, onMessage, address);
    sockets.push(socket);
    return socket;
  } as unknown as NonNullable<EmulatorOptions["WebSocket"]>;
  return { sockets, WebSocket };
};

export const mediaOf = ({ sent }: MediaSocket) =>
  sent.flatMap(({ media }) => (media ? [media] : []));

/** When each mark came back, in milliseconds of the stream. */
export const marksOf = ({ sent }: MediaSocket) => {
  let now = 0;
  return sent.flatMap(({ media, mark }) => {
    if (media) now = Number(media.timestamp) + 20;
    return mark ? [[mark.name, now]] : [];
  });
};

/** Closes once so many messages of audio came. */
export const closeAfter =
  (frames: number, then: OnMessage = () => {}): OnMessage =>
  (message, socket) => {
    then(message, socket);
    if (message.media?.chunk === String(frames)) socket.close();
  };
