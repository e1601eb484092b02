import type { Socket } from "node:net";
import type { Behaviour } from "../fault.ts";
import {
  arrives,
  bodyOf,
  cors,
  dials,
  goodBodyOf,
  headersOf,
  paced,
  sendBody,
  showsKey,
} from "./answer.ts";
import { gone } from "./network.ts";
import type { Seen } from "./seen.ts";

const linesOf = (headers: Readonly<Record<string, string | number>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

const answer = (status: number, headers: Readonly<Record<string, string | number>>, body = "") =>
  `HTTP/1.1 ${status} Whatever\r\n${linesOf({ ...cors, ...headers })}\r\n${body}`;

/** The bytes of one whole request at the start of the buffer, if it is there. */
const requestIn = (
  buffer: string,
): { readonly head: string; readonly body?: string } | undefined => {
  const end = buffer.indexOf("\r\n\r\n");
  if (end < 0) return;
  const head = buffer.slice(0, end);
  const rest = buffer.slice(end + 4);
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? Number.NaN);
  if (/^transfer-encoding: *chunked/im.test(head)) {
    return rest.endsWith("0\r\n\r\n") ? { head, body: rest } : { head };
  }
  return rest.length >= (length || 0) ? { head, body: rest } : { head };
};

const misbehave = async (socket: Socket, behaviour: Behaviour, seen: Seen, elsewhere: string) => {
  const { interim, status = 202, raw, end } = behaviour;
  if (behaviour.held) await gone();
  const isOver = () => socket.destroyed;
  const write = (piece: Uint8Array | string) => socket.write(piece);
  if (interim?.every || behaviour.pace) seen.acted = true;
  if (interim) {
    const lines = Array(interim.times).fill(`HTTP/1.1 ${interim.status} Wait\r\n\r\n`);
    await paced(lines, interim.every ?? 0, write, isOver);
  }
  if (raw !== undefined) write(raw.replace("{cors}", linesOf(cors)));
  else {
    const bytes = bodyOf(behaviour);
    const bodiless = status === 204 || status === 304;
    // What breaks off was announced as longer.
    const length = end === undefined ? bytes.length : bytes.length + 100;
    const headers = { ...headersOf(behaviour, elsewhere), connection: "close" };
    write(answer(status, { ...headers, ...(!bodiless && { "content-length": length }) }));
    await sendBody(behaviour, write, isOver);
  }
  seen.acted = true;
  if (end === "stall") return;
  if (end !== "reset") return void socket.end();
  await arrives(behaviour, seen);
  socket.resetAndDestroy();
};

/**
 * Speaks HTTP/1.1 on one connection, byte by byte.
 *
 * @param onPost - tells that the connection carries a POST, and so must not outlive it
 */
export const serveHttp1 = (
  socket: Socket,
  behaviour: Behaviour,
  seen: Seen,
  elsewhere: string,
  onPost: () => void,
): void => {
  let buffer = "";
  let noted = false;
  let acted = false;
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    if (acted) return;
    buffer += chunk.toString("latin1");
    const request = requestIn(buffer);
    if (!request) return;
    const { head, body } = request;
    if (head.startsWith("OPTIONS")) {
      socket.end(answer(204, { connection: "close" }));
      return;
    }
    if (!noted && head.startsWith("POST")) {
      noted = true;
      seen.posts++;
      seen.protocols.push("HTTP/1.1");
      onPost();
    }
    if (body === undefined && !behaviour.unread) return;
    const elsewhereInIt = `${head.replace(/^(x-api-key|authorization): .*$/im, "")}${body}`;
    if (showsKey(behaviour, elsewhereInIt)) seen.strayKey = true;
    if (behaviour.kept && seen.posts === 1) {
      buffer = "";
      noted = false;
      const body = goodBodyOf(behaviour);
      socket.write(answer(202, { "content-length": body.length }, body));
      return;
    }
    acted = true;
    if (body !== undefined && dials(behaviour)) seen.dialled++;
    misbehave(socket, behaviour, seen, elsewhere);
  });
};
