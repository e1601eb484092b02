import type { CallRow } from "../updates.ts";
import { box, formatTime, make, makeSvg, setText } from "./elements.ts";

/** How many bars the plot has, and how many seconds a bar can stand for. */
const barCount = 48;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];

const height = 64;

const kinds = ["completed", "failed", "active"] as const;
type Kind = (typeof kinds)[number];
type Counts = Record<Kind, number>;

const names: Readonly<Record<Kind, string>> = {
  completed: "completed",
  failed: "failed",
  active: "active",
};

const kindOf = ({ state, reason }: CallRow): Kind => {
  if (state !== "completed" && state !== "failed") return "active";
  return reason === "flow_error" ? "failed" : state;
};

const zero = (): Counts => ({ completed: 0, failed: 0, active: 0 });

const sumOf = (counts: Counts): number => counts.completed + counts.failed + counts.active;

/** The calls of each kind, by the time when they came in. */
const countCalls = (
  calls: readonly CallRow[],
  now: number,
): { readonly start: number; readonly bars: readonly Counts[] } => {
  const oldest = calls.reduce((early, call) => Math.min(early, call.initiated_at), now);
  const step = 1000 * (steps.find((each) => 1000 * each * (barCount - 1) > now - oldest) ?? 86400);
  const start = (Math.floor(now / step) - barCount + 1) * step;
  const bars = Array.from({ length: barCount }, zero);
  for (const call of calls) {
    const bar = bars[Math.floor((call.initiated_at - start) / step)];
    if (bar) bar[kindOf(call)]++;
  }
  return { start, bars };
};

/**
 * The calls over time, as stacked bars. An SVG of its own: a library for plots is several times the size of
 * this page, and draws on a canvas, which no style reaches.
 */
export class CallPlot {
  readonly #picture = makeSvg("svg", {
    viewBox: `0 0 ${barCount * 10} ${height}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "Calls over time",
  });
  readonly #start = make("time");
  readonly #end = make("time");
  readonly #legend = make("span", { class: "legend" });
  #legendText = "";

  constructor() {
    const caption = make("figcaption", { class: "soft" }, this.#start, this.#legend, this.#end);
    box("plot").append(this.#picture, caption);
  }

  draw(calls: readonly CallRow[], now: number): void {
    const { start, bars } = countCalls(calls, now);
    const highest = Math.max(1, ...bars.map(sumOf));
    const total = zero();
    const rectangles = bars.flatMap((counts, at) => {
      let top = height;
      return kinds
        .filter((kind) => counts[kind] > 0)
        .map((kind) => {
          total[kind] += counts[kind];
          const size = (counts[kind] / highest) * height;
          top -= size;
          return makeSvg("rect", {
            class: kind,
            x: at * 10 + 1,
            y: top.toFixed(2),
            width: 8,
            height: size.toFixed(2),
          });
        });
    });
    this.#picture.replaceChildren(...rectangles);
    setText(this.#start, formatTime(start));
    setText(this.#end, formatTime(now));
    this.#describe(total, highest);
  }

  #describe(total: Counts, highest: number): void {
    const shown = kinds.filter((kind) => total[kind] > 0);
    const text = shown.map((kind) => `${total[kind]} ${names[kind]}`).join(", ");
    if (this.#legendText !== text) {
      this.#legendText = text;
      const items = shown.map((kind) =>
        make(
          "span",
          { class: `state ${kind === "active" ? "main" : kind}` },
          `${total[kind]} ${names[kind]}`,
        ),
      );
      this.#legend.replaceChildren(...items);
    }
    const [from, to] = [this.#start.textContent, this.#end.textContent];
    this.#picture.setAttribute(
      "aria-label",
      `Calls that came in from ${from} to ${to}: ${text}. At most ${highest} at a time.`,
    );
  }
}
