import { fail, withoutThrowing } from "../lib/check.ts";
import { isSilent } from "../lib/loudness.ts";
import { booleanRule, checkOptions, type Rule, textRule } from "../lib/rules.ts";
import type { Agent } from "./agent.ts";
import { type AudioFormat, bytesPerMs, Converter, isFormat } from "./audio/resample.ts";
import type { CallOpening } from "./options.ts";

/** Samples of the application's, as bytes. */
export interface OwnAudio {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly format: AudioFormat;
}

/** An opening that was checked. */
export interface OpeningWords extends Pick<CallOpening, "text" | "keep"> {
  readonly audio: OwnAudio | undefined;
  readonly interruptible: boolean;
}

/**
 * Audio of the application's.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it is something else
 */
export const ownAudioOf = (audio: unknown, sampleRate: unknown): OwnAudio => {
  const isView = audio instanceof Int16Array || audio instanceof Uint8Array;
  // That of a buffer that was given away is empty, too.
  const isWhole = isView && audio.byteLength > 0 && audio.byteLength % 2 === 0;
  if (!isWhole || !(audio.buffer instanceof ArrayBuffer)) {
    return fail("audio", "must be an Int16Array of samples, or a Uint8Array of their bytes");
  }
  const bytes = new Uint8Array(audio.buffer, audio.byteOffset, audio.byteLength);
  if (String.fromCharCode(...bytes.subarray(0, 4)) === "RIFF") {
    fail("audio", "is a WAV file: give its samples without the header");
  }
  const rate = typeof sampleRate === "number" ? sampleRate : 0;
  const format = { encoding: "pcm", sampleRate: rate } as const;
  if (!isFormat(format)) fail("sampleRate", "must be 8000, 16000, 24000 or the like");
  return { bytes, format };
};

/** Its milliseconds. */
export const durationOf = ({ bytes, format }: OwnAudio): number =>
  bytes.length / bytesPerMs(format);

/** It in the format of a line, without a copy if that is its own. */
export const onLine = ({ bytes, format }: OwnAudio, line: AudioFormat): readonly Uint8Array[] => {
  const converter = new Converter(format, line);
  return [converter.push(bytes), converter.flush()];
};

/** Whether none of it is audible, in stretches of 20 ms. */
const isMute = ({ bytes, format }: OwnAudio): boolean => {
  const size = 20 * bytesPerMs(format);
  for (let at = 0; at < bytes.length; at += size) {
    if (!isSilent(bytes.subarray(at, at + size), format.encoding)) return false;
  }
  return true;
};

/** A rule of what is checked elsewhere. */
export const checkedBelow: Rule = [() => true, ""];

/**
 * The opening of a call.
 *
 * @throws {BadParametersException} (`placed: "no"`) when it breaks a rule, or is a text and the agent can't say it
 */
export const openingOf = (
  given: CallOpening | undefined,
  { can, codec }: Agent,
): OpeningWords | undefined => {
  if (!given) return;
  const { text, audio, sampleRate, interruptible = false, keep } = given;
  checkOptions(given, {
    text: textRule,
    audio: checkedBelow,
    sampleRate: checkedBelow,
    interruptible: booleanRule,
    keep: booleanRule,
  });
  const says = can?.say ?? withoutThrowing(() => !!codec({ sampleRate: 8000 }).say);
  if (audio === undefined && !(text && says)) {
    fail("opening", "needs audio: this agent says no text word for word");
  }
  const words = audio && ownAudioOf(audio, sampleRate);
  if (words && isMute(words)) fail("audio", "is silent: it would disclose nothing");
  return { text, audio: words, interruptible, keep };
};
