import { readFileSync } from "node:fs";
import { apiKey, from_number, to_number } from "../conformance/fixtures.ts";
import { cases } from "../conformance/index.ts";
import type { Result } from "../conformance/run.ts";
import type { Job } from "../jobs.ts";

/** What a job came to. A test that did not run is listed with its reason, or is a failure. */
export interface Verdict {
  readonly passed: number;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
  readonly failures: readonly string[];
}

const end = (output: string): string => output.trimEnd().split("\n").slice(-60).join("\n");

/** A job that passes by its exit code, and prints what of it could not be run, and why. */
const byExit = (output: string, code: number): Verdict => ({
  passed: code === 0 ? 1 : 0,
  skipped: [...output.matchAll(/^not run: (.+?): (.+)$/gm)].map(([, name = "", reason = ""]) => ({
    name,
    reason,
  })),
  failures: code === 0 ? [] : [end(output)],
});

/** A run of the conformance list: each case must have passed, or be exempt by name and reason. */
const byReport = (output: string, code: number): Verdict => {
  const names = cases.map(({ name }) => name);
  const json = /REPORT (\[.*\])/.exec(output)?.[1];
  if (!json) return { passed: 0, skipped: [], failures: [`no report\n${end(output)}`] };
  const results: readonly Result[] = JSON.parse(json);
  const failures = results.flatMap(({ name, error }) => (error ? [`${name}\n  ${error}`] : []));
  const skipped = results.flatMap(({ name, exempt }) => (exempt ? [{ name, reason: exempt }] : []));
  const passed = results.filter(({ error, exempt }) => !error && !exempt).length;
  const ran = results.map(({ name }) => name);
  if (JSON.stringify(ran) !== JSON.stringify(names)) {
    const missing = names.filter((name) => !ran.includes(name));
    failures.push(`not the whole list, in its order; missing: ${missing.join("; ")}`);
  }
  if (code !== 0 && failures.length === 0) failures.push(`exit ${code}\n${end(output)}`);
  for (const line of output.match(/^.*UNHANDLED.*$/gm) ?? []) failures.push(line);
  const printed = output.replace(json, "");
  if (!printed.includes("CANARY")) failures.push("the console was not captured");
  for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
    if (printed.includes(secret)) failures.push("the console shows a key or a number");
  }
  return { passed, skipped, failures };
};

interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** A run of vitest, by its JSON report; a skipped test has no reason there, so it is a failure. */
const byVitest = (output: string, code: number, { name }: Job): Verdict => {
  let report: VitestReport;
  try {
    report = JSON.parse(readFileSync(`test/artefacts/${name}-report.json`, "utf8"));
  } catch {
    return { passed: 0, skipped: [], failures: [end(output)] };
  }
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  const passed = tests.filter(({ status }) => status === "passed").length;
  const failures = tests
    .filter(({ status }) => status !== "passed")
    .map(
      ({ fullName, status, failureMessages }) =>
        `${fullName}: ${status}\n${failureMessages.join("\n")}`,
    );
  if (failures.length === 0 && (code !== 0 || passed === 0)) failures.push(end(output));
  return { passed, skipped: [], failures };
};

const judges = { exit: byExit, report: byReport, vitest: byVitest } as const;

/** What a job came to, by what its command printed and its exit code. */
export const verdictOf = (job: Job, output: string, code: number): Verdict =>
  judges[job.judge](output, code, job);
