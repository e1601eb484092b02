import { custom, type GenericSchema, optional, strictObject } from "valibot";
import type { CalleeAct } from "../emulator/callee-script.ts";
import { version } from "../http/post.ts";
import { check, isFunction, isRecord, presence } from "../lib/check.ts";
import { hex, utf8 } from "../lib/encoding.ts";
import type { CallFigures, SimulatedText } from "./figures.ts";
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
  /** Of a flow: who has answered. Other inputs have the hash that they had. */
  readonly flow?: "person" | "machine" | undefined;
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
  if ("audio" in act) return { ...act, audio: await digestOf(bytesOf(act.audio)) };
  if ("text" in act) return { ...act, text: act.text.length };
  const { audio, sampleRate } = act.voice;
  return { ...act, voice: { sampleRate, audio: await digestOf(bytesOf(audio)) } };
};

/** The hash of what a call was simulated with. */
const hashOf = async ({ acts, ...rest }: Inputs): Promise<string> =>
  digestOf(utf8(JSON.stringify([rest, await Promise.all(acts.map(shortened))])));

/** A text of the transcript without keys and telephone numbers, and without the query of a URL, which may be signed. */
const shownText = ({ type, text }: SimulatedText): string => {
  if (type === "pressed") return `${text.length} keys`;
  if (type === "dialed") return "";
  return type === "played" ? text.replace(/[?#].*$/s, "") : text;
};

/** What a report leaves out. */
export interface ReportOptions {
  /**
   * Changes each text of the transcript and of the faults, and each argument of a tool that is a text or has one: reports are committed, and
   * may hold names.
   *
   * @defaultValue they stay as they are
   */
  readonly redact?: ((text: string) => string) | undefined;
}

const ReportOptionsSchema: GenericSchema<unknown, ReportOptions> = strictObject(
  {
    redact: optional(
      custom<NonNullable<ReportOptions["redact"]>>(isFunction, "must be a function"),
    ),
  },
  presence,
);

/** A value whose texts were redacted. */
const redacted = (value: unknown, redact: (text: string) => string): unknown => {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((each) => redacted(each, redact));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, redacted(field, redact)]),
  );
};

/**
 * The report of a call.
 *
 * @throws {BadParametersException} (`placed: "no"`) for an unknown option: with a typo the texts would stay as they are
 */
export const reportOf = async (
  call: CallFigures,
  inputs: Inputs,
  options: ReportOptions,
): Promise<Report> => {
  const { redact = (text: string) => text } = check(ReportOptionsSchema, () => options, "options");
  const { turns, firstAudio, response, stop, overlap, deadAir, faults, end, trust } = call;
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
    transcript: call.transcript.map((each) => ({ ...each, text: redact(shownText(each)) })),
    faults: faults.map((fault) => ({ ...fault, text: redact(fault.text) })),
    end,
    trust,
  };
};
