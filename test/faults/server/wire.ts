import { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";

/** What a session of HTTP/2 takes for its socket, so that others can write there as well. */
export interface Wire {
  readonly stream: Duplex;
  /** From now on, these bytes are the last that go out. */
  readonly last: (bytes: Uint8Array) => void;
}

export const wireOf = (socket: TLSSocket): Wire => {
  let isOver = false;
  const stream = new Duplex({
    read: () => void socket.resume(),
    write: (chunk, _encoding, done) => void (isOver ? done() : socket.write(chunk, done)),
    final: (done) => void (isOver ? done() : socket.end(done)),
  });
  socket.on("data", (chunk) => {
    if (!stream.push(chunk)) socket.pause();
  });
  socket.on("end", () => stream.push(null));
  socket.on("error", () => {});
  socket.on("close", () => stream.destroy());
  const last = (bytes: Uint8Array) => {
    isOver = true;
    socket.write(bytes);
  };
  return { stream, last };
};
