import type { CalleeAct } from "../emulator/callee-script.ts";
import { version } from "../http/post.ts";
import { isRecord } from "../lib/check.ts";
import { hex, utf8 } from "../lib/encoding.ts";
import type { CallFigures } from "./figures.ts";
import type { LineFaults } from "./line.ts";

/** What a call was simulated with, by which two reports can be compared. */
export interface Inputs {
  /** The name of the carrier; outdial's own interface without one. */
  readonly service: string | undefined;
  readonly line: LineFaults;
  readonly time: "virtual" | "real";
  /** The name of the detector: another finds other ends of the same speech. */
  readonly detector: string;
  /** When the call was ended at the latest, in milliseconds. */
  readonly maxDuration: number;
  /** What the caller did. */
  readonly acts: readonly CalleeAct[];
}

/** A report of a simulated call, as `report.json` has it. All times are in milliseconds. */
export interface Report extends Omit<CallFigures, "audio"> {
  /** The version of this form. */
  readonly version: 1;
  /** The version of this package. */
  readonly outdial: string;
  /** A hash of the caller's script and voices, of the line's faults and seed, and of the longest duration. */
  readonly inputs: string;
}

const digestOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> =>
  hex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new Uint8Array(buffer, byteOffset, byteLength));

/** An act without its samples, its text and its keys, which a report must not have. */
const shortened = async (act: CalleeAct): Promise<unknown> => {
  if (act.type === "press") return { type: "press", keys: act.digits.length };
  if (act.type !== "say") return act;
  if ("audio" in act) return { type: "say", audio: await digestOf(bytesOf(act.audio)) };
  if ("text" in act) return { ...act, text: act.text.length };
  const { audio, sampleRate } = act.voice;
  return { ...act, voice: { sampleRate, audio: await digestOf(bytesOf(audio)) } };
};

/** The hash of what a call was simulated with. */
const hashOf = async ({ acts, ...rest }: Inputs): Promise<string> =>
  digestOf(utf8(JSON.stringify([rest, await Promise.all(acts.map(shortened))])));

/** What a report leaves out. */
export interface ReportOptions {
  /**
   * Changes each text of the transcript, and each argument of a tool that is a text or has one: reports are committed, and
   * may hold names.
   *
   * @defaultValue they stay as they are
   */
  readonly redact?: ((text: string) => string) | undefined;
}

/** A value whose texts were redacted. */
const redacted = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, redacted(field, redact)]),
  );
};

/** The report of a call. */
export const reportOf = async (
  call: CallFigures,
  inputs: Inputs,
  { redact = (text) => text }: ReportOptions,
): Promise<Report> => {
  const { turns, firstAudio, response, stop, overlap, deadAir, end, trust } = call;
  return {
    version: 1,
    outdial: version,
    inputs: await hashOf(inputs),
    turns,
    firstAudio,
    response,
    stop,
    overlap,
    deadAir,
    tools: call.tools.map((tool) => ({ ...tool, args: redacted(tool.args, redact) })),
    transcript: call.transcript.map((each) => ({ ...each, text: redact(each.text) })),
    end,
    trust,
  };
};
