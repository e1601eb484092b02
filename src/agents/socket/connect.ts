import { BadParametersException } from "../../errors.ts";
import { quietly } from "../../rules/quietly.ts";
import { routeOf } from "../../rules/url.ts";
import type { Address } from "../agent.ts";
import { AgentException } from "../exception.ts";
import { askFor } from "./open.ts";
import type { AgentSocket, OpenSocket } from "./socket.ts";

/** Whether a socket may be opened there: wss everywhere, ws to this machine, if that is allowed. */
const isAllowed = (url: unknown, plain: boolean): url is string => {
  const route = routeOf(url, "ws");
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
      signal.removeEventListener("abort", settle);
      const isOpen = quietly(() => {
        for (const type of types) socket.removeEventListener(type, settle);
        return socket.readyState === 1;
      });
      if (isOpen && !signal.aborted) resolve();
      else reject(new AgentException("agent_unreachable"));
    };
    for (const type of types) socket.addEventListener(type, settle);
    signal.addEventListener("abort", settle);
    if (socket.readyState > 0 || signal.aborted) settle();
  });

/**
 * Lets a socket go, whatever state it is in. One that isn't closed yet may still fail, as one does that was
 * connecting, and with `ws` an error that nobody hears ends the process.
 */
export const release = (socket: AgentSocket): void => {
  const ignore = () => {};
  const forget = () => {
    socket.removeEventListener("error", ignore);
    socket.removeEventListener("close", forget);
  };
  quietly(() => {
    socket.addEventListener("error", ignore);
    socket.addEventListener("close", forget);
  });
  quietly(() => socket.close(1000)); // It may be closed.
  quietly(() => socket.readyState === 3 && forget());
};

/**
 * Opens the socket of an agent. Once the signal has aborted, nothing more is asked for with the key.
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
  let socket: AgentSocket | undefined;
  const proceed = () => {
    if (signal.aborted) throw new AgentException("agent_unreachable");
  };
  try {
    const found = await address();
    proceed();
    const url = await urlOf(found, signal);
    proceed();
    const { headers, protocols } = found;
    socket = await open({ url, headers, protocols, signal });
    proceed();
    socket.binaryType = "arraybuffer";
    attach(socket);
    await opened(socket, signal);
    return socket;
  } catch (error) {
    if (socket) release(socket);
    if (error instanceof AgentException || error instanceof BadParametersException) throw error;
    throw new AgentException("agent_unreachable");
  }
};
