import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { apiKey } from "../../conformance/fixtures.ts";
import type { Identity } from "../certificates.ts";
import type { Behaviour } from "../fault.ts";
import { arrives, bodyOf, cors, dials, goodBody, headersOf, paced } from "./answer.ts";
import { gone } from "./network.ts";
import type { Seen } from "./seen.ts";

const misbehave = async (
  stream: ServerHttp2Stream,
  connection: Socket | undefined,
  behaviour: Behaviour,
  elsewhere: string,
) => {
  const { interim, status = 202, raw, pace = 0, end } = behaviour;
  if (behaviour.held) await gone();
  const isOver = () => stream.destroyed;
  if (interim) {
    const heads = Array<string>(interim.times).fill("");
    const write = () => stream.additionalHeaders({ ":status": interim.status });
    await paced(heads, interim.every ?? 0, write, isOver);
  }
  if (isOver()) return;
  if (raw === undefined) {
    const bytes = bodyOf(behaviour);
    stream.respond({ ":status": status, ...headersOf(behaviour, elsewhere) });
    const write = (piece: Uint8Array | string) => stream.write(piece);
    if (pace)
      await paced(
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
        pace,
        write,
        isOver,
      );
    else if (bytes.length > 0) write(bytes);
  }
  if (end === "stall") return;
  if (end === undefined) return void stream.end();
  await arrives();
  if (end === "reset") connection?.resetAndDestroy();
  else if (end === "close") connection?.destroy();
  else if (end === "goaway") {
    stream.session?.goaway(0, 0);
    await arrives();
    connection?.destroy();
  } else stream.close(end.stream);
};

/**
 * Speaks HTTP/2 by TLS.
 *
 * @param onPost - tells of a stream that carries a POST, and so must not outlive it
 */
export const http2Server = (
  identity: Identity,
  behaviour: Behaviour,
  seen: Seen,
  elsewhere: string,
  onPost: (stream: ServerHttp2Stream) => void,
): Http2SecureServer => {
  const connections = new Map<number | undefined, Socket>();
  const server = createSecureServer({ ...identity, maxSessionInvalidFrames: 10_000 });
  server.on("connection", (socket: Socket) => connections.set(socket.remotePort, socket));
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    if (headers[":method"] === "OPTIONS") {
      stream.respond({ ":status": 204, ...cors }, { endStream: true });
      return;
    }
    seen.posts++;
    seen.protocols.push("HTTP/2");
    onPost(stream);
    const { "x-api-key": _, ...others } = headers;
    if (JSON.stringify(others).includes(apiKey)) seen.strayKey = true;
    const connection = connections.get(stream.session?.socket.remotePort);
    const act = () => {
      if (behaviour.kept && seen.posts === 1) {
        stream.respond({ ":status": 202, ...cors });
        stream.end(goodBody);
      } else misbehave(stream, connection, behaviour, elsewhere).catch(() => {});
    };
    if (behaviour.unread) return act();
    let body = "";
    stream.on("data", (chunk) => {
      body += chunk;
    });
    stream.on("end", () => {
      if (body.includes(apiKey)) seen.strayKey = true;
      if (dials(behaviour) && !(behaviour.kept && seen.posts === 1)) seen.dialled++;
      act();
    });
  });
  return server;
};
