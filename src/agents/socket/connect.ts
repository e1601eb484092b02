import { BadParametersException } from "../../errors.ts";
import { routeOf } from "../../rules/url.ts";
import type { Address } from "../agent.ts";
import { AgentException } from "../exception.ts";
import { askFor } from "./open.ts";
import type { AgentSocket, OpenSocket } from "./socket.ts";

/** Whether a socket may be opened there: wss everywhere, ws to this machine, if that is allowed. */
const isAllowed = (url: unknown, plain: boolean): url is string => {
  if (typeof url !== "string" || !/^ws/i.test(url)) return false;
  const route = routeOf(`http${url.slice(2)}`);
  return route === "https" || (route === "loopback" && plain);
};

/** The URL to connect to: the agent's own, or one that its service signs. */
const urlOf = async ({ url, ticket }: Address, signal: AbortSignal): Promise<string> => {
  const asked = ticket && routeOf(ticket.url);
  if (ticket && !asked) throw new AgentException("agent_unreachable", "url");
  const found = ticket ? ticket.read(await askFor(ticket.url, ticket.headers, signal)) : url;
  if (!isAllowed(found, asked !== "https")) throw new AgentException("agent_unreachable", "url");
  return found;
};

const opened = (socket: AgentSocket, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const types = ["open", "error", "close"] as const;
    const settle = () => {
      for (const type of types) socket.removeEventListener(type, settle);
      signal.removeEventListener("abort", settle);
      if (socket.readyState === 1 && !signal.aborted) resolve();
      else reject(new AgentException("agent_unreachable"));
    };
    for (const type of types) socket.addEventListener(type, settle);
    signal.addEventListener("abort", settle);
    if (socket.readyState > 0 || signal.aborted) settle();
  });

/** Lets a socket go, whatever state it is in. */
export const release = (socket: AgentSocket, code = 1000): void => {
  try {
    socket.close(code);
  } catch {
    // It is closed.
  }
};

/**
 * Opens the socket of an agent.
 *
 * @param attach - is called before the socket is open, so that no message is missed
 * @throws {AgentException} whatever goes wrong: a platform's own error may hold the URL or the headers
 * @throws {BadParametersException} when the key isn't one
 */
export const connect = async (
  address: () => Address | Promise<Address>,
  open: OpenSocket,
  signal: AbortSignal,
  attach: (socket: AgentSocket) => void,
): Promise<AgentSocket> => {
  try {
    const found = await address();
    const url = await urlOf(found, signal);
    const { headers, protocols } = found;
    const socket = await open({ url, headers, protocols, signal });
    socket.binaryType = "arraybuffer";
    attach(socket);
    try {
      await opened(socket, signal);
    } catch (error) {
      release(socket);
      throw error;
    }
    return socket;
  } catch (error) {
    if (error instanceof AgentException || error instanceof BadParametersException) throw error;
    throw new AgentException("agent_unreachable");
  }
};
