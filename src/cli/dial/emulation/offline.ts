import { Socket as DatagramSocket } from "node:dgram";
import { Socket } from "node:net";

/** What a script's own requests get. */
export const offlineRule = "--emulate reaches no host, so nothing is requested";

const closed = (): never => {
  throw new Error(offlineRule);
};

/** In the place of a class. */
class Closed {
  constructor() {
    closed();
  }
}

/** What reaches other hosts, where a program finds it, and what takes its place. */
const doors: readonly (readonly [owner: object, name: string, closed: unknown])[] = [
  [globalThis, "fetch", async () => closed()],
  [globalThis, "WebSocket", Closed],
  [globalThis, "EventSource", Closed],
  [Socket.prototype, "connect", closed],
  [DatagramSocket.prototype, "connect", closed],
  [DatagramSocket.prototype, "send", closed],
];

/**
 * Lets nothing in this process reach another host, or this machine's own servers: a script may do that by itself, and its
 * steps would act on calls that were never placed.
 *
 * @returns opens what was closed
 */
export const goOffline = (): (() => void) => {
  const opened = doors.map(([owner, name, value]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name);
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
