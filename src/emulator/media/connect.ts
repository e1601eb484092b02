import { withDeadline } from "../../request/deadline.ts";

/** What opens a WebSocket. */
export type SocketMaker = new (url: string) => WebSocket;

/**
 * Opens a WebSocket, or throws why it can't be opened.
 *
 * @param WebSocket - `undefined` in a runtime that has none
 * @param respondWithin - milliseconds on the wall
 */
export const connect = async (
  url: string,
  WebSocket: SocketMaker | undefined,
  respondWithin: number,
  signal: AbortSignal,
): Promise<WebSocket> => {
  if (!WebSocket) throw new TypeError("needs a WebSocket, which this runtime has not");
  const socket = new WebSocket(url);
  const opened = new Promise<void>((resolve, reject) => {
    const fail = () => reject(new TypeError("could not be opened"));
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", fail);
    socket.addEventListener("close", fail);
  });
  const late = () => new TypeError(`did not open within ${respondWithin} ms`);
  try {
    await withDeadline(respondWithin, signal, late, () => opened);
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
};
