// `npm run exchange -- figures`: measures at the telephone's ear, and writes the table of README. It wants a quiet machine.
// npm run exchange -- figures key: only rows with such a name, and README stays.
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf } from "../../../src/server/outgoing.ts";
import { startAsterisk } from "../asterisk/asterisk.ts";
import { type MeasuredExchange, measureWith } from "./measured-exchange.ts";
import {
  type AgentFigures,
  measureAgents,
  measureKeys,
  measureLoad,
  measureRecording,
  measureStalls,
  patience,
} from "./measures.ts";
import type { Given } from "./messages.ts";

const promptDuration = 25_000;
const recordDuration = Number(process.env.OUTDIAL_RECORD_MS ?? 300_000);
/** All of it ends within seven minutes, whatever a row does. */
const deadline = performance.now() + 390_000;
// What goes on after a row was given up fails no other row.
process.on("unhandledRejection", (failure) => console.error(messageOf(failure)));

const wantedNames = process.argv.slice(2);

const asterisk = await startAsterisk({
  root: process.env.OUTDIAL_ASTERISK ?? "",
  temporary: tmpdir(),
});

const load = () => loadavg()[0]?.toFixed(1) ?? "";
const rows: (readonly [what: string, wanted: string, found: string])[] = [];

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return Math.round(
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN,
  );
};
const p = (values: readonly number[], ...shares: readonly number[]): string =>
  values.length === 0
    ? "nothing"
    : `${shares.map((share) => percentile(values, share)).join(" / ")} ms (n = ${values.length})`;

/** What is measured together: its rows, and how long it may take, in milliseconds. */
interface Measure<T> {
  readonly name: string;
  readonly limit: number;
  /** The interface that the exchange speaks: outdial's own by default. */
  readonly side?: Given["side"];
  readonly run: (exchange: MeasuredExchange) => Promise<T>;
  readonly rows: readonly {
    readonly what: string;
    readonly wanted: string;
    readonly found: (result: T) => string;
  }[];
}

/** Measures, and returns what adds the rows: one that fails says why in its rows. */
const start = async <T>(measure: Measure<T>): Promise<() => void> => {
  const { name, limit, side = "outdial", run, rows: all } = measure;
  if (wantedNames.length > 0 && !wantedNames.some((each) => name.includes(each))) return () => {};
  const recording = join(tmpdir(), `recording-${process.pid}.wav`);
  const given = { side, patience, promptDuration, recordDuration, recording };
  const left = Math.max(0, Math.min(limit, deadline - performance.now()));
  const measured = await measureWith(asterisk, given, left, run).then(
    (result) => ({ result }),
    (failure: unknown) => ({ failure }),
  );
  const during = load();
  const foundOf = (found: (result: T) => string): string => {
    try {
      if ("failure" in measured) throw measured.failure;
      return found(measured.result);
    } catch (failure) {
      return `not measured: ${messageOf(failure)}`;
    }
  };
  return () => {
    for (const { what, wanted, found } of all) {
      const text = `${foundOf(found)}, load ${during}`;
      rows.push([`${name}${what}`, wanted, text]);
      console.log(`${name}${what}: ${text} (wanted ${wanted})`);
    }
  };
};

const measure = async <T>(one: Measure<T>): Promise<void> => (await start(one))();

const agentRows = (wanted: string, cut: string): Measure<AgentFigures>["rows"] => [
  {
    what: ": response − patience, p50 / p95 / max",
    wanted,
    found: ({ responses }) => p(responses, 0.5, 0.95, 1),
  },
  {
    what: ": last packet after the callee's first word, p50 / p95 / max",
    wanted,
    found: ({ stops }) => p(stops, 0.5, 0.95, 1),
  },
  {
    what: ": played, as the model is told, against the ear, p50 / p95 / max",
    wanted: cut,
    found: ({ truncations }) => p(truncations, 0.5, 0.95, 1),
  },
];

const recorded = start({
  name: `recording against the ear, ${recordDuration / 1_000} s, windows of 2 s`,
  limit: recordDuration + 30_000,
  run: (exchange) => measureRecording(exchange, recordDuration),
  rows: [
    {
      what: ": what was played",
      wanted: "correlation ≥ 0.99, lag ± 40 ms",
      found: (compare) => compare().heard,
    },
    {
      what: ": what the callee has said",
      wanted: "correlation ≥ 0.99, lag ± 40 ms",
      found: (compare) => compare().said,
    },
  ],
});
await measure({
  name: "a key's first packet to the first sound of a WAV",
  limit: 60_000,
  run: measureKeys,
  rows: [
    { what: ", p50 / p95 / max", wanted: "p95 ≤ 180 ms", found: (found) => p(found, 0.5, 0.95, 1) },
  ],
});
for (const side of ["outdial", "twilio"] as const) {
  const by = side === "outdial" ? "agent" : "agent, as Twilio";
  await measure({
    name: by,
    side,
    limit: 90_000,
    run: measureAgents,
    rows: agentRows("p50 ≤ 50, p95 ≤ 60 ms", "≤ 20 ms"),
  });
  await measure({
    name: `${by}, 0.3 to 0.5 s after a stall of 400 ms`,
    side,
    limit: 60_000,
    run: (exchange) => measureStalls(exchange, 300),
    rows: agentRows("p95 ≤ 110 ms", "≤ 60 ms"),
  });
  await measure({
    name: `${by}, 1 to 1.2 s after a stall of 400 ms`,
    side,
    limit: 60_000,
    run: (exchange) => measureStalls(exchange, 1_000),
    rows: agentRows("p95 ≤ 70 ms", "≤ 60 ms"),
  });
}
// Many calls at once would disturb the recording.
const addRecorded = await recorded;
await measure({
  name: "150 prompts at once",
  limit: 45_000,
  run: (exchange) => measureLoad(exchange, "prompt", 150),
  rows: [
    {
      what: ", gap p50 / p99 / p99.9",
      wanted: "p99 ≤ 40, p99.9 ≤ 80 ms",
      found: (gaps) => p(gaps, 0.5, 0.99, 0.999),
    },
  ],
});
await measure({
  name: "100 agents at once",
  limit: 45_000,
  run: (exchange) => measureLoad(exchange, "agent", 100),
  rows: [
    {
      what: ", gap p50 / p99 / p99.9",
      wanted: "p99 ≤ 40 ms",
      found: (gaps) => p(gaps, 0.5, 0.99, 0.999),
    },
  ],
});
addRecorded();

if (wantedNames.length === 0) {
  const readme = fileURLToPath(new URL("../README.md", import.meta.url));
  const text = readFileSync(readme, "utf8");
  const mark = "<!-- figures -->";
  const table = [
    `Measured on ${new Date().toISOString().slice(0, 10)}, Asterisk, exchange and telephones on ${cpus().length} cores, by \`npm run exchange -- figures\`; the load is that of the minute before.`,
    "",
    "| what | wanted | found |",
    "|---|---|---|",
    ...rows.map((row) => `| ${row.join(" | ")} |`),
  ].join("\n");
  const [before = "", , after = ""] = text.split(mark);
  writeFileSync(readme, `${before}${mark}\n${table}\n${mark}${after}`);
}
await asterisk.stop();
process.exit(0);
