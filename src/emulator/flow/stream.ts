import type { Stream } from "../../flows/action.ts";
import type { MediaAudio, MediaStart } from "../../flows/media.ts";
import { ulid } from "../random.ts";
import { sampleAt } from "../recording/recording.ts";
import { Speech } from "../recording/speech.ts";
import { begin } from "./begin.ts";
import { connect } from "./connect.ts";
import { FlowError } from "./flow-error.ts";
import { frames, hertz } from "./frames.ts";
import { obey } from "./obey.ts";
import type { Perform } from "./parts.ts";

const sampleRates = { "8k": 8_000, "16k": 16_000 } as const;

/** Bytes that may wait in the socket before no more are sent. */
const mostBuffered = 2 ** 20;

/** How many of the messages that could not be understood the history explains. */
const explained = 5;

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

/** Connects the call's audio to an application, until one of them goes. */
export const stream: Perform<Stream> = async (streaming, parts) => {
  const { call, action, step, place } = streaming;
  const { ws_url, sample_rate = "8k", chunk_size = 400, record = true, flow_url } = action;
  const sampleRate = sampleRates[sample_rate];
  const field = `${place}ws_url`;
  const socket = await connect(ws_url, parts, call.over.signal).catch((error) => {
    throw new FlowError(step, field, String(Object(error).message));
  });
  const stream_id = `st_${ulid(call.timeline.now(), parts.random)}`;
  const speech = record ? call.recording.speech : new Speech();
  const malformed: string[] = [];
  let sent = 0;
  let received = 0;
  const note = (state: "open" | "closed") =>
    call.note({
      type: "stream",
      step,
      stream_id,
      state,
      sent,
      received,
      malformed: [...malformed],
    });
  const send = (message: Omit<MediaStart, "message_id"> | Omit<MediaAudio, "message_id">) =>
    socket.send(JSON.stringify({ ...message, message_id: ++sent }));

  begin(streaming);
  note("open");
  socket.addEventListener("message", ({ data }) => {
    received++;
    try {
      obey(speech, data, sampleRate, sampleAt(call.talked));
    } catch (error) {
      if (malformed.length < explained) malformed.push(String(Object(error).message));
    }
  });
  socket.addEventListener("close", () => call.timeline.skip());
  call.over.signal.addEventListener("abort", () => socket.close(1000));
  const { accountId: account_id } = parts;
  const data = { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 } as const;
  send({ type: "start", account_id, call_id: call.id, stream_id, data });
  await breathe();
  const frame = frames(sampleRate, chunk_size);
  const from = call.talked;
  let takes = true;
  for (let index = 0; takes && socket.readyState === 1; index++) {
    await call.timeline.wait(from + (index + 1) * chunk_size - call.talked);
    takes = await drained(socket, parts.respondWithin);
    if (takes && socket.readyState === 1) {
      send({ type: "audio", stream_id, data: { audio_b64: frame(index) } });
      await breathe();
    }
  }
  socket.close(1000);
  speech.clear(sampleAt(call.talked));
  if (record) call.recording.sound(hertz, from, call.talked);
  note("closed");
  if (!takes) throw new FlowError(step, field, "took nothing that was sent");
  return flow_url;
};
