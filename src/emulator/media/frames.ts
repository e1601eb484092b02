import { base64 } from "../../bytes/base64.ts";
import { bytesOf, tone } from "../recording/sound.ts";

/** The tone that stands for the person on the line. It repeats every 100 ms. */
export const hertz = 440;

/** Gives the audio of the nth message, in base64. */
export type Frames = (index: number) => string;

/**
 * The tone, cut into messages. There are only as many different ones as fit the tone's phases, so
 * each is made once.
 *
 * @param length - milliseconds of one message, a multiple of 20
 */
export const frames = (sampleRate: number, length: number): Frames => {
  const count = (sampleRate * length) / 1000;
  const made = new Map<number, string>();
  return (index) => {
    const phase = (index * count) % (sampleRate / 10);
    const known = made.get(phase);
    if (known) return known;
    const frame = base64(bytesOf(tone(hertz, sampleRate, phase, count)));
    made.set(phase, frame);
    return frame;
  };
};
