import { createServer } from "node:http";
import { calls } from "outdial";
import {
  type Agent,
  type AgentSession,
  connectAgent,
  type SessionEnd,
  type SessionOptions,
  type WarmAgent,
} from "outdial/agents";
import {
  type CallAudio,
  type Callee,
  createEmulator,
  type Emulator,
  type EmulatorOptions,
} from "outdial/emulator";
import type { MediaSocket } from "outdial/flows";
import { type WebSocket as Socket, WebSocketServer } from "ws";
import type { Hearing } from "./callee.ts";
import { listen } from "./server.ts";

/** A call on which an agent is put, from the answer to its end. */
export interface AgentCall {
  readonly id: string;
  readonly end: SessionEnd;
  /** The moment of that, by `performance.now()`. */
  readonly endedAt: number;
  /** What the emulator knows of both voices. */
  readonly audio: CallAudio;
  /** What the application sent, with the moment, by `performance.now()`, and the bytes of audio in it. */
  readonly sent: readonly { readonly at: number; readonly type: string; readonly bytes: number }[];
  readonly errors: readonly unknown[];
}

/** How a call is made. */
export interface Calling {
  readonly sample_rate?: "8k" | "16k";
  readonly chunk_size?: number;
  readonly emulator?: EmulatorOptions;
  /** Who answers, where they must know what they have heard. */
  readonly callee?: (hearing: Hearing) => Callee;
  readonly talk?: SessionOptions;
  /** Sees the talk as it begins, and the application's end of the socket. */
  readonly onTalk?: (talk: AgentSession, socket: Socket) => void;
}

/** Calls somebody through the emulator, on real sockets, and puts an agent on the line. */
export const call = async (
  agent: Agent | (() => Agent | WarmAgent),
  {
    sample_rate = "8k",
    chunk_size = 20,
    callee,
    emulator: options,
    talk: how,
    onTalk,
  }: Calling = {},
): Promise<AgentCall> => {
  const sent: { at: number; type: string; bytes: number }[] = [];
  const errors: unknown[] = [];
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const port = await listen(server);
  let isConnected = false;
  let endedAt = 0;
  const ended = new Promise<SessionEnd>((resolve) => {
    sockets.on("connection", (socket) => {
      isConnected = true;
      const send: (message: string) => void = socket.send.bind(socket);
      socket.send = (message: string) => {
        const { type, audio_b64 = "" } = JSON.parse(message);
        sent.push({ at: performance.now(), type, bytes: Buffer.byteLength(audio_b64, "base64") });
        send(message);
      };
      const talk = connectAgent(
        socket as unknown as MediaSocket,
        typeof agent === "function" ? agent() : agent,
        { onError: (error) => errors.push(error), ...how },
      );
      onTalk?.(talk, socket);
      talk.ended.then((end) => {
        endedAt = performance.now();
        resolve(end);
      });
    });
  });
  const flow = { action: "stream", ws_url: `ws://127.0.0.1:${port}/`, sample_rate, chunk_size };
  const emulator: Emulator = createEmulator({
    ringDuration: 0,
    responseTimeout: 120_000, // Only ends what hangs: the machine may do much else.
    fetch: ({ url }) =>
      url.endsWith("/flow") ? Response.json(flow) : new Response(null, { status: 204 }),
    ...options,
    ...(callee && { callee: callee((id) => emulator.audio(id)) }),
  });
  try {
    const { id } = await calls.create(
      {
        from_number: "+12025550199",
        to_number: "+12025550100",
        flow_url: "http://127.0.0.1/flow",
        status_callback_url: "http://127.0.0.1/status",
      },
      {
        apiKey: emulator.apiKey,
        baseUrl: "http://127.0.0.1:1",
        fetch: (url, init) => emulator.fetch(new Request(url, init)),
      },
    );
    const { history } = await emulator.ended(id);
    if (!isConnected) throw new Error(`no media socket was opened: ${JSON.stringify(history)}`);
    const end = await ended;
    const audio = emulator.audio(id);
    if (!audio) throw new Error("no audio is known of the call");
    return { id, end, endedAt, audio, sent, errors };
  } finally {
    await emulator.close();
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};
