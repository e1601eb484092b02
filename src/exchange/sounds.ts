import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { MPEGDecoder } from "mpg123-decoder";
import { resample } from "../emulator/recording/track.ts";
import { readWav } from "../emulator/recording/wav.ts";
import { withoutThrowing } from "../lib/check.ts";
import { lineRate } from "./media.ts";

/** A program of the operator's that speaks: it reads the text from its standard input, and writes a WAV. */
export interface SpeechCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** How long a spoken text is kept, in milliseconds, and how many are. */
const keptFor = 24 * 3_600_000;
const maxKept = 500;

/** How long speaking may take, in milliseconds, and how much it may give, in bytes. */
const speechTimeout = 20_000;
const maxSpeech = 64 * 2 ** 20;

/** Runs the program: no shell, and the text is no option of it. */
const run = ({ command, args }: SpeechCommand, text: string): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: speechTimeout,
      killSignal: "SIGKILL",
    });
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > maxSpeech) child.kill("SIGKILL");
    });
    child.on("error", () => reject(new TypeError("the program that speaks can't be started")));
    child.on("close", (code) => {
      if (code === 0) resolve(Buffer.concat(chunks));
      else reject(new TypeError("the program that speaks has failed"));
    });
    // A program that ends before it has read all closes its input.
    child.stdin.on("error", () => {});
    child.stdin.end(text);
  });

/** All channels in one, as 16-bit samples. */
const mixed = (channels: readonly Float32Array[]): Int16Array => {
  const samples = new Int16Array(channels[0]?.length ?? 0);
  for (let at = 0; at < samples.length; at++) {
    const sum = channels.reduce((total, channel) => total + (channel[at] ?? 0), 0);
    samples[at] = Math.max(-1, Math.min(1, sum / channels.length)) * 32_767;
  }
  return samples;
};

const readMp3 = async (bytes: Uint8Array): Promise<Int16Array> => {
  const decoder = new MPEGDecoder();
  try {
    await decoder.ready;
    const { channelData, sampleRate, samplesDecoded } = decoder.decode(bytes);
    if (samplesDecoded === 0) throw new TypeError("is neither a WAV of 16-bit PCM nor an MP3");
    return resample(mixed(channelData), sampleRate, lineRate);
  } finally {
    decoder.free();
  }
};

/**
 * The samples of a WAV or an MP3, at the rate of a telephone.
 *
 * @throws {TypeError} when it is neither, as the end of a sentence
 */
export const readSound = async (bytes: Uint8Array): Promise<Int16Array> => {
  const wav = withoutThrowing(() => readWav(bytes));
  return wav ? resample(wav.samples, wav.sampleRate, lineRate) : readMp3(bytes);
};

/** What was spoken, under a digest of its text: texts hold names and codes. */
interface Spoken {
  readonly samples: Promise<Int16Array>;
  readonly until: number;
}

/** Speaks texts by a program of the operator's, and keeps them for a while. */
export class Speech {
  readonly #command: SpeechCommand;
  readonly #spoken = new Map<string, Spoken>();

  constructor(command: SpeechCommand) {
    this.#command = command;
  }

  /**
   * The samples of a text, at the rate of a telephone.
   *
   * @throws {TypeError} when the program fails, as a sentence about it
   */
  speak(text: string): Promise<Int16Array> {
    const now = Date.now();
    this.#expire(now);
    const digest = createHash("sha256").update(text).digest("base64");
    const known = this.#spoken.get(digest);
    if (known) return known.samples;
    const samples = run(this.#command, text).then(readSound);
    samples.catch(() => this.#spoken.delete(digest));
    this.#spoken.set(digest, { samples, until: now + keptFor });
    return samples;
  }

  /** Drops what is too old, and the oldest of what is too much. */
  #expire(now: number): void {
    for (const [digest, { until }] of this.#spoken) {
      if (until > now && this.#spoken.size < maxKept) return;
      this.#spoken.delete(digest);
    }
  }
}
