import { cutInTime, type MediaEvent } from "../flows/media/socket.ts";
import { isText, withoutThrowing } from "../lib/check.ts";
import { routeOf } from "../lib/url.ts";
import { AgentException } from "./problems.ts";

/** The types of event that a socket has. */
export type AgentSocketEvent = "open" | "message" | "close" | "error";

/** The part of a WebSocket that an agent needs: every standard one has it. */
export interface AgentSocket {
  /** 0 while it connects, 1 while it is open. */
  readonly readyState: number;
  /** Bytes that it buffers for the network. Workers don't have it. */
  readonly bufferedAmount?: number;
  /** Set to `"arraybuffer"`: otherwise binary messages are blobs. */
  binaryType?: string;
  /** Sends a message, as text or as bytes. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Closes the socket. */
  close(code?: number, reason?: string): void;
  /** Cuts the connection at once, where a socket can: called when the agent doesn't answer a close. */
  terminate?(): void;
  /** Adds a listener, as on any `EventTarget`. */
  addEventListener(type: AgentSocketEvent, listener: (event: MediaEvent) => void): void;
  /** Removes a listener. */
  removeEventListener(type: AgentSocketEvent, listener: (event: MediaEvent) => void): void;
}

/** How a socket is to be opened. */
export interface Opening {
  /** wss, or ws on loopback. */
  readonly url: string;
  /** The agent's key may be in them: never log them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The subprotocols; one of them may be a key. */
  readonly protocols?: readonly string[] | undefined;
  /** Aborts when nobody waits for the socket any more. */
  readonly signal: AbortSignal;
}

/** Opens a socket; it may still be connecting when it is returned. It must not follow redirects. */
export type OpenSocket = (opening: Opening) => AgentSocket | Promise<AgentSocket>;

/** Whether the runtime's WebSocket takes headers. */
const takesHeaders = (): boolean =>
  /^(Node\.js|Deno|Bun)\//.test(globalThis.navigator?.userAgent ?? "");

const isWorkers = (): boolean => "WebSocketPair" in globalThis;

/** The address of a WebSocket, for fetch. */
const httpOf = (url: string): string => `http${url.slice(2)}`;

/** The exception for a response that isn't the expected one; nothing of it is read. */
const refusal = ({ status, body }: Response): AgentException => {
  body?.cancel().catch(() => {});
  const problem = status === 401 || status === 403 ? "agent_refused" : "agent_unreachable";
  return new AgentException(problem, status);
};

/** A GET. Bun sends one in plain http, which only loopback gets, to the proxy of the environment, unless `proxy` is false. */
const get = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<Response> =>
  fetch(url, {
    headers: { ...headers },
    redirect: "manual",
    signal,
    ...(/^http:/i.test(url) && { proxy: false }),
  });

/** Workers: an upgrade by fetch, whose socket is open when it is returned. */
const upgrade = async ({ url, headers, protocols, signal }: Opening): Promise<AgentSocket> => {
  const response = await fetch(httpOf(url), {
    headers: {
      ...headers,
      Upgrade: "websocket",
      ...(!headers && protocols && { "Sec-WebSocket-Protocol": protocols.join(", ") }),
    },
    redirect: "manual",
    signal,
  });
  const socket: (AgentSocket & { accept(): void }) | undefined | null = Reflect.get(
    response,
    "webSocket",
  );
  if (!socket) throw refusal(response);
  socket.binaryType = "arraybuffer";
  socket.accept();
  return socket;
};

/** Everywhere else: a WebSocket of the platform. */
const construct = ({ url, headers, protocols }: Opening): AgentSocket => {
  const how = headers && takesHeaders() ? { headers } : protocols;
  if (headers && !how) throw new AgentException("agent_unreachable", "needs_headers");
  return Reflect.construct(WebSocket, [url, how ?? []]);
};

/** Opens a socket in this runtime's way: with the key in a header, or in a subprotocol. */
export const openSocket: OpenSocket = (opening) =>
  isWorkers() ? upgrade(opening) : construct(opening);

/**
 * Throws why a socket of the platform was not opened: a WebSocket hides the status of the response. One GET of the
 * same address with the same headers shows it; without headers its status would not depend on the key.
 *
 * @throws {AgentException} with the status
 * @throws the platform's error when nothing answers, or the time is over
 */
const throwReason = async ({ url, headers, signal }: Opening): Promise<void> => {
  if (headers && takesHeaders()) throw refusal(await get(httpOf(url), headers, signal));
};

/** The longest response that has a signed URL, in characters. */
const maxTicket = 2 ** 20;

/** The JSON of a response. A body without an end ends with the request's signal. */
const readTicket = async ({ body }: Response): Promise<unknown> => {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxTicket) break;
  }
  return JSON.parse(text);
};

/** The URL to connect to: the agent's own, or one that its service signs. It is wss; ws to this machine, unless https signed it. */
const findUrl = async ({ url, ticket }: Address, signal: AbortSignal): Promise<string> => {
  const signer = ticket && routeOf(ticket.url);
  let found: unknown = ticket ? undefined : url;
  if (ticket && signer) {
    const response = await get(ticket.url, ticket.headers, signal);
    if (!response.ok) throw refusal(response);
    found = ticket.read(await readTicket(response));
  }
  const route = routeOf(found, "ws");
  if (isText(found) && (route === "https" || (route && signer !== "https"))) return found;
  throw new AgentException("agent_unreachable", "url");
};

/** Waits until a socket was opened or not. */
const untilOpen = (socket: AgentSocket, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const types = ["open", "error", "close"] as const;
    const settle = () => {
      signal.removeEventListener("abort", settle);
      const isOpen = withoutThrowing(() => {
        for (const type of types) socket.removeEventListener(type, settle);
        return socket.readyState === 1;
      });
      resolve(!!isOpen && !signal.aborted);
    };
    for (const type of types) socket.addEventListener(type, settle);
    signal.addEventListener("abort", settle);
    if (socket.readyState > 0 || signal.aborted) settle();
  });

/**
 * Closes a socket, whatever state it is in. One that isn't closed yet may still fail, as one does that was
 * connecting, and with `ws` an error that nobody listens to ends the process.
 */
export const release = (socket: AgentSocket): void => {
  const ignore = () => {};
  let timer: ReturnType<typeof cutInTime>;
  const forget = () => {
    clearTimeout(timer);
    socket.removeEventListener("error", ignore);
    socket.removeEventListener("close", forget);
  };
  withoutThrowing(() => {
    socket.addEventListener("error", ignore);
    socket.addEventListener("close", forget);
  });
  withoutThrowing(() => socket.close(1000)); // It may be closed.
  withoutThrowing(() => {
    if (socket.readyState === 3) forget();
    else timer = cutInTime(socket);
  });
};

/**
 * Connects to an agent. Once the signal has aborted, no further request is sent with the key.
 *
 * @param attach - is called before the socket is open, so that no message is missed
 * @throws {AgentException} whatever fails: a platform's own error may hold the URL or the headers
 * @throws what `address` throws: the error of the application's own function, such as the key's
 */
export const connect = async (
  address: () => Address | Promise<Address>,
  open: OpenSocket,
  signal: AbortSignal,
  attach: (socket: AgentSocket) => void,
): Promise<AgentSocket> => {
  let socket: AgentSocket | undefined;
  const found = await address();
  try {
    signal.throwIfAborted();
    const url = await findUrl(found, signal);
    signal.throwIfAborted();
    const opening = { url, headers: found.headers, protocols: found.protocols, signal };
    socket = await open(opening);
    signal.throwIfAborted();
    socket.binaryType = "arraybuffer";
    attach(socket);
    if (await untilOpen(socket, signal)) return socket;
    // A signed URL may be good for one request only, and an opener of the application's has its own errors.
    if (open === openSocket && !found.ticket) await throwReason(opening);
    throw new AgentException("agent_unreachable");
  } catch (error) {
    if (socket) release(socket);
    throw error instanceof AgentException ? error : new AgentException("agent_unreachable");
  }
};

/** The endpoint of an agent, and its credentials. */
export interface Address {
  /** A wss URL; plain ws on loopback only. Never with the key in it. */
  readonly url: string;
  /** Sent where the runtime's WebSocket can: on Node, Deno, Bun and Workers. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Offered where it can't, and always when there are no `headers`. */
  readonly protocols?: readonly string[] | undefined;
  /** A request that returns the URL to connect to, for services that sign one; then `url` isn't used. */
  readonly ticket?: Ticket | undefined;
}

/** A GET whose response has the URL to connect to. */
export interface Ticket {
  /** An https URL; plain http on loopback only. */
  readonly url: string;
  /** They hold a key: never log them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Finds the URL in the parsed JSON of the response. */
  readonly read: (body: unknown) => unknown;
}
