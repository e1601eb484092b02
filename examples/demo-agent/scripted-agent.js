// An agent that speaks OpenAI's Realtime protocol over a real WebSocket, without a model behind it: it answers
// with tones, and stops when the callee speaks. As a command it prints its URL: `node scripted-agent.js`.
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";

/** Milliseconds of audio per message, and how much faster than real time they are sent. */
const delta = 100;
const pace = 5;

/** Milliseconds of silence that end the callee's turn. */
const patience = 300;

/** G.711 μ-law: a sign, the segment of the magnitude, and four bits within it. */
const encodeUlaw = (sample) => {
  const magnitude = Math.min(Math.abs(sample), 32_635) + 132;
  const segment = 24 - Math.clz32(magnitude);
  return ~((sample < 0 ? 0x80 : 0) | (segment << 4) | ((magnitude >> (segment + 3)) & 15));
};
const decodeUlaw = (byte) => {
  const magnitude = (((~byte & 15) * 8 + 132) << ((~byte >> 4) & 7)) - 132;
  return byte & 0x80 ? magnitude : -magnitude;
};

/** G.711 A-law: the same, with every other bit inverted; its two lowest segments have the same steps. */
const encodeAlaw = (sample) => {
  const magnitude = (sample < 0 ? ~sample : sample) >> 4;
  const segment = Math.max(0, 28 - Math.clz32(magnitude));
  const bits = (segment << 4) | ((magnitude >> Math.max(0, segment - 1)) & 15);
  return (bits | (sample < 0 ? 0 : 0x80)) ^ 0x55;
};
const decodeAlaw = (byte) => {
  const bits = byte ^ 0x55;
  const segment = (bits >> 4) & 7;
  const step = (bits & 15) * 16 + 8;
  const magnitude = segment === 0 ? step : (step + 256) << (segment - 1);
  return bits & 0x80 ? magnitude : -magnitude;
};

const g711 = (encode, decode) => ({
  rate: 8000,
  encode: (samples) => Uint8Array.from(samples, encode),
  decode: (bytes) => Int16Array.from(bytes, decode),
});

/** The formats of the protocol: each has one rate. */
const formats = {
  "audio/pcm": {
    rate: 24_000,
    encode: (samples) => new Uint8Array(samples.buffer),
    decode: (bytes) => new Int16Array(bytes.buffer),
  },
  "audio/pcmu": g711(encodeUlaw, decodeUlaw),
  "audio/pcma": g711(encodeAlaw, decodeAlaw),
};

/** Two tones whose volume changes four times a second. */
const speech = ({ rate, encode }, hertz, at, ms) => {
  const samples = Int16Array.from({ length: (ms * rate) / 1000 }, (_, index) => {
    const time = at / 1000 + index / rate;
    const wave = Math.sin(2 * Math.PI * hertz * time) + Math.sin(3 * Math.PI * hertz * time) / 2;
    return 6000 * wave * (0.6 + 0.4 * Math.sin(8 * Math.PI * time));
  });
  return Buffer.from(encode(samples)).toString("base64");
};

const converse = (socket, sentences, log) => {
  const send = (message) =>
    socket.send(JSON.stringify({ event_id: crypto.randomUUID(), ...message }));
  let input = formats["audio/pcm"];
  let output = input;
  let next = 0;
  let making;
  let isCalleeSpeaking = false;
  let silence = 0;

  const respond = () => {
    const sentence = sentences[next++];
    if (!sentence) return;
    const id = `resp_${next}`;
    let at = 0;
    log(`responds: ${sentence.ms} ms of speech`);
    send({ type: "response.created", response: { id, status: "in_progress" } });
    making = setInterval(() => {
      const where = { response_id: id, item_id: `item_${next}`, output_index: 0, content_index: 0 };
      const sound = speech(output, sentence.hertz, at, delta);
      send({ type: "response.output_audio.delta", ...where, delta: sound });
      at += delta;
      if (at < sentence.ms) return;
      clearInterval(making);
      send({ type: "response.done", response: { id, status: "completed" } });
    }, delta / pace);
  };

  const receive = (audio) => {
    const samples = input.decode(new Uint8Array(Buffer.from(audio, "base64")));
    const isLoud = samples.some((sample) => Math.abs(sample) > 2000);
    silence = isLoud ? 0 : silence + (samples.length / input.rate) * 1000;
    if (isLoud && !isCalleeSpeaking) {
      isCalleeSpeaking = true;
      clearInterval(making);
      log("detects speech: speech_started");
      send({ type: "input_audio_buffer.speech_started", item_id: "item_0", audio_start_ms: 0 });
    } else if (isCalleeSpeaking && silence >= patience) {
      isCalleeSpeaking = false;
      respond();
    }
  };

  /** What an update leaves out stays as it was. */
  const update = (session) => {
    input = formats[session.audio?.input?.format?.type] ?? input;
    output = formats[session.audio?.output?.format?.type] ?? output;
    send({ type: "session.updated", session });
  };

  const handlers = {
    "session.update": ({ session }) => update(session),
    "response.create": respond,
    "input_audio_buffer.append": ({ audio }) => receive(audio),
    "conversation.item.truncate": ({ audio_end_ms }) =>
      log(`gets truncate: ${audio_end_ms} ms were played`, audio_end_ms),
  };
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    handlers[message.type]?.(message);
  });
  socket.on("close", () => clearInterval(making));
};

/**
 * @param sentences - its responses, one after the other: `{ hertz, ms }`
 * @param log - called with each step
 */
export const startAgent = (sentences, log) =>
  new Promise((resolve) => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => {
      resolve({ url: `ws://127.0.0.1:${server.address().port}/`, close: () => server.close() });
    });
    server.on("connection", (socket) => converse(socket, sentences, log));
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const sentences = Array.from({ length: 100 }, (_, index) => ({ hertz: 180 + index, ms: 3000 }));
  const { url } = await startAgent(sentences, (what) => console.log(what));
  console.log(`export AGENT_URL=${url}`);
}
