import { connect, createServer, type Socket } from "node:net";

/** An address on loopback that stays the same while the server behind it is replaced. */
export interface Front {
  readonly url: string;
  /** Connections go to this port from now on; without one they are closed. */
  readonly forwardTo: (port: number | undefined) => void;
  readonly close: () => Promise<void>;
}

export const startFront = async (): Promise<Front> => {
  let target: number | undefined;
  const sockets = new Set<Socket>();
  const server = createServer((incoming) => {
    if (target === undefined) return incoming.destroy();
    const outgoing = connect(target, "127.0.0.1");
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    forwardTo: (port) => {
      target = port;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};
