import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { createEmulator, type Emulator, type EmulatorOptions } from "outdial/emulator";

/** The emulator on a port of this machine, and its ends of the media sockets. */
export interface Service {
  readonly emulator: Emulator;
  readonly baseUrl: string;
  readonly sockets: readonly ServiceSocket[];
  /** How many of them aren't closed yet. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

const samplesIn = (audio_b64: string): Int16Array => {
  const bytes = new Uint8Array(Buffer.from(audio_b64, "base64"));
  return new Int16Array(bytes.buffer);
};

const joined = (pieces: readonly Int16Array[]): Int16Array =>
  Int16Array.from(pieces.flatMap((piece) => [...piece]));

/** A real socket that keeps the audio of both directions. */
export class ServiceSocket extends WebSocket {
  closed: { readonly code: number; readonly reason: string } | undefined;
  readonly #asked: Int16Array[] = [];
  readonly #answered: Int16Array[] = [];

  constructor(url: string) {
    super(url);
    this.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "audio") this.#answered.push(samplesIn(message.audio_b64));
    });
    this.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason };
    });
  }

  override send(text: string): void {
    const message = JSON.parse(text);
    if (message.type === "audio") this.#asked.push(samplesIn(message.data.audio_b64));
    super.send(text);
  }

  /** What the person said, in samples. */
  get asked(): Int16Array {
    return joined(this.#asked);
  }

  /** What the agent said. */
  get answered(): Int16Array {
    return joined(this.#answered);
  }
}

export const startService = async (options: EmulatorOptions = {}): Promise<Service> => {
  const sockets: ServiceSocket[] = [];
  class Counted extends ServiceSocket {
    constructor(url: string) {
      super(url);
      sockets.push(this);
    }
  }
  const emulator = createEmulator({ speed: 5, ringFor: 200, WebSocket: Counted, ...options });
  const server = serve({
    fetch: (request) => emulator.fetch(request),
    port: 0,
    hostname: "127.0.0.1",
  });
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    emulator,
    baseUrl: `http://127.0.0.1:${port}`,
    sockets,
    // Not by readyState: Node's own stays at CLOSING where the other end has let go of the connection.
    open: () => sockets.filter(({ closed }) => !closed).length,
    close: async () => {
      emulator.reset(); // Nobody is there any more to be notified of what a test has left.
      await emulator.close();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** Asks until it is so, or fails once it has taken longer than on any busy machine. */
export const until = async (what: string, isSo: () => unknown): Promise<void> => {
  const end = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`Not so after 30 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
