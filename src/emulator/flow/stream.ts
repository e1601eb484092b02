import { base64 } from "../../bytes/base64.ts";
import type { Stream } from "../../flows/action.ts";
import type { MediaAudio, MediaStart } from "../../flows/media/service.ts";
import type { Call } from "../line/call.ts";
import { connect } from "../media/connect.ts";
import { type Frames, frames, hertz } from "../media/frames.ts";
import { Heeding } from "../media/heeding.ts";
import { bytesOf } from "../recording/sound.ts";
import { sampleAt } from "../recording/track.ts";
import { wordsOf } from "../words.ts";
import { begin } from "./begin.ts";
import { elapse } from "./elapse.ts";
import { FlowError } from "./flow-error.ts";
import type { Perform } from "./parts.ts";

const sampleRates = { "8k": 8_000, "16k": 16_000 } as const;

/** Bytes that may wait in the socket before no more are sent. */
const mostBuffered = 2 ** 20;

/** Lets the application answer what was sent, which no clock may outrun. */
const breathe = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

/** Waits while the application takes less than it is sent; gives up when it takes nothing at all. */
const drained = async (socket: WebSocket, respondWithin: number): Promise<boolean> => {
  let least = socket.bufferedAmount;
  let since = Date.now();
  while (socket.readyState === 1 && socket.bufferedAmount > mostBuffered) {
    await breathe();
    if (socket.bufferedAmount < least) {
      least = socket.bufferedAmount;
      since = Date.now();
    } else if (Date.now() - since > respondWithin) return false;
  }
  return true;
};

/** What the person says, or the tone that stands for one who says nothing of their own. */
const voiceOf = (call: Call, sampleRate: number, length: number): Frames => {
  const { person, recording, talked: from } = call;
  const count = (sampleRate * length) / 1000;
  if (person) {
    const start = sampleAt(from, sampleRate);
    return (index) => {
      const mixing = { sampleRate, now: call.talked, all: true };
      return base64(bytesOf(recording.voice("callee", start + index * count, count, mixing)));
    };
  }
  const frame = frames(sampleRate, length);
  const hum = recording.callee.tone(hertz, from, from);
  return (index) => {
    hum.to = from + (index + 1) * length;
    return frame(index);
  };
};

/** Connects the call's audio to an application, until one of them goes. */
export const stream: Perform<Stream> = async (streaming, parts) => {
  const { call, action, step, place } = streaming;
  const { ws_url, sample_rate = "8k", chunk_size = 400, record = true, flow_url } = action;
  const { accountId: account_id, respondWithin } = parts;
  const sampleRate = sampleRates[sample_rate];
  const field = `${place}ws_url`;
  const socket = await connect(ws_url, parts.WebSocket, respondWithin, call.over.signal).catch(
    (error) => {
      throw new FlowError(step, field, wordsOf(error));
    },
  );
  const stream_id = `st_${parts.newId(call.timeline.now())}`;
  const from = call.talked;
  const heeding = new Heeding(call.recording, sampleRate, ({ type: by, ...cut }) =>
    call.note({ type: "cut", step, by, ...cut }),
  );
  let sent = 0;
  const note = (state: "open" | "closed") =>
    call.note({ type: "stream", step, stream_id, state, from_ms: from, sent, ...heeding.counts });
  const send = (message: Omit<MediaStart, "message_id"> | Omit<MediaAudio, "message_id">) =>
    socket.send(JSON.stringify({ ...message, message_id: ++sent }));
  const isOpen = () => socket.readyState === 1;

  begin(streaming);
  note("open");
  if (!record) call.recording.pause(from);
  socket.addEventListener("message", ({ data }) => heeding.heed(data, call.talked));
  socket.addEventListener("close", () => call.timeline.skip());
  call.over.signal.addEventListener("abort", () => socket.close(1000));
  const data = { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 } as const;
  send({ type: "start", account_id, call_id: call.id, stream_id, data });
  await breathe();
  const voice = voiceOf(call, sampleRate, chunk_size);
  let takes = true;
  for (let index = 0; takes && isOpen(); index++) {
    await elapse(call, from + (index + 1) * chunk_size, isOpen);
    takes = await drained(socket, respondWithin);
    if (takes && isOpen()) {
      send({ type: "audio", stream_id, data: { audio_b64: voice(index) } });
      await breathe();
    }
  }
  socket.close(1000);
  heeding.end(call.talked);
  if (!record) call.recording.resume(call.talked);
  note("closed");
  if (!takes) throw new FlowError(step, field, "took nothing that was sent");
  return flow_url;
};
