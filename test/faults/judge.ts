import type { Runtime } from "../conformance/case.ts";
import { entries } from "../conformance/entries.ts";
import { apiKey, from_number, to_number } from "../conformance/fixtures.ts";
import { carrierOf, entriesWith, type ServiceName } from "../conformance/services/index.ts";
import type { Attempt } from "./attempt.ts";
import { differenceOf, expectedOf, type Fault, protocolsOf } from "./fault.ts";
import type { Ended } from "./launch.ts";

/** What is wrong with one attempt, in words; empty when it is as expected. */
const wrongWith = (fault: Fault, runtime: Runtime, attempt: Attempt): readonly string[] => {
  const { protocol, seen, endedBy, beforeBack } = attempt;
  const { exception, placed, code, retryAfter, errors, posts, orNone, ends, open } = {
    open: 0,
    ...expectedOf(fault, runtime, protocol),
  };
  const wrong: string[] = [];
  const same = (what: string, got: unknown, wanted: unknown) => {
    if (got !== wanted) wrong.push(`${what} is ${got}, expected ${wanted}`);
  };
  same("the exception", attempt.exception, exception);
  same("placed", attempt.placed, placed);
  if (exception !== "BadParametersException") same("the code", attempt.code, code);
  const [least, most] = retryAfter ?? [];
  const { retryAfter: seconds } = attempt;
  if (least === undefined || most === undefined) same("retryAfter", seconds, undefined);
  else if (!(seconds !== undefined && seconds >= least && seconds <= most)) {
    wrong.push(`retryAfter is ${seconds}, expected ${least} to ${most}`);
  }
  // A carrier has other words for them.
  if (!fault.server?.service)
    same("errors", JSON.stringify(attempt.errors), JSON.stringify(errors));
  // Chromium may send again, or not: how often it does is its own affair, up to a number.
  const many = differenceOf(fault, runtime, protocol)?.posts ?? (orNone && posts);
  if (many === undefined) same("the number of POSTs", seen.posts, posts);
  else if (seen.posts > many) wrong.push(`${seen.posts} POSTs, expected ${many} at most`);
  same("what ended it", endedBy, ends === "deadline" ? "deadline" : "itself");
  if (ends === "back" && beforeBack) wrong.push("ended before the network was back");
  if (attempt.missed) wrong.push("missed the outage");
  if (attempt.placed === "no" && seen.dialled > 0) wrong.push('"no", but the call arrived');
  if (seen.dialled > 1 && posts < 2) wrong.push(`placed ${seen.dialled} times`);
  if (seen.open > open) wrong.push(`${seen.open} sockets left open, expected ${open} at most`);
  same("timers left", attempt.timers, 0);
  same("listeners left", attempt.listeners, 0);
  same("requests to the other host", seen.elsewhere, 0);
  if (seen.strayKey) wrong.push("the key was sent outside of its header");
  if (attempt.shows) wrong.push("the exception shows the key or a number");
  const wire = protocol === "h2" ? "HTTP/2" : "HTTP/1.1";
  if (seen.protocols.some((each) => each !== wire)) wrong.push(`not by ${wire}`);
  return wrong;
};

/** The same, where what is expected elsewhere may be right as well. */
const wrongHere = (fault: Fault, runtime: Runtime, attempt: Attempt): readonly string[] => {
  const { orAsElsewhere } = differenceOf(fault, runtime, attempt.protocol) ?? {};
  const { except: _, ...elsewhere } = fault;
  const wrong = wrongWith(fault, runtime, attempt);
  return orAsElsewhere && wrongWith(elsewhere, runtime, attempt).length === 0 ? [] : wrong;
};

/** What one runtime came to. */
export interface Verdict {
  readonly runtime: Runtime;
  readonly attempts: readonly Attempt[];
  readonly failures: readonly string[];
}

/** What a launcher printed, and how it ended, against the table. */
export const judge = (
  runtime: Runtime,
  { output, code }: Ended,
  wanted: readonly Fault[],
  service?: ServiceName,
): Verdict => {
  const json = /^REPORT (\[.*\])$/m.exec(output)?.[1];
  if (!json) return { runtime, attempts: [], failures: [`no report\n${output.slice(-3_000)}`] };
  const attempts: readonly Attempt[] = JSON.parse(json);
  const failures: string[] = [];
  const meetings = wanted
    .flatMap((fault) => protocolsOf(fault, runtime).map((protocol) => ({ fault, protocol })))
    .flatMap((each) =>
      (service ? entriesWith(service) : entries).map(({ entry }) => ({ entry, ...each })),
    );
  for (const { entry, fault, protocol } of meetings) {
    const cell = `${entry}: ${fault.name} [${protocol}]`;
    const attempt = attempts.find(
      (each) => each.entry === entry && each.fault === fault.name && each.protocol === protocol,
    );
    if (!attempt) failures.push(`${cell}: was not met`);
    else {
      const wrong = wrongHere(fault, runtime, attempt);
      if (wrong.length > 0) failures.push(`${cell}: ${wrong.join("; ")}\n    ${attempt.message}`);
    }
  }
  const shown = output.replace(json, "");
  for (const secret of [apiKey, from_number.slice(1), to_number.slice(1)]) {
    if (output.includes(secret)) failures.push("the output shows the key or a number");
  }
  if (service && carrierOf(service).showsKey(output))
    failures.push(`the output shows the key of ${service}`);
  failures.push(...(shown.match(/^.*UNHANDLED.*$/gm) ?? []));
  if (code !== 0) failures.push(`exit ${code}\n${shown.slice(-2_000)}`);
  return { runtime, attempts, failures };
};
