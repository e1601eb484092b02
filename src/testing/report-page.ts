import type { CallAudio } from "../emulator/recording/recording.ts";
import { base64, utf8 } from "../lib/encoding.ts";
import { html, type Markup } from "../lib/markup.ts";
import type { Summary } from "../lib/summary.ts";
import { energyDetector } from "./detector.ts";
import type { Trust } from "./figures.ts";
import type { Report } from "./report.ts";
import type { Turn } from "./turns.ts";

/** The least width of a second of the picture, in pixels: a longer call is scrolled, a shorter one is wider. */
const perSecond = 44;

/** @param ms - the length of the call */
const styleOf = (ms: number): string => `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #fff; --line: #d0d7de; --caller: #0969da; --agent: #1a7f37; --bad: #b3261e; --band: #eef2f6 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa4af; --paper: #0d1117; --line: #30363d; --caller: #58a6ff; --agent: #3fb950; --bad: #ff8a80; --band: #161b22 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1100px; padding: 16px; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 6px }
.picture { padding-right: 8px } .picture > svg { width: 100%; min-width: ${Math.ceil((ms / 1000) * perSecond)}px }
svg { display: block; overflow: visible; font: 11px system-ui, sans-serif }
svg text { fill: var(--soft) } .caller { fill: var(--caller) } .agent { fill: var(--agent) }
.grid { stroke: var(--line) } .band { fill: var(--band) } .cut, .tool { stroke: var(--bad); stroke-width: 2 } .tool { stroke: var(--soft) }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: 4px 12px; border-bottom: 1px solid var(--line); vertical-align: top }
.bad { color: var(--bad); font-weight: 600 } .soft { color: var(--soft) }
audio { width: 100% } code { overflow-wrap: anywhere; white-space: pre-wrap }
`;

/** Pixels of the parts of the picture, from above. */
const top = 24;
const track = 72;
const height = top + 2 * track + 40;

/** One side's loudness over time, as a shape round a line, as wide as the picture. */
const waveform = (peaks: readonly number[], middle: number, name: string): Markup => {
  const y = (peak: number, sign: number) =>
    (middle + sign * Math.max(0.5, peak * (track / 2 - 4))).toFixed(1);
  const upper = peaks.map((peak, at) => `${at},${y(peak, -1)}`);
  const lower = peaks.map((peak, at) => `${at},${y(peak, 1)}`).reverse();
  return html`<svg width="100%" height="${height}" viewBox="0 0 ${peaks.length} ${height}" preserveAspectRatio="none"><polygon class="${name}" points="${[...upper, ...lower].join(" ")}"/></svg>`;
};

/** How long after its last audible sample an agent still counts as speaking, in ms. */
const pause = 200;

/** Whether a cut was heard: it dropped audio of an agent that was speaking. */
const isHeard = ({ at_ms, samples }: CallAudio["cuts"][number], audio: CallAudio): boolean => {
  const before = audio.samples("application", at_ms - pause, at_ms);
  return samples > 0 && energyDetector.detect(before, audio.sample_rate).length > 0;
};

/** A picture of the call: both sides, the turns, what was cut off, and tools, on one axis. */
const picture = ({ turns, tools, end }: Report, audio: CallAudio): Markup => {
  const length = Math.max(end.ms, 1);
  const x = (ms: number) => `${((ms / length) * 100).toFixed(3)}%`;
  /** A text at the right is written to the left, as there is no room behind the picture. */
  const anchor = (ms: number, part: number) => (ms > length * part ? "end" : "start");
  const sides = (["callee", "application"] as const).map((side) => audio.peaks(side, 20));
  const loudest = sides.flat().reduce((most, peak) => Math.max(most, peak), 0.01);
  const [caller = [], agent = []] = sides.map((peaks) => peaks.map((peak) => peak / loudest));
  const seconds = Array.from({ length: Math.floor(end.ms / 1000) + 1 }, (_, at) => at);
  return html`<svg height="${height}" role="img" aria-label="Both sides of the call over time">
${turns.map(
  ({ from, to }) =>
    html`<rect class="band" x="${x(from)}" y="${top}" width="${x(to - from)}" height="${2 * track}"/>`,
)}
${seconds.map(
  (second) =>
    html`<line class="grid" x1="${x(second * 1000)}" x2="${x(second * 1000)}" y1="${top - 4}" y2="${top + 2 * track}"/><text x="${x(second * 1000)}" y="14" text-anchor="${anchor(second * 1000, 0.97)}">${second} s</text>`,
)}
${waveform(caller, top + track / 2, "caller")}
${waveform(agent, top + track * 1.5, "agent")}
${audio.cuts
  .filter((cut) => isHeard(cut, audio))
  .map(
    ({ at_ms }) =>
      html`<line class="cut" x1="${x(at_ms)}" x2="${x(at_ms)}" y1="${top + track}" y2="${top + 2 * track}"/>`,
  )}
${tools.map(
  ({ ms, name }) =>
    html`<line class="tool" x1="${x(ms)}" x2="${x(ms)}" y1="${top + 2 * track}" y2="${top + 2 * track + 12}"/><text x="${x(ms)}" y="${top + 2 * track + 26}" text-anchor="${anchor(ms, 0.8)}">${name}</text>`,
)}
</svg>`;
};

const ms = (value: number | undefined): string =>
  value === undefined ? "–" : `${Math.round(value)} ms`;

const summaryRow = (name: string, { n, min, p50, p95, p99, max }: Summary): Markup =>
  html`<tr><th scope="row">${name}</th><td>${n}</td><td>${ms(min)}</td><td>${ms(p50)}</td><td>${ms(p95)}</td><td>${ms(p99)}</td><td>${ms(max)}</td></tr>`;

/** The faults of a turn, in words. */
const faultsOf = (turn: Turn): string =>
  [
    turn.cutIn && "the agent cut in",
    turn.talkedOn &&
      `the agent talked on${turn.stop === undefined ? " until the call ended" : ` for ${ms(turn.stop)}`}`,
    turn.falseStop && "the agent stopped, and should not have",
    turn.spurious && "the agent answered what it should ignore",
    turn.missed && "no response",
    turn.late !== undefined && `frames were late by ${ms(turn.late)}: don't trust this turn`,
  ]
    .filter(Boolean)
    .join(", ");

/** Why figures can't be trusted, if they can't. */
const doubts = ({ lateness, latest, late, differs, ok }: Trust): readonly string[] => {
  if (ok) return [];
  const average = `Frames were late by ${ms(lateness)} on average, and by ${ms(latest)} at most`;
  return [
    ...(late.length > 0 ? [`${average}, in ${late.join(", ")}`] : []),
    ...(late.length === 0 && differs.length === 0 ? [average] : []),
    ...(differs.length > 0 ? [`Two runs differ in ${differs.join(", ")}`] : []),
  ];
};

/** How a call ended. */
const endOf = ({ by, session, reason }: Report["end"]): string =>
  session ?? (by && reason === "normal" ? `hung up by the ${by}` : String(reason));

const turnRow = (turn: Turn, at: number): Markup =>
  html`<tr><th scope="row">${at + 1}</th><td>${ms(turn.from)}</td><td>${ms(turn.to)}</td><td>${turn.expect}</td><td>${ms(turn.response)}</td><td>${ms(turn.stop)}</td><td class="bad">${faultsOf(turn)}</td></tr>`;

const table = (label: string, heads: readonly string[], rows: readonly Markup[]): Markup =>
  rows.length === 0
    ? html`<p class="soft">None.</p>`
    : html`<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;

/**
 * A report as one page without scripts, which loads nothing.
 *
 * @param wav - what can be listened to, without the tones of keys
 */
export const pageOf = async (
  report: Report,
  audio: CallAudio,
  wav: Uint8Array<ArrayBuffer>,
): Promise<string> => {
  const {
    firstAudio,
    response,
    stop,
    turns,
    tools,
    transcript,
    overlap,
    deadAir,
    faults,
    end,
    trust,
  } = report;
  const style = styleOf(end.ms);
  const hash = base64(new Uint8Array(await crypto.subtle.digest("SHA-256", utf8(style))));
  const policy = `default-src 'none'; style-src 'sha256-${hash}'; media-src data:; base-uri 'none'; form-action 'none'`;
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width">
<title>A simulated call</title>
<style>${{ markup: style }}</style>
</head>
<body>
<main>
<h1>A simulated call</h1>
<p>${ms(end.ms)}. It ended as <code>${endOf(end)}</code>. Measured in ${trust.clock} time, at the caller's ear; the agent's speech was found by: ${trust.detector}.</p>
${doubts(trust).map((doubt) => html`<p class="bad">${doubt}: don't trust these figures.</p>`)}
${faults.map(({ ms: at, text }) => html`<p class="bad">At ${ms(at)} the flow failed, and hung up. ${text}.</p>`)}
<h2 id="picture">The line</h2>
<p class="soft">Above the caller, below the agent. Grey: the turns of the caller. Red: audio that was cut off.</p>
<div class="scroll picture" tabindex="0" role="region" aria-labelledby="picture">${picture(report, audio)}</div>
<p><audio controls src="data:audio/wav;base64,${base64(wav)}"></audio></p>
<h2>Figures</h2>
${table(
  "Figures",
  ["figure", "n", "min", "p50", "p95", "p99", "max"],
  [
    summaryRow("First audio", firstAudio),
    summaryRow("Response", response),
    summaryRow("Stop", stop),
  ],
)}
<p>Both spoke in ${(overlap * 100).toFixed(1)} % of all speech. The longest silence was ${ms(deadAir.longest)}; ${deadAir.count} lasted longer than 2 s.</p>
<h2>Turns</h2>
${table("Turns", ["turn", "from", "to", "expected", "response", "stop", "faults"], turns.map(turnRow))}
<h2>Tools</h2>
${table(
  "Tools",
  ["at", "name", "arguments", "outcome"],
  tools.map(
    (tool) =>
      html`<tr><td>${ms(tool.ms)}</td><th scope="row">${tool.name}</th><td><code>${JSON.stringify(tool.args)}</code></td><td class="bad">${tool.isError ? "failed" : ""}</td></tr>`,
  ),
)}
<h2>Transcript</h2>
${table(
  "Transcript",
  ["at", "who", "what", "text"],
  transcript
    .filter(({ final }) => final)
    .map(
      ({ ms: at, who, type, text }) =>
        html`<tr><td>${ms(at)}</td><th scope="row">${who}</th><td>${type}</td><td>${text}</td></tr>`,
    ),
)}
</main>
</body>
</html>
`;
  return markup;
};
