// Interruptions in whole calls on real sockets, compared with what the callee's telephone played.
import { once } from "node:events";
import { createServer } from "node:http";
import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import { openaiRealtime } from "outdial/agents";
import { WebSocket, WebSocketServer } from "ws";
import { call } from "../../agents/application.ts";
import { serveOpenai } from "../../agents/protocols.ts";
import { type AgentServer, listen } from "../../agents/server.ts";
import { sessionConfig, started } from "./contenders.ts";

/** What the callee had heard when the response was interrupted. */
interface Cut {
  /** Milliseconds of the response that were played. */
  readonly played: number;
  /** Milliseconds of it that were sent. */
  readonly sent: number;
  /** Bytes of it that were sent afterwards. */
  readonly after: number;
  /** Samples of it that were played afterwards. */
  readonly audible: number;
}

/** Audio that was sent: when it is played, and how long it is, in ms. */
interface Piece {
  readonly from: number;
  readonly ms: number;
}

/** μ-law of silence, and of something loud. */
const [silence, loud] = [0xff, 0x20];

/** The length of the callee's frames, in ms. */
const frame = 20;

const now = () => performance.now();

/**
 * A telephone with Twilio's framing: plays the audio that it receives, acknowledges each mark when the audio before
 * it was played, and on `clear` drops the rest and acknowledges its marks.
 */
class Telephone {
  readonly pieces: Piece[] = [];
  readonly #acknowledge: (mark: string) => void;
  readonly #marks = new Map<string, ReturnType<typeof setTimeout>>();
  #until = 0;
  cutAt: number | undefined;
  after = 0;

  constructor(acknowledge: (mark: string) => void) {
    this.#acknowledge = acknowledge;
  }

  /** Milliseconds that were played. */
  played(at = now()): number {
    return this.pieces.reduce((sum, { from, ms }) => sum + Math.min(ms, Math.max(0, at - from)), 0);
  }

  receive(text: string): void {
    const { event, media, mark } = JSON.parse(text);
    if (event === "media") this.#play((media.payload.length * 3) / 4 / 8);
    if (event === "clear") this.#clear();
    if (event !== "mark") return;
    const { name } = mark;
    const acknowledge = () => {
      this.#marks.delete(name);
      this.#acknowledge(name);
    };
    this.#marks.set(name, setTimeout(acknowledge, Math.max(0, this.#until - now())));
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
      this.#acknowledge(name);
    }
    this.#marks.clear();
  }
}

/** The callee of `callOurs`: listens, speaks for 300 ms, waits 400 ms, hangs up. */
const callee = async (url: string, listens: number): Promise<Cut> => {
  const socket = new WebSocket(url);
  const send = (message: object) => {
    if (socket.readyState === 1) socket.send(JSON.stringify(message));
  };
  const telephone = new Telephone((name) =>
    send({ event: "mark", streamSid: "MZ1", mark: { name } }),
  );
  socket.on("message", (data) => telephone.receive(String(data)));
  await once(socket, "open");
  socket.send(started);
  let speaksFrom: number | undefined;
  const began = now();
  for (let at = 0; at - (speaksFrom ?? at) < 700; at += frame) {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + at + frame - now())));
    if (telephone.played() >= listens) speaksFrom ??= at;
    const isLoud = speaksFrom !== undefined && at - speaksFrom < 300;
    const payload = Buffer.alloc(frame * 8, isLoud ? loud : silence).toString("base64");
    send({ event: "media", streamSid: "MZ1", media: { payload, timestamp: String(at) } });
  }
  socket.close();
  await once(socket, "close");
  const { pieces, cutAt, after } = telephone;
  return {
    played: telephone.played(cutAt),
    sent: pieces.reduce((sum, { ms }) => sum + ms, 0),
    after,
    audible: after,
  };
};

/** A call with the peer's transport between a telephone with Twilio's framing and an agent. */
const callTheirs = async ({ url }: AgentServer, listens: number): Promise<Cut> => {
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

/** Interruptions, compared with what the telephone played. */
export interface Interrupted {
  /** `audio_end_ms` less what was played, in ms, of each. */
  readonly apart: readonly number[];
  /** How often it was more than the audio that was sent. */
  readonly over: number;
  /** Bytes of the interrupted responses that were sent after the `clear`. */
  readonly after: number;
  /** Samples of them that were played after the `clear`. */
  readonly audible: number;
}

/** A call whose callee interrupts after some milliseconds of the agent's response. */
type Calling = (server: AgentServer, listens: number) => Promise<Cut>;

const callOurs: Calling = async (server, listens) => {
  const { audio, sent } = await call(openaiRealtime({ apiKey: "sk-key", url: server.url }), {
    emulator: {
      callee: [
        { type: "listen", ms: listens },
        { type: "tone", hertz: 300, ms: 300 },
        { type: "silence", ms: 400 },
        { type: "hangup" },
      ],
    },
  });
  const until = audio.cuts[0]?.at_ms ?? Number.NaN;
  const pieces = audio.played.filter(({ from_ms }) => from_ms <= until);
  const ms = (key: "samples" | "total") =>
    pieces.reduce((sum, piece) => sum + (piece[key] / piece.sample_rate) * 1000, 0);
  const cleared = sent.findIndex(({ type }) => type === "clear");
  const after = sent.slice(cleared + 1).reduce((sum, { bytes }) => sum + bytes, 0);
  const audible = audio.played
    .filter(({ from_ms }) => from_ms > until)
    .reduce((sum, { samples }) => sum + samples, 0);
  return { played: ms("samples"), sent: ms("total"), after, audible };
};

/** Interruptions at different moments, each in a call of its own. */
const interrupted = async (calling: Calling, count: number): Promise<Interrupted> => {
  const apart: number[] = [];
  let over = 0;
  let after = 0;
  let audible = 0;
  for (let round = 0; round < count; round++) {
    const server = await serveOpenai({ answers: [6000], late: 5 });
    const cut = await calling(server, 300 + ((round * 137) % 1500));
    const [truncation] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    const { audio_end_ms = Number.NaN } = Object(truncation);
    apart.push(audio_end_ms - cut.played);
    if (audio_end_ms > cut.sent) over++;
    after += cut.after;
    audible += cut.audible;
    await server.close();
  }
  return { apart, over, after, audible };
};

/** Of `connectAgent`, through the emulator. */
export const interruptedOurs = (count: number): Promise<Interrupted> =>
  interrupted(callOurs, count);

/** Of `@openai/agents-extensions`, through a telephone with Twilio's framing and the same callee. */
export const interruptedTheirs = (count: number): Promise<Interrupted> =>
  interrupted(callTheirs, count);
