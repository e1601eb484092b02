import { once } from "node:events";
import { createServer } from "node:http";
import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import { WebSocket, WebSocketServer } from "ws";
import { type AgentServer, listen } from "../../agents/server.ts";
import { sessionConfig, started } from "./theirs.ts";

/** What a callee had heard when an answer was cut off, in ms. */
export interface Cut {
  readonly heard: number;
  /** What had been sent of it. */
  readonly sent: number;
  /** Bytes of audio of it that were sent afterwards. */
  readonly after: number;
  /** Samples that were heard afterwards. */
  readonly audible: number;
}

/** What is known of audio that was sent: when it is heard, and how long it is. */
interface Piece {
  readonly from: number;
  readonly ms: number;
}

/** μ-law of silence, and of something loud. */
const [silence, loud] = [0xff, 0x20];

/** How often the callee is heard, in ms. */
const frame = 20;

const now = () => performance.now();

/**
 * The telephone of a line with Twilio's framing: plays what it is sent, tells each mark once what was sent
 * before it was heard, and on `clear` throws the rest away and tells the marks of it.
 */
class Telephone {
  readonly pieces: Piece[] = [];
  readonly #tell: (mark: string) => void;
  readonly #marks = new Map<string, ReturnType<typeof setTimeout>>();
  #until = 0;
  cutAt: number | undefined;
  after = 0;

  constructor(tell: (mark: string) => void) {
    this.#tell = tell;
  }

  /** Milliseconds of what was sent up to now that were heard. */
  heard(at = now()): number {
    return this.pieces.reduce((sum, { from, ms }) => sum + Math.min(ms, Math.max(0, at - from)), 0);
  }

  obey(text: string): void {
    const { event, media, mark } = JSON.parse(text);
    if (event === "media") this.#play((media.payload.length * 3) / 4 / 8);
    if (event === "clear") this.#clear();
    if (event !== "mark") return;
    const { name } = mark;
    const tell = () => {
      this.#marks.delete(name);
      this.#tell(name);
    };
    this.#marks.set(name, setTimeout(tell, Math.max(0, this.#until - now())));
  }

  #play(ms: number): void {
    if (this.cutAt !== undefined) {
      this.after += ms * 8;
      return;
    }
    const from = Math.max(now(), this.#until);
    this.pieces.push({ from, ms });
    this.#until = from + ms;
  }

  #clear(): void {
    this.cutAt ??= now();
    this.#until = 0;
    for (const [name, timer] of this.#marks) {
      clearTimeout(timer);
      this.#tell(name);
    }
    this.#marks.clear();
  }
}

/** The callee of the emulator's script: listens for so long, speaks for 300 ms, waits 400 ms, hangs up. */
const callee = async (url: string, listens: number): Promise<Cut> => {
  const socket = new WebSocket(url);
  const send = (message: object) => {
    if (socket.readyState === 1) socket.send(JSON.stringify(message));
  };
  const telephone = new Telephone((name) =>
    send({ event: "mark", streamSid: "MZ1", mark: { name } }),
  );
  socket.on("message", (data) => telephone.obey(String(data)));
  await once(socket, "open");
  socket.send(started);
  let speaksFrom: number | undefined;
  const began = now();
  for (let at = 0; at - (speaksFrom ?? at) < 700; at += frame) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + at + frame - now())));
    if (telephone.heard() >= listens) speaksFrom ??= at;
    const isLoud = speaksFrom !== undefined && at - speaksFrom < 300;
    const payload = Buffer.alloc(frame * 8, isLoud ? loud : silence).toString("base64");
    send({ event: "media", streamSid: "MZ1", media: { payload, timestamp: String(at) } });
  }
  socket.close();
  await once(socket, "close");
  const { pieces, cutAt, after } = telephone;
  return {
    heard: telephone.heard(cutAt),
    sent: pieces.reduce((sum, { ms }) => sum + ms, 0),
    after,
    audible: after,
  };
};

/** A call with their transport between a line of Twilio's framing and an agent, on real sockets. */
export const twilioCall = async ({ url }: AgentServer, listens: number): Promise<Cut> => {
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const port = await listen(server);
  sockets.on("connection", async (socket) => {
    const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
    transport.on("error", (error) => console.error(error));
    await transport.connect({
      apiKey: "sk-key",
      model: "gpt-realtime",
      url,
      initialSessionConfig: sessionConfig,
    });
    transport.sendEvent({ type: "response.create" });
  });
  try {
    return await callee(`ws://127.0.0.1:${port}/`, listens);
  } finally {
    sockets.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};
