import { type Contender, ourLine } from "./contender.ts";
import { Socket } from "./socket.ts";

/** A relay that does nothing but put the audio into the other's message: nobody can do with less. */
export const relay: Contender = {
  ...ourLine,
  connect: async () => {
    const [line, mind] = [new Socket(), new Socket()];
    line.addEventListener("message", ({ data }) => {
      const audio = JSON.parse(String(data)).data.audio_b64;
      mind.send(JSON.stringify({ type: "input_audio_buffer.append", audio }));
    });
    mind.addEventListener("message", ({ data }) => {
      const { type, delta } = JSON.parse(String(data));
      if (type === "input_audio_buffer.speech_started") line.send('{"type":"clear"}');
      else line.send(JSON.stringify({ type: "audio", audio_b64: delta, chunk_id: "1" }));
    });
    return { line, mind, close: () => {} };
  },
};
