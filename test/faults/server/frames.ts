import type { Frame } from "../fault.ts";
import { cors } from "./answer.ts";

/** RFC 9113, section 6. */
const types = { data: 0, headers: 1 } as const;
const endStream = 1;
const endHeaders = 4;

/** A text with its length, not compressed: RFC 7541, section 5.2. */
const literal = (text: string): Buffer => {
  const bytes = Buffer.from(text, "latin1");
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
};

/** Headers that no table remembers: RFC 7541, section 6.2.2. */
const packed = (headers: Readonly<Record<string, string>>): Buffer =>
  Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.of(0),
      literal(name),
      literal(value),
    ]),
  );

/** What is on the wire of a stream: RFC 9113, section 4.1. */
export const bytesOf = (
  { headers, data = "", junk, last = false, part = false, claims }: Frame,
  stream = 0,
): Buffer => {
  if (junk !== undefined) return Buffer.from(junk, "latin1");
  const payload = headers ? packed({ ...headers, ...cors }) : Buffer.from(data);
  const head = Buffer.alloc(9);
  head.writeUIntBE(claims ?? payload.length, 0, 3);
  head[3] = headers ? types.headers : types.data;
  head[4] = (last ? endStream : 0) | (headers && !part ? endHeaders : 0);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
};
