// An agent that speaks OpenAI's Realtime protocol over a real WebSocket, without a model behind it: it says
// two sentences of a tone, and is silent when it hears somebody.
import { WebSocketServer } from "ws";

/** Milliseconds of audio in a message, and how much faster than speech it is made. */
const delta = 100;
const pace = 5;

/** Silence that ends a turn, in ms. */
const patience = 300;

const rate = 24_000;

/** A voice of sorts: two tones that come and go, four times a second. */
const speech = (hertz, at, ms) => {
  const samples = Int16Array.from({ length: (ms * rate) / 1000 }, (_, index) => {
    const time = at / 1000 + index / rate;
    const wave = Math.sin(2 * Math.PI * hertz * time) + Math.sin(3 * Math.PI * hertz * time) / 2;
    return 6000 * wave * (0.6 + 0.4 * Math.sin(8 * Math.PI * time));
  });
  return Buffer.from(samples.buffer).toString("base64");
};

const converse = (socket, sentences, tell) => {
  const send = (message) =>
    socket.send(JSON.stringify({ event_id: crypto.randomUUID(), ...message }));
  let next = 0;
  let making;
  let isHearing = false;
  let silence = 0;

  const answer = () => {
    const sentence = sentences[next++];
    if (!sentence) return;
    const id = `resp_${next}`;
    let at = 0;
    tell(`answers: ${sentence.ms} ms of speech`);
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

  const hear = (audio) => {
    const samples = new Int16Array(new Uint8Array(Buffer.from(audio, "base64")).buffer);
    const isLoud = samples.some((sample) => Math.abs(sample) > 2000);
    silence = isLoud ? 0 : silence + (samples.length / rate) * 1000;
    if (isLoud && !isHearing) {
      isHearing = true;
      clearInterval(making);
      tell("hears somebody: speech_started");
      send({ type: "input_audio_buffer.speech_started", item_id: "item_0", audio_start_ms: 0 });
    } else if (isHearing && silence >= patience) {
      isHearing = false;
      answer();
    }
  };

  const does = {
    "session.update": ({ session }) => send({ type: "session.updated", session }),
    "response.create": answer,
    "input_audio_buffer.append": ({ audio }) => hear(audio),
    "conversation.item.truncate": ({ audio_end_ms }) =>
      tell(`is told that ${audio_end_ms} ms of it were heard`, audio_end_ms),
  };
  socket.on("message", (data) => {
    const message = JSON.parse(data);
    does[message.type]?.(message);
  });
  socket.on("close", () => clearInterval(making));
};

/**
 * @param sentences - what it says, one after the other: `{ hertz, ms }`
 * @param tell - hears what it does
 */
export const startAgent = (sentences, tell) =>
  new Promise((resolve) => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0 }, () => {
      resolve({ url: `ws://127.0.0.1:${server.address().port}/`, close: () => server.close() });
    });
    server.on("connection", (socket) => converse(socket, sentences, tell));
  });
