import { setTimeout as wait } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { apiKey, to_number } from "../../conformance/fixtures.ts";
import { carrierOf } from "../../conformance/services/index.ts";
import { type Behaviour, type Fault, good } from "../fault.ts";
import type { Seen } from "./seen.ts";

/** What a page of another origin needs to read an answer. */
export const cors = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "*, authorization, content-type, x-api-key",
  "access-control-expose-headers": "retry-after",
};

/** The body of an answer that gives a call its id. */
export const goodBodyOf = ({ service }: Behaviour): string =>
  service
    ? `{"message":"Call accepted.",${carrierOf(service).idField("1")}}`
    : '{"message":"Call accepted.","data":{"id":"cs_1"}}';

/** Whether a text shows the key, or what was sent in its place. */
export const showsKey = ({ service }: Behaviour, text: string): boolean =>
  text.includes(apiKey) || (service !== undefined && carrierOf(service).showsKey(text));

/** Whether a client that takes the answer gets a whole head of it. */
const hasHead = ({ raw, frames }: Behaviour): boolean =>
  frames
    ? frames.some(({ headers, part }) => /^\d{3}$/.test(headers?.[":status"] ?? "") && !part)
    : raw === undefined || /^HTTP\/1\.1 \d{3} .*\r\n\r\n/s.test(raw);

/**
 * Lets what was written arrive before the connection is cut: until the client says that it has the head. Without a
 * head, every outcome is the same whether it arrives or not.
 */
export const arrives = async (behaviour: Behaviour, seen: Seen): Promise<void> => {
  await wait(100);
  const wanted = behaviour.kept ? 2 : 1;
  if (!hasHead(behaviour)) return;
  for (let waited = 0; seen.heads < wanted && waited < 20_000; waited += 10) await wait(10);
};

const plainBody = (behaviour: Behaviour): Buffer => {
  const { body = goodBodyOf(behaviour), spaces = 0, encode, service } = behaviour;
  const key = service ? carrierOf(service).echoedKey : apiKey;
  const text = body.replaceAll("{key}", key).replaceAll("{number}", to_number);
  if (encode === "utf-16") return Buffer.from(text, "utf16le");
  return Buffer.concat([Buffer.from(text), Buffer.alloc(spaces, " ")]);
};

const encoded = (behaviour: Behaviour): Buffer => {
  const bytes = plainBody(behaviour);
  if (!behaviour.encode?.endsWith("gzip")) return bytes;
  const zipped = gzipSync(bytes, { level: 9 });
  return behaviour.encode === "gzip" ? zipped : zipped.subarray(0, zipped.length / 2);
};

const bodies = new Map<Behaviour, Buffer>();

/** Makes the bodies of all faults: at the start, because a bomb takes seconds to make. */
export const makeBodies = (faults: readonly Fault[]): void => {
  for (const { server = good } of faults) bodies.set(server, encoded(server));
};

/** The bytes of the body. */
export const bodyOf = (behaviour: Behaviour): Buffer => bodies.get(behaviour) ?? Buffer.alloc(0);

const dateIn = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString();

/** The headers of the answer, those of the body's length apart. */
export const headersOf = (
  { headers = {} }: Behaviour,
  elsewhere: string,
): Readonly<Record<string, string>> => ({
  ...cors,
  "content-type": "application/json",
  ...Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      value
        .replaceAll("{elsewhere}", elsewhere)
        .replaceAll("{in 30 s}", dateIn(30))
        .replaceAll("{30 s ago}", dateIn(-30)),
    ]),
  ),
});

/** The code by which HTTP/2 says that a stream was not even looked at. */
const refusedStream = 7;

/** The 4xx that a proxy may send for a POST that went through. */
const unclear: readonly number[] = [408, 409, 425, 499];

const refuses = ({ status = 202, service }: Behaviour): boolean =>
  service
    ? carrierOf(service).placedNothing.includes(status)
    : [307, 308].includes(status) || (status >= 400 && status < 500 && !unclear.includes(status));

/** Whether a POST that arrived whole is one that may have dialled. */
export const dials = (behaviour: Behaviour): boolean => {
  const { end } = behaviour;
  return (
    !refuses(behaviour) &&
    end !== "goaway" &&
    !(typeof end === "object" && end.stream === refusedStream)
  );
};

/** Writes in pieces, and stops when nobody listens any more. */
export const paced = async (
  pieces: Iterable<Uint8Array | string>,
  every: number,
  write: (piece: Uint8Array | string) => void,
  isOver: () => boolean,
): Promise<void> => {
  for (const piece of pieces) {
    if (isOver()) return;
    write(piece);
    if (every > 0) await wait(every);
  }
};

/** Writes a body: at once, or byte by byte. */
export const sendBody = async (
  behaviour: Behaviour,
  write: (piece: Uint8Array | string) => void,
  isOver: () => boolean,
): Promise<void> => {
  const bytes = bodyOf(behaviour);
  if (!behaviour.pace) return bytes.length > 0 ? write(bytes) : undefined;
  const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
  await paced(pieces, behaviour.pace, write, isOver);
};
