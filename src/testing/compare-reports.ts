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
  /** Its name, such as `response.p50`, `turns.missed` or `tools.book.n`. */
  readonly figure: string;
  /** That of this call; absent where there is none. A text for `end.session`. */
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

const summary = object(
  {
    n: figure,
    p50: optional(figure),
    p95: optional(figure),
    max: optional(figure),
  },
  presence,
);

/** What is read of a report, as anything may be in a file. */
const ReportSchema = object(
  {
    inputs: text,
    turns: array(
      object(
        {
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
    deadAir: object({ count: figure, longest: figure }, presence),
    tools: array(object({ name: text, isError: truth }, presence), list),
    end: object({ session: optional(text) }, presence),
    trust: object({ detector: text, ok: truth }, presence),
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

const comparedFigures: readonly Compared[] = [
  { name: "turns.n", worse: "fewer", of: ({ turns }) => turns.length },
  { name: "firstAudio", worse: "slower", of: ({ firstAudio }) => firstAudio.p50 },
  { name: "response.n", worse: "fewer", of: ({ response }) => response.n },
  { name: "response.p50", worse: "slower", of: ({ response }) => response.p50 },
  { name: "response.p95", worse: "slower", of: ({ response }) => response.p95 },
  { name: "response.max", worse: "slower", of: ({ response }) => response.max },
  { name: "stop.n", worse: "fewer", of: ({ stop }) => stop.n },
  { name: "stop.p50", worse: "slower", of: ({ stop }) => stop.p50 },
  { name: "stop.max", worse: "slower", of: ({ stop }) => stop.max },
  { name: "deadAir.longest", worse: "slower", of: ({ deadAir }) => deadAir.longest },
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
  { name: "end.session", worse: "other", of: ({ end }) => end.session },
];

/** How often each tool of a report was called. */
const callsOf = (baseline: Report): readonly Compared[] =>
  [...new Set(baseline.tools.map(({ name }) => name))].map((tool) => ({
    name: `tools.${tool}.n`,
    worse: "fewer",
    of: ({ tools }) => tools.filter(({ name }) => name === tool).length,
  }));

const isWorse = (
  worse: Worse,
  now: number | string | undefined,
  baseline: number | string | undefined,
  { percent = 10, floor = 30 }: ComparisonRules,
): boolean => {
  if (typeof now !== "number" || typeof baseline !== "number") return now !== baseline;
  const more = now - baseline;
  if (worse === "fewer") return more < 0;
  if (worse === "more") return more > 0;
  return more > floor && more > (Math.abs(baseline) * percent) / 100;
};

/**
 * The figures that are worse than in a baseline, and those that only one of the two has. Fewer turns, responses, stops or
 * calls of a tool are worse, and so is another end of the session: the agent may have ended the call early.
 *
 * @param now - the report of this run
 * @param baseline - an earlier one, such as the committed `report.json`
 * @throws {BadParametersException} (`placed: "no"`) when a field of a report is absent or not what it should be,
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
  return [...comparedFigures, ...callsOf(baseline)]
    .map(({ name, worse, of }) => ({ worse, figure: name, now: of(now), baseline: of(baseline) }))
    .filter((each) => isWorse(each.worse, each.now, each.baseline, checked))
    .map(({ worse: _, ...difference }) => difference);
};
