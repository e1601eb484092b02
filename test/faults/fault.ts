import type { ExceptionName, FieldError } from "outdial";
import type { Runtime } from "../conformance/case.ts";
import type { ServiceName } from "../conformance/services/index.ts";

/** A server without a fault. */
export const good: Behaviour = {};

/** How a fault is reached: HTTP/1.1 in the clear, HTTP/2 by TLS, or HTTP/1.1 by TLS. */
export type Protocol = "h1" | "h2" | "tls";

/** How the network goes away: it loses every packet from now on, or has no address either. */
export type Cut = "down" | "unaddressed";

/** A frame of HTTP/2, as it is on the wire: what is wrong in it no library would send. */
export interface Frame {
  /** HEADERS; those that a page needs are added. */
  readonly headers?: Readonly<Record<string, string>>;
  /** DATA. */
  readonly data?: string;
  /** Bytes that are no frame. */
  readonly junk?: string;
  /** The last frame of its stream. */
  readonly last?: boolean;
  /** More of the headers is to come. */
  readonly part?: boolean;
  /** The length that it says it has; left out, the right one. */
  readonly claims?: number;
}

/** What the server does with a POST. Left out, each field is what a good server does. */
export interface Behaviour {
  /** The carrier that it answers as. */
  readonly service?: ServiceName;
  /** What listens: nobody, one who never accepts, one with a certificate that is wrong, and so on. */
  readonly listens?: "nowhere" | "deaf" | "expired" | "misnamed" | "unknown";
  /** What happens to a connection before any byte of it is read. */
  readonly accept?: "stall" | "reset" | "close" | "plain";
  /** Acts after the head of the request, without its body. */
  readonly unread?: boolean;
  /** Answers the first POST well, and keeps the connection. */
  readonly kept?: boolean;
  /** Holds its answer back until the network is gone. */
  readonly held?: boolean;
  /** Interim answers ahead of the head: how many, and how many milliseconds lie between them. */
  readonly interim?: { readonly status: number; readonly times: number; readonly every?: number };
  readonly status?: number;
  /**
   * In a value, `{elsewhere}` becomes the origin of another server, and `{in 30 s}` and `{30 s ago}`
   * HTTP dates.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** `{key}` and `{number}` become those of the request. */
  readonly body?: string;
  /** How many spaces follow the body. */
  readonly spaces?: number;
  readonly encode?: "utf-16" | "gzip" | "half a gzip";
  /** Milliseconds between one byte of the body and the next. */
  readonly pace?: number;
  /** The whole of an answer, as it is on the wire of HTTP/1.1; `{cors}` becomes what a page needs. */
  readonly raw?: string;
  /** The whole of an answer, as it is on the wire of HTTP/2. */
  readonly frames?: readonly Frame[];
  /** What happens after all that. */
  readonly end?:
    | "stall"
    | "reset"
    | "close"
    /** A GOAWAY that says that the stream was not taken, or was; then the connection ends. */
    | "goaway"
    | "goaway, taken"
    /** A RST_STREAM with this code. */
    | { readonly stream: number };
}

/** What becomes of one call. */
export interface Outcome {
  /** `"none"`: the call has an id. */
  readonly exception: ExceptionName | "none";
  readonly placed: "yes" | "no" | "maybe";
  /** The status that the exception tells. */
  readonly code?: number | undefined;
  /** The seconds to wait that it tells: the least and the most. Left out: none. */
  readonly retryAfter?: readonly [least: number, most: number];
  /** The complaints about fields that it tells. Left out: none. */
  readonly errors?: readonly FieldError[];
  /** The most POSTs that may arrive. */
  readonly posts: number;
  /** Whether any arrives is luck: the network was gone when it was sent, and the kernel still has it. */
  readonly orNone?: true;
  /**
   * `"at once"`: by itself, before the deadline. `"deadline"`: when the deadline has passed, and not before.
   * `"back"`: by itself, when the network is back, and not before.
   */
  readonly ends: "at once" | "deadline" | "back";
  /**
   * The most connections that the runtime itself may still hold after the end.
   *
   * @defaultValue 0
   */
  readonly open?: number;
}

/** Where a runtime differs, and why. */
export type Difference = Partial<Outcome> & {
  readonly why: string;
  /** Whether it differs is luck: what is expected elsewhere is right as well. */
  readonly orAsElsewhere?: true;
  /** `false`: the runtime does not meet this fault at all. */
  readonly met?: false;
};

export interface Fault {
  /** Unique in the table. */
  readonly name: string;
  /** A base URL that is no server of ours. */
  readonly baseUrl?: string;
  readonly server?: Behaviour;
  /** The network goes away before the call, or while its answer is held back, and comes back. */
  readonly cut?: Cut;
  /** @defaultValue `["h1", "h2"]` */
  readonly over?: readonly Protocol[];
  readonly expected: Outcome;
  /** By runtime, or by runtime and protocol, which wins. */
  readonly except?: Readonly<
    Partial<Record<Runtime | `${Runtime} ${Protocol}`, Difference | undefined>>
  >;
}

/** How long the network is gone, in milliseconds; longer where a busy machine needs it. */
export const outage = 2_000;

/** The runtimes whose own fetch speaks HTTP/2; the server offers it to all of them. */
const speaksHttp2: readonly Runtime[] = ["node26", "deno", "chromium"];

/** What is particular about a fault in one runtime, by one protocol. */
export const differenceOf = (
  { except }: Fault,
  runtime: Runtime,
  protocol: Protocol,
): Difference | undefined => except?.[`${runtime} ${protocol}`] ?? except?.[runtime];

/** What is expected of a fault in one runtime, by one protocol. */
export const expectedOf = (fault: Fault, runtime: Runtime, protocol: Protocol): Outcome => ({
  ...fault.expected,
  ...differenceOf(fault, runtime, protocol),
});

/** The protocols by which a runtime meets a fault. */
export const protocolsOf = (fault: Fault, runtime: Runtime): readonly Protocol[] =>
  (fault.over ?? (["h1", "h2"] as const)).filter(
    (protocol) =>
      (protocol !== "h2" || speaksHttp2.includes(runtime)) &&
      differenceOf(fault, runtime, protocol)?.met !== false,
  );
