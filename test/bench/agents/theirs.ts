import { TwilioRealtimeTransportLayer } from "@openai/agents-extensions";
import type { WebSocket } from "ws";
import { type Contender, sessionUpdated, tick } from "./contender.ts";
import { Socket } from "./socket.ts";

const audio = { payload: Buffer.alloc(160, 0x5a).toString("base64"), timestamp: "0" };

/** What they are told of a session: the same turn detection as ours. */
export const sessionConfig = {
  audio: {
    input: {
      turnDetection: {
        type: "server_vad",
        createResponse: true,
        interruptResponse: true,
      },
    },
  },
} as const;

/** How a stream begins there. */
export const started = JSON.stringify({
  event: "start",
  streamSid: "MZ1",
  start: {
    streamSid: "MZ1",
    mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
  },
});

/** `@openai/agents-extensions`, on the line of the only service that it knows: 8 kHz, and acknowledged. */
export const theirs: Contender = {
  connect: async () => {
    const [line, mind] = [new Socket(), new Socket()];
    const transport = new TwilioRealtimeTransportLayer({
      twilioWebSocket: line as unknown as WebSocket,
      createWebSocket: async () => mind as unknown as WebSocket,
      skipOpenEventListeners: true,
    });
    transport.on("error", (error) => console.error(error));
    const connected = transport.connect({
      apiKey: "sk-key",
      model: "gpt-realtime",
      initialSessionConfig: sessionConfig,
    });
    line.emit(started);
    await tick();
    mind.emit(sessionUpdated);
    await connected;
    return { line, mind, close: () => line.end() };
  },
  said: () => JSON.stringify({ event: "media", streamSid: "MZ1", media: audio }),
  msOf: (message) => {
    const { payload = "" } = JSON.parse(message).media ?? {};
    return (payload.length * 3) / 4 / 8;
  },
  isClear: (message) => message.startsWith('{"event":"clear"'),
};
