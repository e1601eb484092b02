import { createServer, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { createServer as createTlsServer, type Server } from "node:tls";
import type { Identity } from "../certificates.ts";
import type { Behaviour } from "../fault.ts";
import {
  arrives,
  cors,
  dials,
  goodBodyOf,
  headersOf,
  paced,
  sendBody,
  showsKey,
} from "./answer.ts";
import { bytesOf } from "./frames.ts";
import { gone } from "./network.ts";
import type { Seen } from "./seen.ts";
import { type Wire, wireOf } from "./wire.ts";

/** A connection: what the library writes on, and TCP below it. */
interface Link {
  readonly wire: Wire;
  readonly tcp: Socket | undefined;
}

const misbehave = async (
  stream: ServerHttp2Stream,
  link: Link | undefined,
  behaviour: Behaviour,
  seen: Seen,
  elsewhere: string,
  release: () => void,
) => {
  const { interim, status = 202, raw, frames, end } = behaviour;
  if (behaviour.held) await gone();
  const isOver = () => stream.destroyed;
  if (interim?.every || behaviour.pace) seen.acted = true;
  if (interim) {
    const heads = Array<string>(interim.times).fill("");
    const write = () => stream.additionalHeaders({ ":status": interim.status });
    await paced(heads, interim.every ?? 0, write, isOver);
  }
  if (isOver()) return;
  if (frames) {
    link?.wire.last(Buffer.concat(frames.map((each) => bytesOf(each, stream.id))));
    // The library does not know that its stream is over.
    if (frames.some(({ last }) => last)) release();
  } else if (raw === undefined) {
    stream.respond({ ":status": status, ...headersOf(behaviour, elsewhere) });
    const write = (piece: Uint8Array | string) => stream.write(piece);
    await sendBody(behaviour, write, isOver);
  }
  seen.acted = true;
  if (end === "stall") return;
  if (end === undefined) return void stream.end();
  await arrives(behaviour, seen);
  if (end === "reset") link?.tcp?.resetAndDestroy();
  else if (end === "close") link?.tcp?.destroy();
  else if (end === "goaway" || end === "goaway, taken") {
    stream.session?.goaway(0, end === "goaway" ? 0 : stream.id);
    await arrives(behaviour, seen);
    link?.tcp?.destroy();
  } else stream.close(end.stream);
};

/**
 * Speaks HTTP/2 by TLS.
 *
 * @param onPost - tells of a stream that carries a POST, and so must not outlive it, until it is released
 */
export const http2Server = (
  identity: Identity,
  behaviour: Behaviour,
  seen: Seen,
  elsewhere: string,
  onPost: (stream: ServerHttp2Stream) => () => void,
): Server => {
  const links = new WeakMap<object, Link>();
  const server = createServer({ maxSessionInvalidFrames: 10_000 });
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    if (headers[":method"] === "OPTIONS") {
      stream.respond({ ":status": 204, ...cors }, { endStream: true });
      return;
    }
    seen.posts++;
    seen.protocols.push("HTTP/2");
    const release = onPost(stream);
    const { "x-api-key": _, authorization: __, ...others } = headers;
    if (showsKey(behaviour, JSON.stringify(others))) seen.strayKey = true;
    const link = stream.session && links.get(stream.session);
    const act = () => {
      if (behaviour.kept && seen.posts === 1) {
        stream.respond({ ":status": 202, ...cors });
        stream.end(goodBodyOf(behaviour));
      } else misbehave(stream, link, behaviour, seen, elsewhere, release).catch(() => {});
    };
    if (behaviour.unread) return act();
    let body = "";
    stream.on("data", (chunk) => {
      body += chunk;
    });
    stream.on("end", () => {
      if (showsKey(behaviour, body)) seen.strayKey = true;
      if (dials(behaviour) && !(behaviour.kept && seen.posts === 1)) seen.dialled++;
      act();
    });
  });

  const tcps = new Map<number | undefined, Socket>();
  return createTlsServer({ ...identity, ALPNProtocols: ["h2"] }, (tls) => {
    const tcp = tcps.get(tls.remotePort);
    const wire = wireOf(tls);
    server.once("session", (session) => links.set(session, { wire, tcp }));
    server.emit("connection", wire.stream);
  }).on("connection", (tcp: Socket) => tcps.set(tcp.remotePort, tcp));
};
