import { createBeepDetector } from "../lib/beep.ts";
import type { Answerer } from "../performer/line.ts";
import type { Connection } from "./connection.ts";
import { frameDuration, lineRate } from "./media.ts";

/** Who it is by their sound. */
export type Found = "person" | "machine" | "unknown";

/** How long a person's first words last at most, and how long it is quiet after them, in milliseconds. */
const longestWords = 1_500;
const quietAfterWords = 800;

/** How much must be audible of words, in milliseconds: less is a click. */
const shortestWords = 80;

/** How long it is quiet after a beep, in milliseconds: else it is a melody. */
const quietAfterBeep = 100;

/** How long the beep is waited for after a longer greeting, in milliseconds. */
const quietAfterGreeting = 2_500;

/** How long nothing is said until nobody waits any longer, and how long a greeting is followed, in milliseconds. */
const silenceTimeout = 5_000;
const greetingTimeout = 30_000;

/** The mean size of samples above which something sounds on a quiet line, and on the noisiest one. */
const quietest = 250;
const loudest = 1_500;

/** How much louder than the noise a sound is, and over how long the noise is the quietest frame, in milliseconds. */
const overNoise = 2.5;
const noiseDuration = 1_500;

const meanOf = (samples: Int16Array): number =>
  samples.reduce((sum, sample) => sum + Math.abs(sample), 0) / samples.length;

/** Finds sounds in frames: what is louder than the quietest of the last frames, which is the noise of the line. */
const createSoundDetector = (): ((samples: Int16Array) => boolean) => {
  let means: number[] = [];
  return (samples) => {
    const mean = meanOf(samples);
    means = [...means, mean].slice(-noiseDuration / frameDuration);
    const noise = Math.min(...means);
    return mean > Math.min(Math.max(quietest, overNoise * noise), loudest);
  };
};

/**
 * Finds out who has answered, from the callee's audio since the answer. A beep is a machine's. First words of at most 1.5 s,
 * and then 0.8 s of quiet, are a person's. What is neither stays unknown: a longer greeting without a beep, and silence.
 *
 * @returns takes frames of 20 ms at 8 kHz; who it is, once that is known
 */
export const createMachineDetector = (): ((samples: Int16Array) => Found | undefined) => {
  const beepIn = createBeepDetector(lineRate);
  const isSound = createSoundDetector();
  let now = 0;
  /** When the first words began, when it sounded last, and for how long it sounded. */
  let [from, to, audible] = [0, 0, 0];
  let beepedAt: number | undefined;
  return (samples) => {
    now += frameDuration;
    const sounds = isSound(samples);
    const beep = beepIn(samples);
    if (sounds) {
      if (audible === 0) from = now - frameDuration;
      to = now;
      audible += frameDuration;
    }
    if (beep === "ended") beepedAt = now;
    else if (
      beep === "sounds" ||
      (sounds && beepedAt !== undefined && now > beepedAt + frameDuration)
    ) {
      beepedAt = undefined;
    }
    const quiet = now - to;
    if (beepedAt !== undefined && now - beepedAt >= quietAfterBeep) return "machine";
    if (now >= greetingTimeout) return "unknown";
    if (audible === 0) return now >= silenceTimeout ? "unknown" : undefined;
    if (quiet < quietAfterWords) return undefined;
    if (audible < shortestWords) {
      audible = 0;
      return undefined;
    }
    if (to - from <= longestWords) return "person";
    return quiet >= quietAfterGreeting ? "unknown" : undefined;
  };
};

/** How often it is looked whether packets come, in milliseconds. */
const interval = 200;

/** How long none come until that is silence, in milliseconds: sooner it may be a stall of this machine. */
const packetTimeout = 2_500;

const quietFrame = (lineRate * frameDuration) / 1_000;

/** What finding out who has answered needs of a call. Times are in milliseconds since the answer. */
interface AnsweredCall {
  readonly talkTime: number;
  readonly isOver: boolean;
}

/**
 * Finds out who has answered a telephone.
 *
 * @param wait - waits until a time
 */
export const whoAnswered = async (
  call: AnsweredCall,
  connection: Connection,
  wait: (until: number) => Promise<void>,
): Promise<Answerer> => {
  const detector = createMachineDetector();
  let found: Found | undefined;
  let receivedUntil = call.talkTime;
  const receive = (samples: Int16Array) => {
    receivedUntil = call.talkTime;
    found ??= detector(samples);
  };
  const stop = connection.onPacket(receive);
  while (!found && !call.isOver) {
    await wait(call.talkTime + interval);
    const missing = Math.floor((call.talkTime - receivedUntil) / frameDuration);
    if (missing * frameDuration < packetTimeout) continue;
    for (let frame = 0; frame < missing; frame++) receive(new Int16Array(quietFrame));
  }
  stop();
  return found === "machine" ? { readyAt: call.talkTime, beeps: true } : (found ?? "unknown");
};
