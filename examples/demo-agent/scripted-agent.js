// An agent that speaks OpenAI's Realtime protocol over a real WebSocket, without a model behind it: it answers
// with tones, and stops when the callee speaks. As a command it prints its URL: `node scripted-agent.js`.
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";

/** Milliseconds of audio per message, and how much faster than real time they are sent. */
const delta = 100;
const pace = 5;

/** Milliseconds of silence that end the callee's turn. */
const patience = 300;

const rate = 24_000;

/** Two tones whose volume changes four times a second. */
const speech = (hertz, at, ms) => {
  const samples = Int16Array.from({ length: (ms * rate) / 1000 }, (_, index) => {
    const time = at / 1000 + index / rate;
    const wave = Math.sin(2 * Math.PI * hertz * time) + Math.sin(3 * Math.PI * hertz * time) / 2;
    return 6000 * wave * (0.6 + 0.4 * Math.sin(8 * Math.PI * time));
  });
  return Buffer.from(samples.buffer).toString("base64");
};

const converse = (socket, sentences, log) => {
  const send = (message) =>
    socket.send(JSON.stringify({ event_id: crypto.randomUUID(), ...message }));
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
      const sound = speech(sentence.hertz, at, delta);
      send({ type: "response.output_audio.delta", ...where, delta: sound });
      at += delta;
      if (at < sentence.ms) return;
      clearInterval(making);
      send({ type: "response.done", response: { id, status: "completed" } });
    }, delta / pace);
  };

  const receive = (audio) => {
    const samples = new Int16Array(new Uint8Array(Buffer.from(audio, "base64")).buffer);
    const isLoud = samples.some((sample) => Math.abs(sample) > 2000);
    silence = isLoud ? 0 : silence + (samples.length / rate) * 1000;
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

  const handlers = {
    "session.update": ({ session }) => send({ type: "session.updated", session }),
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
