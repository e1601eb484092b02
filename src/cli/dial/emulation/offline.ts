import { Socket as DatagramSocket } from "node:dgram";
import { Socket } from "node:net";

/** What reaches other hosts, and where a program finds it. */
const doors: readonly (readonly [owner: object, name: string])[] = [
  [globalThis, "fetch"],
  [globalThis, "WebSocket"],
  [globalThis, "EventSource"],
  [Socket.prototype, "connect"],
  [DatagramSocket.prototype, "connect"],
  [DatagramSocket.prototype, "send"],
];

/** What a script's own requests get. */
export const offlineRule = "--emulate reaches no host, so nothing is requested";

const closed = (): never => {
  throw new Error(offlineRule);
};

/** What `fetch` does in the place of a request: it rejects, and doesn't throw. */
const rejecting = async (): Promise<never> => closed();

/**
 * Lets nothing in this process reach another host, or this machine's own servers: a script may do that by itself, and its
 * steps would act on calls that were never placed.
 *
 * @returns opens what was closed
 */
export const goOffline = (): (() => void) => {
  const opened = doors.map(([owner, name]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
    const value = name === "fetch" ? rejecting : closed;
    // A method that its class inherits, as on Bun, is covered by one of its own.
    Object.defineProperty(owner, name, { value, configurable: true, writable: true });
    return (): void => {
      Reflect.deleteProperty(owner, name);
      if (before) Object.defineProperty(owner, name, before);
    };
  });
  return () => {
    for (const open of opened) open();
  };
};
