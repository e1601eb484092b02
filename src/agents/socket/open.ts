import { countedText } from "../../request/answer/read.ts";
import { AgentException } from "../exception.ts";
import type { AgentSocket, Opening, OpenSocket } from "./socket.ts";

/** Runtimes whose WebSocket takes headers, by their own names. */
const takesHeaders = (): boolean =>
  /^(Node\.js|Deno|Bun)\//.test(globalThis.navigator?.userAgent ?? "");

const isWorkers = (): boolean => "WebSocketPair" in globalThis;

/** An answer that isn't what was asked for: nothing of it is read. */
const refused = ({ status, body }: Response): never => {
  body?.cancel().catch(() => {});
  const problem = status === 401 || status === 403 ? "agent_refused" : "agent_unreachable";
  throw new AgentException(problem, status);
};

/** Workers: an upgrade by fetch, whose socket is open when it comes. */
const upgrade = async ({ url, headers, protocols, signal }: Opening): Promise<AgentSocket> => {
  const response = await fetch(`http${url.slice(2)}`, {
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
  if (!socket) return refused(response);
  socket.binaryType = "arraybuffer";
  socket.accept();
  return socket;
};

/** Everywhere else: a WebSocket of the platform. */
const construct = ({ url, headers, protocols }: Opening): AgentSocket => {
  if (headers && takesHeaders()) return Reflect.construct(WebSocket, [url, { headers }]);
  if (headers && !protocols) throw new AgentException("agent_unreachable", "needs_headers");
  return new WebSocket(url, [...(protocols ?? [])]);
};

/** Opens a socket as this runtime does it best: the key in a header, or in a subprotocol. */
export const openSocket: OpenSocket = (opening) =>
  isWorkers() ? upgrade(opening) : construct(opening);

/**
 * Asks a service for the URL that it signs: in an answer of at most 1 MiB.
 *
 * @throws {AgentException}
 */
export const askFor = async (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> => {
  const response = await fetch(url, { headers: { ...headers }, redirect: "manual", signal });
  if (!response.ok) refused(response);
  return JSON.parse(await countedText(response, signal));
};
