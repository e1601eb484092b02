import { safeParse } from "valibot";
import { FromApplication } from "../../flows/media.ts";
import { halved, samplesOf } from "../recording/sound.ts";
import type { Speech } from "../recording/speech.ts";

const parse = (data: unknown): unknown => {
  if (typeof data !== "string") throw new TypeError("must be text");
  try {
    return JSON.parse(data);
  } catch {
    throw new TypeError("must be JSON");
  }
};

/**
 * Does what an application's message says.
 *
 * @param now - the sample that is being heard
 * @throws {TypeError} what is wrong with the message
 */
export const obey = (speech: Speech, data: unknown, sampleRate: number, now: number): void => {
  const { success, output, issues } = safeParse(FromApplication, parse(data));
  if (!success) {
    const { path, message } = issues[0];
    throw new TypeError([path?.map(({ key }) => key).join("."), message].filter(Boolean).join(" "));
  }
  if (output.type === "clear") speech.clear(now);
  else if (output.type === "interrupt") speech.interrupt(output.chunk_id, now);
  else {
    const { audio_b64, chunk_id } = output;
    const samples = samplesOf(audio_b64);
    speech.say(sampleRate === 16_000 ? halved(samples) : samples, chunk_id, now);
  }
};
