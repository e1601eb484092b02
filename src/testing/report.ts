import { custom, type GenericSchema, optional, strictObject } from "valibot";
import type { CalleeAct } from "../emulator/callee-script.ts";
import { version } from "../http/post.ts";
import { check, fail, isRecord, presence } from "../lib/check.ts";
import { hex, utf8 } from "../lib/encoding.ts";
import type { CallFigures } from "./figures.ts";
import type { LineFaults } from "./line.ts";
import type { Turn } from "./turns.ts";

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

/** What a figure may get worse by: both must be exceeded. */
export interface ComparisonRules {
  /**
   * In per cent of the baseline.
   *
   * @defaultValue 10
   */
  readonly percent?: number | undefined;
  /**
   * In milliseconds; for `overlap`, in thousandths.
   *
   * @defaultValue 30
   */
  readonly floor?: number | undefined;
}

/** A figure that differs from the baseline's. */
export interface Difference {
  /** Its name, such as `response.p50` or `turns.missed`. */
  readonly figure: string;
  /** That of this call; absent where there is none. */
  readonly now: number | undefined;
  /** That of the baseline. */
  readonly baseline: number | undefined;
}

/** How often the agent stopped when it was interrupted: once less is worse. */
const stops = "stop.n";

const count = (turns: readonly Turn[], name: "cutIn" | "falseStop" | "spurious" | "missed") =>
  turns.filter((turn) => turn[name]).length;

/** The figures that are compared: the greater, the worse, but for how often the agent stopped. */
const figuresOf = (report: Report): ReadonlyMap<string, number | undefined> => {
  const { turns, firstAudio, response, stop, overlap, deadAir, tools } = report;
  return new Map([
    ["firstAudio", firstAudio.p50],
    ["response.p50", response.p50],
    ["response.p95", response.p95],
    ["response.max", response.max],
    ["stop.p50", stop.p50],
    ["stop.max", stop.max],
    [stops, stop.n],
    ["deadAir.longest", deadAir.longest],
    ["overlap", overlap * 1000],
    ["deadAir.count", deadAir.count],
    ["turns.cutIn", count(turns, "cutIn")],
    ["turns.falseStop", count(turns, "falseStop")],
    ["turns.spurious", count(turns, "spurious")],
    ["turns.missed", count(turns, "missed")],
    ["tools.failed", tools.filter(({ isError }) => isError).length],
  ]);
};

const amount = optional(
  custom<number>((value) => typeof value === "number" && value >= 0, "must be a number, 0 or more"),
);

const ComparisonRulesSchema: GenericSchema<unknown, ComparisonRules> = strictObject(
  { percent: amount, floor: amount },
  presence,
);

/** What is read of a report, as anything may be in a file. */
const isReport = (value: unknown): boolean =>
  isRecord(value) &&
  value.version === 1 &&
  Array.isArray(value.turns) &&
  Array.isArray(value.tools) &&
  [value.firstAudio, value.response, value.stop, value.deadAir, value.trust].every(isRecord);

/** Figures that are counts: one more is worse, whatever the rules. */
const counts = /^turns|failed$|count$/;

const isWorse = (
  figure: string,
  now: number | undefined,
  baseline: number | undefined,
  { percent = 10, floor = 30 }: ComparisonRules,
): boolean => {
  if (now === undefined || baseline === undefined) return now !== baseline;
  if (figure === stops) return now < baseline;
  const more = now - baseline;
  if (counts.test(figure)) return more > 0;
  return more > floor && more > (Math.abs(baseline) * percent) / 100;
};

/**
 * The figures that are worse than in a baseline, and those that only one of the two has.
 *
 * @param now - the report of this run
 * @param baseline - an earlier one, such as the committed `report.json`
 * @throws {BadParametersException} (`placed: "no"`) when the two calls had unlike scripts, voices, lines or seeds, or when
 * one of them can't be trusted
 *
 * @example Refuse a change that makes an agent slower
 * ```ts
 * import { compareReports, type Report } from "outdial/testing";
 *
 * const check = (now: Report, baseline: Report): void => {
 *   const worse = compareReports(now, baseline, { percent: 10, floor: 30 });
 *   if (worse.length > 0) throw new Error(JSON.stringify(worse));
 * };
 * console.log(typeof check); // function
 * ```
 * @see docs/simulated-calls.md
 */
export const compareReports = (
  now: Report,
  baseline: Report,
  rules: ComparisonRules = {},
): readonly Difference[] => {
  const checked = check(ComparisonRulesSchema, () => rules, "rules");
  for (const [name, report] of Object.entries({ now, baseline })) {
    if (!isReport(report)) fail(name, "must be a report of version 1");
  }
  if (now.inputs !== baseline.inputs)
    fail(
      "baseline",
      "must be of a call with the same script, voices, line, seed, detector and maxDuration",
    );
  if (now.trust.detector !== baseline.trust.detector)
    fail("baseline", "must be measured by the same detector");
  if (!now.trust.ok || !baseline.trust.ok)
    fail("baseline", "can't be compared where frames were late: see trust");
  const before = figuresOf(baseline);
  return [...figuresOf(now)]
    .map(([figure, value]) => ({ figure, now: value, baseline: before.get(figure) }))
    .filter((each) => isWorse(each.figure, each.now, each.baseline, checked));
};
