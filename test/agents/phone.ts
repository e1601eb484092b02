import { once } from "node:events";
import type { Socket } from "node:net";
import { WebSocket } from "ws";

/** The service's end of a call's media socket, which may do what no service should. */
export interface Phone {
  readonly socket: WebSocket;
  /** The connection under it. */
  readonly stream: Socket;
  /** Milliseconds of the agent's audio that came. */
  readonly heard: () => number;
  readonly send: (message: object) => void;
  /** The callee says so many milliseconds. */
  readonly say: (ms: number) => void;
  /** Once it is closed: with which code, and which reason. */
  readonly closed: Promise<readonly [code: number, reason: string]>;
}

const ids = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
const data = { encoding: "audio/l16", sample_rate: 8000, channels: 1 };

/** Says which call it is, as a service does first. */
export const start = { type: "start", ...ids, data };

/** Rings an application up. */
export const ring = async (url: string): Promise<Phone> => {
  const socket = new WebSocket(url.replace(/^http/, "ws"));
  let bytes = 0;
  socket.on("error", () => {});
  socket.on("message", (text) => {
    const { type, audio_b64 } = JSON.parse(String(text));
    if (type === "audio") bytes += Buffer.from(audio_b64, "base64").length;
  });
  const closed = once(socket, "close").then(
    ([code, reason]) => [Number(code), String(reason)] as const,
  );
  const [{ socket: stream }] = await once(socket, "upgrade");
  if (socket.readyState !== 1) await once(socket, "open");
  const send = (message: object) => {
    if (socket.readyState === 1) socket.send(JSON.stringify(message));
  };
  const say = (ms: number) => {
    const audio_b64 = Buffer.alloc(ms * 16, 0x11).toString("base64");
    send({ type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } });
  };
  return { socket, stream, heard: () => bytes / 16, send, say, closed };
};
