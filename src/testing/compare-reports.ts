import {
  array,
  boolean,
  custom,
  type GenericSchema,
  object,
  optional,
  safeParse,
  strictObject,
  string,
} from "valibot";
import { BadParametersException } from "../errors.ts";
import { check, fail, isRecord, kindOf, presence } from "../lib/check.ts";
import { type Summary, summaryOf } from "../lib/summary.ts";
import type { SimulatedText } from "./figures.ts";
import type { Report } from "./report.ts";
import type { Turn } from "./turns.ts";

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
  /** Its name, such as `response.p50`, `response.11`, `turns.missed` or `tools.book.n`. */
  readonly figure: string;
  /** That of this call; absent where there is none. A text for `end.by`, `end.reason`, `end.session` and `end.outcome`. */
  readonly now: number | string | undefined;
  /** That of the baseline. */
  readonly baseline: number | string | undefined;
}

const amount = optional(
  custom<number>((value) => typeof value === "number" && value >= 0, "must be a number, 0 or more"),
);

const ComparisonRulesSchema: GenericSchema<unknown, ComparisonRules> = strictObject(
  { percent: amount, floor: amount },
  presence,
);

/** A value of another kind, for a message that must not repeat it. */
const otherThan =
  (wanted: string) =>
  ({ input }: { readonly input: unknown }): string =>
    `must be ${wanted}, not ${kindOf(input)}`;

const figure = custom<number>(Number.isFinite, ({ input }) =>
  typeof input === "number" ? "must be finite, not NaN" : `must be a number, not ${kindOf(input)}`,
);
const text = string(otherThan("a string"));
const truth = boolean(otherThan("true or false"));
const list = otherThan("a list");
const fault = optional(custom<true>((value) => value === true, "must be true, or absent"));

const count = custom<number>(
  (value) => typeof value === "number" && Number.isInteger(value) && value >= 0,
  ({ input }) =>
    `must be a ${typeof input === "number" ? "whole number, 0 or more" : `number, not ${kindOf(input)}`}`,
);
const expectation = custom<Turn["expect"]>(
  (value) => value === "respond" || value === "stop" || value === "ignore",
  'must be "respond", "stop" or "ignore"',
);

const summary = object(
  {
    n: count,
    min: optional(figure),
    p50: optional(figure),
    p95: optional(figure),
    p99: optional(figure),
    max: optional(figure),
  },
  presence,
);

/** The fields of a report: anything may be in a file. */
const ReportSchema = object(
  {
    inputs: text,
    turns: array(
      object(
        {
          from: figure,
          to: figure,
          expect: expectation,
          response: optional(figure),
          stop: optional(figure),
          late: optional(figure),
          cutIn: fault,
          falseStop: fault,
          missed: fault,
          spurious: fault,
          talkedOn: fault,
        },
        presence,
      ),
      list,
    ),
    firstAudio: summary,
    response: summary,
    stop: summary,
    overlap: figure,
    deadAir: object({ count, longest: figure, total: figure }, presence),
    tools: array(object({ name: text, ms: figure, took: figure, isError: truth }, presence), list),
    transcript: array(
      object({ who: text, type: optional(text), text, final: truth, ms: figure }, presence),
      list,
    ),
    // Reports of before have none.
    faults: optional(array(object({ text, ms: figure }, presence), list)),
    end: object(
      {
        ms: figure,
        reason: optional(text),
        session: optional(text),
        by: optional(text),
        outcome: optional(text),
      },
      presence,
    ),
    trust: object(
      {
        clock: text,
        lateness: figure,
        latest: figure,
        late: array(text, list),
        detector: text,
        runs: count,
        differs: array(text, list),
        ok: truth,
      },
      presence,
    ),
  },
  presence,
);

/** @throws {BadParametersException} that names each field of a report that is absent, or not what it should be */
const checkReport = (name: string, report: unknown): void => {
  if (!isRecord(report) || report.version !== 1) fail(name, "must be a report of version 1");
  const { issues = [] } = safeParse(ReportSchema, report);
  // The names are those of the schema: nothing of the file is in the message.
  const found = issues.map(({ path = [], message }) => ({
    param: [name, ...path.map(({ key }) => String(key))].join("."),
    message,
  }));
  if (found.length > 0) throw new BadParametersException(found);
};

const partsOf = ({ n, min, p50, p95, p99, max }: Summary) => [n, min, p50, p95, p99, max].join();

/** @throws {BadParametersException} that names the figure that isn't that of the turns */
const checkSummaries = (name: string, report: Report): void => {
  for (const figure of ["response", "stop"] as const) {
    const ofTurns = summaryOf(report.turns.flatMap((turn) => turn[figure] ?? []));
    if (partsOf(report[figure]) !== partsOf(ofTurns)) {
      fail(`${name}.${figure}`, `contradicts ${name}.turns: take report.json as it was written`);
    }
  }
};

/** When a figure is worse: where it is greater by more than the rules allow, greater, less, or another one. */
type Worse = "slower" | "more" | "fewer" | "other";

/** A figure that is compared. */
interface Compared {
  readonly name: string;
  readonly worse: Worse;
  readonly of: (report: Report) => number | string | undefined;
}

const counted =
  (name: "cutIn" | "falseStop" | "missed" | "spurious" | "talkedOn") =>
  ({ turns }: Report): number =>
    turns.filter((turn: Turn) => turn[name]).length;

/** By how much the agent cut in sooner than at the end of an utterance, in ms: 0 where it never did. */
const cutInOf = ({ turns }: Report): number =>
  Math.max(0, ...turns.map(({ response = 0 }) => -response));

/** How often a flow or its callee did something. What an agent says, and how often, is the model's. */
const doneIn =
  (by: SimulatedText["who"], done: SimulatedText["type"]) =>
  ({ transcript }: Report): number =>
    transcript.filter(({ who, type }) => who === by && type === done).length;

const comparedFigures: readonly Compared[] = [
  { name: "turns.n", worse: "fewer", of: ({ turns }) => turns.length },
  { name: "firstAudio", worse: "slower", of: ({ firstAudio }) => firstAudio.p50 },
  { name: "response.n", worse: "fewer", of: ({ response }) => response.n },
  { name: "response.p50", worse: "slower", of: ({ response }) => response.p50 },
  { name: "response.p95", worse: "slower", of: ({ response }) => response.p95 },
  { name: "response.max", worse: "slower", of: ({ response }) => response.max },
  { name: "response.cutIn", worse: "slower", of: cutInOf },
  { name: "stop.n", worse: "fewer", of: ({ stop }) => stop.n },
  { name: "stop.p50", worse: "slower", of: ({ stop }) => stop.p50 },
  { name: "stop.max", worse: "slower", of: ({ stop }) => stop.max },
  { name: "deadAir.longest", worse: "slower", of: ({ deadAir }) => deadAir.longest },
  { name: "deadAir.total", worse: "slower", of: ({ deadAir }) => deadAir.total },
  { name: "overlap", worse: "slower", of: ({ overlap }) => overlap * 1000 },
  { name: "deadAir.count", worse: "more", of: ({ deadAir }) => deadAir.count },
  { name: "turns.cutIn", worse: "more", of: counted("cutIn") },
  { name: "turns.falseStop", worse: "more", of: counted("falseStop") },
  { name: "turns.spurious", worse: "more", of: counted("spurious") },
  { name: "turns.missed", worse: "more", of: counted("missed") },
  { name: "turns.talkedOn", worse: "more", of: counted("talkedOn") },
  {
    name: "tools.failed",
    worse: "more",
    of: ({ tools }) => tools.filter(({ isError }) => isError).length,
  },
  { name: "said.n", worse: "fewer", of: doneIn("flow", "said") },
  { name: "played.n", worse: "fewer", of: doneIn("flow", "played") },
  { name: "recorded.n", worse: "other", of: doneIn("callee", "recorded") },
  { name: "dialed.n", worse: "other", of: doneIn("flow", "dialed") },
  { name: "faults.n", worse: "more", of: ({ faults = [] }) => faults.length },
  { name: "end.by", worse: "other", of: ({ end }) => end.by },
  { name: "end.reason", worse: "other", of: ({ end }) => end.reason },
  { name: "end.session", worse: "other", of: ({ end }) => end.session },
  { name: "end.outcome", worse: "other", of: ({ end }) => end.outcome },
];

/** How often each tool of the reports was called: what is booked twice is as wrong as what is not booked. */
const callsOf = (...reports: readonly Report[]): readonly Compared[] =>
  [...new Set(reports.flatMap(({ tools }) => tools.map(({ name }) => name)))].map((tool) => ({
    name: `tools.${tool}.n`,
    worse: "other",
    of: ({ tools }) => tools.filter(({ name }) => name === tool).length,
  }));

const isWorse = (
  worse: Worse,
  now: number | string | undefined,
  baseline: number | string | undefined,
  { percent = 10, floor = 30 }: ComparisonRules,
): boolean => {
  const isOther = worse === "other" || typeof now !== "number" || typeof baseline !== "number";
  if (isOther) return now !== baseline;
  const more = now - baseline;
  if (worse === "fewer") return more < 0;
  if (worse === "more") return more > 0;
  return more > floor && more > (Math.abs(baseline) * percent) / 100;
};

/**
 * The value of all turns that grew most, in order of length: half of the responses may be later while median and maximum
 * stay. Nothing where the summary is worse itself.
 */
const worstOf = (
  name: "response" | "stop",
  now: Report,
  baseline: Report,
  rules: ComparisonRules,
): readonly Difference[] => {
  const sorted = ({ turns }: Report) =>
    turns.flatMap((turn) => turn[name] ?? []).sort((one, other) => one - other);
  const before = sorted(baseline);
  const [worst] = sorted(now)
    .map((value, at) => ({
      figure: `${name}.${at + 1}`,
      now: value,
      baseline: before[at] ?? value,
    }))
    .filter((each) => isWorse("slower", each.now, each.baseline, rules))
    .sort((one, other) => other.now - other.baseline - (one.now - one.baseline));
  return worst ? [worst] : [];
};

/**
 * The figures that are worse than in a baseline, and those that only one of the two has. Fewer turns, responses or stops
 * are worse, and so are another number of calls of a tool, and another end of the call or of the session: the agent may have ended
 * the call early. `response.11` is the 11th in order of length, where median, p95 and maximum are no worse.
 *
 * @param now - the report of this run
 * @param baseline - an earlier one, such as the committed `report.json`
 * @throws {BadParametersException} (`placed: "no"`) when a field of a report is absent or not what it should be, or contradicts its turns,
 * when the two calls had unlike scripts, voices, lines or seeds, or when one of them can't be trusted
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
  checkReport("now", now);
  checkReport("baseline", baseline);
  checkSummaries("now", now);
  checkSummaries("baseline", baseline);
  if (now.inputs !== baseline.inputs)
    fail(
      "baseline",
      "must be of a call with the same script, voices, line, seed, detector and maxDuration",
    );
  if (now.trust.detector !== baseline.trust.detector)
    fail("baseline", "must be measured by the same detector");
  for (const [name, { trust }] of Object.entries({ now, baseline })) {
    if (!trust.ok)
      fail(name, "can't be compared: frames were late, or two runs differed; see trust");
  }
  const found = [...comparedFigures, ...callsOf(baseline, now)]
    .map(({ name, worse, of }) => ({ worse, figure: name, now: of(now), baseline: of(baseline) }))
    .filter((each) => isWorse(each.worse, each.now, each.baseline, checked))
    .map(({ worse: _, ...difference }): Difference => difference);
  const unfound = (["response", "stop"] as const).filter(
    (name) =>
      !["p50", "p95", "max"].some((part) =>
        found.some((each) => each.figure === `${name}.${part}`),
      ),
  );
  return [...found, ...unfound.flatMap((name) => worstOf(name, now, baseline, checked))];
};
