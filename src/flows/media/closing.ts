import { isFunction, withoutThrowing } from "../../lib/check.ts";

/** How long a peer may take to answer a close, in ms. */
const closeTimeout = 2000;

/**
 * Cuts the connection of a socket that is being closed, if its peer doesn't answer the close in time: else the socket
 * stays open for as long as the peer likes. Only some sockets can be cut.
 *
 * @returns the timer, to be cleared once the socket is closed; nothing for a socket that can't be cut
 */
export const cutInTime = (socket: {
  terminate?(): void;
}): ReturnType<typeof setTimeout> | undefined =>
  isFunction(socket.terminate)
    ? setTimeout(() => withoutThrowing(() => socket.terminate?.()), closeTimeout)
    : undefined;
