/** A message of SIP. */
export interface SipMessage {
  /** The first line, such as `INVITE sip:… SIP/2.0` or `SIP/2.0 200 OK`. */
  readonly first: string;
  /** By their names in lower case, each with all its values. */
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

/** The long names of headers that may come short. */
const longNames: Readonly<Record<string, string>> = {
  c: "content-type",
  f: "from",
  i: "call-id",
  l: "content-length",
  m: "contact",
  t: "to",
  v: "via",
};

/** Reads a message; `undefined` for what is none, such as a keep-alive. */
export const parseSip = (text: string): SipMessage | undefined => {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return;
  const [first = "", ...lines] = text
    .slice(0, end)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n");
  const headers: Record<string, string[]> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const longName = longNames[name] ?? name;
    headers[longName] = [...(headers[longName] ?? []), line.slice(colon + 1).trim()];
  }
  return { first, headers, body: text.slice(end + 4) };
};

/** The first value of a header; empty where it is missing. */
export const header = ({ headers }: SipMessage, name: string): string => headers[name]?.[0] ?? "";

/** A header, or several of one name. */
export type SipHeader = readonly [name: string, value: string];

/** Writes a message. */
export const writeSip = (first: string, headers: readonly SipHeader[], body = ""): string =>
  [
    first,
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body ? ["Content-Type: application/sdp"] : []),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body,
  ].join("\r\n");

/** The codecs of these telephones, by the numbers that RTP has for them. */
export const codecs = { PCMU: 0, PCMA: 8 } as const;
export type Codec = keyof typeof codecs;

/** The number of keys in RTP (RFC 4733). */
export const keyType = 101;

/** Where a telephone wants its audio, and which. */
export interface AudioOffer {
  readonly address: string;
  readonly port: number;
  /** The numbers of RTP, the best first. */
  readonly types: readonly number[];
}

/** Reads a description of a session (SDP); `undefined` where there is no audio in it. */
export const parseSdp = (body: string): AudioOffer | undefined => {
  const [, address] = /^c=IN IP4 (\S+)/m.exec(body) ?? [];
  const [, port, types] = /^m=audio (\d+) \S+ ([\d ]+)/m.exec(body) ?? [];
  if (!address || !port || !types) return;
  return { address, port: Number(port), types: types.trim().split(" ").map(Number) };
};

/** What a side does with audio. */
export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive";

/** Describes a session with one codec and keys. */
export const writeSdp = (
  address: string,
  port: number,
  codec: Codec,
  direction: Direction,
  version: number,
): string =>
  [
    "v=0",
    `o=- 1 ${version} IN IP4 ${address}`,
    "s=-",
    `c=IN IP4 ${address}`,
    "t=0 0",
    `m=audio ${port} RTP/AVP ${codecs[codec]} ${keyType}`,
    `a=rtpmap:${codecs[codec]} ${codec}/8000`,
    `a=rtpmap:${keyType} telephone-event/8000`,
    `a=fmtp:${keyType} 0-15`,
    "a=ptime:20",
    `a=${direction}`,
    "",
  ].join("\r\n");
