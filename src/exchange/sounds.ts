import { spawn } from "node:child_process";
import { createHmac, randomBytes } from "node:crypto";
import { resample } from "../emulator/recording/track.ts";
import { readWav } from "../emulator/recording/wav.ts";
import { readBody } from "../lib/body.ts";
import { withoutThrowing } from "../lib/check.ts";
import { lineRate } from "./media.ts";

/** A program of the operator's that speaks: it reads the text from its standard input, and writes a WAV or an MP3. */
interface SpeechCommand {
  readonly command: string;
  readonly args: readonly string[];
}

/** A service of the operator's that speaks: it receives the text as the body of a POST, and answers a WAV or an MP3. */
interface SpeechService {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What speaks. */
export type SpeechSource = SpeechCommand | SpeechService;

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

/** Asks the service. */
const ask = async ({ url, headers }: SpeechService, text: string): Promise<Uint8Array> => {
  const signal = AbortSignal.timeout(speechTimeout);
  const type = { "Content-Type": "text/plain; charset=UTF-8" };
  const init = { method: "POST", headers: { ...type, ...headers }, body: text, signal };
  const fail = (): never => {
    throw new TypeError("the service that speaks gave no answer");
  };
  const response = await fetch(url, init).catch(fail);
  if (!response.ok) throw new TypeError(`the service that speaks answered HTTP ${response.status}`);
  const { bytes, isWhole } = await readBody(response, maxSpeech, signal).catch(fail);
  if (isWhole) return bytes;
  throw new TypeError("the service that speaks answered more than 64 MiB");
};

/** All channels in one, as 16-bit samples. */
const mixed = (channels: readonly Float32Array[]): Int16Array => {
  const samples = new Int16Array(channels[0]?.length ?? 0);
  for (let at = 0; at < samples.length; at++) {
    const sum = channels.reduce((total, channel) => total + (channel[at] ?? 0), 0);
    samples[at] = Math.max(-1, Math.min(1, sum / channels.length)) * 32_767;
  }
  return samples;
};

/** The decoder is the operator's to install: its licence, the LGPL, is another than ours. */
const mp3Decoder = async () => {
  try {
    const { MPEGDecoder } = await import("mpg123-decoder");
    return new MPEGDecoder();
  } catch {
    throw new TypeError("is no WAV of 16-bit PCM; an MP3 needs npm install mpg123-decoder");
  }
};

const readMp3 = async (bytes: Uint8Array): Promise<Int16Array> => {
  const decoder = await mp3Decoder();
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
  /** Digests of the numbers that it was spoken to. */
  readonly numbers: Set<string>;
}

/** Speaks texts by a program or a service of the operator's, and keeps them for a day at most. */
export class Speech {
  readonly #source: SpeechSource;
  /** Of this process alone: a digest of a short text tells nobody the text. */
  readonly #key = randomBytes(32);
  /** The oldest first. */
  readonly #spoken = new Map<string, Spoken>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: SpeechSource) {
    this.#source = source;
  }

  /** How many texts are kept. */
  get size(): number {
    return this.#spoken.size;
  }

  /**
   * The samples of a text, at the rate of a telephone.
   *
   * @param number - who hears it
   * @throws {TypeError} when the program or the service fails, as a sentence about it
   */
  speak(text: string, number: string): Promise<Int16Array> {
    const digest = this.#digestOf(text);
    const to = this.#digestOf(number);
    const known = this.#spoken.get(digest);
    if (known) {
      known.numbers.add(to);
      return known.samples;
    }
    const source = this.#source;
    const spoken = "url" in source ? ask(source, text) : run(source, text);
    const samples = spoken.then(readSound);
    const kept = { samples, until: Date.now() + keptFor, numbers: new Set([to]) };
    samples.catch(() => {
      if (this.#spoken.get(digest) === kept) this.#spoken.delete(digest);
    });
    this.#spoken.set(digest, kept);
    this.#expire();
    return samples;
  }

  /** Drops all that was spoken to a number. */
  erase(number: string): void {
    const erased = this.#digestOf(number);
    for (const [digest, { numbers }] of this.#spoken) {
      if (numbers.has(erased)) this.#spoken.delete(digest);
    }
  }

  /** Drops everything. */
  close(): void {
    clearTimeout(this.#timer);
    this.#spoken.clear();
  }

  #digestOf(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64");
  }

  /** Drops what is too old, and the oldest of what is too much, and again once the next one is too old. */
  #expire(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    for (const [digest, { until }] of this.#spoken) {
      if (until > now && this.#spoken.size <= maxKept) {
        this.#timer = setTimeout(() => this.#expire(), until - now).unref();
        return;
      }
      this.#spoken.delete(digest);
    }
  }
}
