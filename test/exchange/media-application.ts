import alawmulaw from "alawmulaw";
import { fieldsOf, isText } from "../../src/lib/check.ts";
import { bytesOf } from "../../src/lib/encoding.ts";
import { listenForSockets } from "../carriers/stage.ts";

/** What came on a media socket. */
interface Came {
  /** The callee's samples. */
  readonly samples?: Int16Array;
  /** What a carrier calls its stream. */
  readonly stream?: string;
  readonly key?: string;
  /** What was asked for has come back: all audio before it was played, or it was dropped. */
  readonly answer?: string;
}

type Message = string | Uint8Array;

/** How a carrier's media sockets are spoken. */
export interface MediaDialect {
  readonly read: (data: Buffer, isBinary: boolean) => Came;
  /** One frame of 20 ms. */
  readonly audio: (samples: Int16Array, stream: string) => Message;
  /** Asks for an answer once all audio before was played. */
  readonly mark: (name: string, stream: string) => Message;
  readonly clear: (stream: string) => Message;
}

/** Twilio's, and Telnyx', which has other names for a stream. */
const markup = (streamField: "streamSid" | "stream_id"): MediaDialect => {
  const named = (event: string, stream: string, fields: object = {}) =>
    JSON.stringify({ event, [streamField]: stream, ...fields });
  return {
    read: (data) => {
      const {
        event,
        media,
        dtmf,
        mark,
        [streamField]: stream,
      } = fieldsOf(JSON.parse(String(data)));
      const { payload } = fieldsOf(media);
      const { digit } = fieldsOf(dtmf);
      const { name } = fieldsOf(mark);
      if (event === "media" && isText(payload)) {
        return { samples: alawmulaw.mulaw.decode(Buffer.from(payload, "base64")) };
      }
      if (isText(digit)) return { key: digit };
      if (isText(name)) return { answer: name };
      return event === "start" && isText(stream) ? { stream } : {};
    },
    audio: (samples, stream) => {
      const payload = Buffer.from(alawmulaw.mulaw.encode(samples)).toString("base64");
      return named("media", stream, { media: { payload } });
    },
    mark: (name, stream) => named("mark", stream, { mark: { name } }),
    clear: (stream) => named("clear", stream),
  };
};

export const twilioDialect: MediaDialect = markup("streamSid");
export const telnyxDialect: MediaDialect = markup("stream_id");

/** Vonage's: binary audio of 16 bits at 8 kHz. */
export const vonageDialect: MediaDialect = {
  read: (data, isBinary) => {
    if (isBinary) return { samples: new Int16Array(new Uint8Array(data).buffer) };
    const { event, digit, payload } = fieldsOf(JSON.parse(String(data)));
    if (event === "websocket:dtmf" && isText(digit)) return { key: digit };
    const { name } = fieldsOf(payload);
    if (event === "websocket:notify" && isText(name)) return { answer: name };
    if (event === "websocket:cleared") return { answer: "cleared" };
    return event === "websocket:connected" ? { stream: "socket" } : {};
  },
  audio: (samples) => bytesOf(samples),
  mark: (name) => JSON.stringify({ action: "notify", payload: { name } }),
  clear: () => JSON.stringify({ action: "clear" }),
};

/** An application's end of media sockets: what it received, and what it sends. */
export interface MediaApplication {
  readonly url: string;
  /** The callee's audio so far, in frames. */
  readonly frames: readonly Int16Array[];
  /** The keys that the callee has pressed. */
  readonly keys: () => string;
  readonly answers: readonly string[];
  readonly isOpen: () => boolean;
  /** Sends audio, and a mark after it. */
  readonly play: (samples: Int16Array, mark: string) => void;
  readonly clear: () => void;
  readonly close: () => void;
}

const frame = 160;

/** Takes media sockets until the test is over. */
export const serveMedia = async (dialect: MediaDialect): Promise<MediaApplication> => {
  const frames: Int16Array[] = [];
  const answers: string[] = [];
  let keys = "";
  let stream: string | undefined;
  let send: (message: Message) => void = () => {};
  let close = () => {};
  const url = await listenForSockets((socket) => {
    send = (message) => socket.send(message);
    close = () => socket.close();
    socket.on("close", () => {
      stream = undefined;
    });
    socket.on("message", (data: Buffer, isBinary) => {
      const came = dialect.read(data, isBinary);
      if (came.samples) frames.push(came.samples);
      if (came.answer !== undefined) answers.push(came.answer);
      keys += came.key ?? "";
      stream ??= came.stream;
    });
  });
  return {
    url,
    frames,
    keys: () => keys,
    answers,
    isOpen: () => stream !== undefined,
    play: (samples, mark) => {
      for (let at = 0; at + frame <= samples.length; at += frame) {
        send(dialect.audio(samples.slice(at, at + frame), stream ?? ""));
      }
      send(dialect.mark(mark, stream ?? ""));
    },
    clear: () => send(dialect.clear(stream ?? "")),
    close: () => close(),
  };
};
