import type { Voice } from "../emulator/callee-script.ts";
import type { CallAudio } from "../emulator/recording/recording.ts";
import { readWav, wavHeadSize } from "../emulator/recording/wav.ts";
import { fail, isFunction, isRecord, isText } from "../lib/check.ts";
import { messageOf } from "../server/outgoing.ts";
import type { Segment } from "./detector.ts";

/** What is needed of a file system. */
interface FileSystem {
  readonly readFile: (path: string) => Promise<Uint8Array>;
  readonly mkdir: (path: string, options: { readonly recursive: true }) => Promise<unknown>;
  readonly writeFile: (path: string, content: string | Uint8Array) => Promise<unknown>;
}

/**
 * The file system of the runtime. It isn't imported: the entry is bundled for runtimes without one, too, and Workers refuse
 * a module whose name isn't written in an import.
 */
const loadFiles = (): FileSystem => {
  const host: unknown = Reflect.get(globalThis, "process");
  const load: unknown = isRecord(host) ? host.getBuiltinModule : undefined;
  const found: unknown =
    typeof load === "function" && Reflect.apply(load, host, ["node:fs/promises"]);
  return isFileSystem(found)
    ? found
    : fail("file", "needs a file system: here, pass bytes to wav, and keep the figures yourself");
};

const isFileSystem = (value: unknown): value is FileSystem =>
  isRecord(value) && [value.readFile, value.mkdir, value.writeFile].every(isFunction);

/**
 * Reads speech from a WAV of 16-bit PCM: the first channel, at its own rate.
 *
 * @param source - the path of a file, or its bytes where there is no file system
 * @throws {BadParametersException} (`placed: "no"`) when it can't be read, is no such WAV, or is cut off
 *
 * @example A voice from bytes
 * ```ts
 * import { wav } from "outdial/testing";
 *
 * // 44 bytes of a head, and two samples.
 * const head = [0x46464952, 40, 0x45564157, 0x20746d66, 16, 0x10001, 8_000, 16_000, 0x100002];
 * const bytes = new Uint8Array(new Uint32Array([...head, 0x61746164, 4, 0x2_0001]).buffer);
 * const { audio, sampleRate } = await wav(bytes);
 * console.log(sampleRate, audio.length); // 8000 2
 * ```
 * @see docs/simulated-calls.md
 */
export const wav = async (source: string | Uint8Array): Promise<Voice> => {
  const read = async (path: string) => {
    const { readFile } = loadFiles();
    return readFile(path).catch(() => fail("source", "can't be read"));
  };
  const bytes = isText(source) ? await read(source) : source;
  try {
    const { samples, sampleRate } = readWav(bytes);
    return { audio: samples, sampleRate };
  } catch (error) {
    return fail("source", messageOf(error));
  }
};

/**
 * Writes files into a folder, which is made if it is not there.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it can't be written
 */
export const writeFiles = async (
  folder: string,
  contents: Readonly<Record<string, string | Uint8Array>>,
): Promise<void> => {
  const { mkdir, writeFile } = loadFiles();
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(contents)) {
      await writeFile(`${folder.replace(/\/$/, "")}/${name}`, content);
    }
  } catch {
    fail("folder", "can't be written");
  }
};

/** The bytes of a sample of both sides. */
const wavFrame = 4;

/** Both voices as a WAV, without the tones of the caller's keys: they may be a PIN. */
export const withoutKeys = (
  audio: CallAudio,
  pressed: readonly Segment[],
): Uint8Array<ArrayBuffer> => {
  const wav = audio.wav();
  const perMs = audio.sample_rate / 1000;
  for (const { from, to } of pressed) {
    const end = Math.min(wav.length, wavHeadSize + Math.ceil(to * perMs) * wavFrame);
    for (let at = wavHeadSize + Math.floor(from * perMs) * wavFrame; at < end; at += wavFrame) {
      wav.fill(0, at, at + wavFrame / 2); // The caller is on the left.
    }
  }
  return wav;
};
