import { connect, createServer, type Socket } from "node:net";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

/** A port whose queue of connections is full: the packets of the next one vanish. */
export interface Deaf {
  readonly port: number;
  readonly close: () => void;
}

/** How many connections fill the queue. */
const fillers = 8;

/** Listens in a thread that then sleeps, so that nobody ever accepts. */
export const listenDeaf = async (): Promise<Deaf> => {
  const lock = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL(import.meta.url), { workerData: lock });
  const port = await new Promise<number>((resolve) => worker.once("message", resolve));
  const sockets: Socket[] = [];
  for (let filler = 0; filler < fillers; filler++) {
    sockets.push(connect(port, "127.0.0.1").on("error", () => {}));
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  return {
    port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      Atomics.store(lock, 0, 1);
      Atomics.notify(lock, 0);
    },
  };
};

if (!isMainThread && workerData instanceof Int32Array) {
  const lock = workerData;
  const server = createServer();
  server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
    const address = server.address();
    parentPort?.postMessage(typeof address === "object" && address?.port);
    Atomics.wait(lock, 0, 0);
    process.exit();
  });
}
