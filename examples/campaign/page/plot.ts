import { dispositions, type Progress } from "outdial/campaigns";
import type { Sample } from "outdial/campaigns/workers";
import uPlot from "uplot";
import { axisStyle, colourOf } from "./colours.ts";
import { box, make } from "./elements.ts";

/** A line of the plot, with its own colour and dashes. */
interface Line {
  readonly label: string;
  /** The variable of the style that has its colour. */
  readonly colour: string;
  readonly dash: number[];
  readonly of: (progress: Progress) => number;
}

const machines = ({ machine, message_left }: Progress): number => machine + message_left;

/** How many contacts ended so that another attempt could follow, without the machines. */
const notReached = (progress: Progress): number =>
  Object.entries(progress)
    .filter(([name]) =>
      Object.entries(dispositions).some(
        ([each, { retry }]) => retry && each === name && each !== "machine",
      ),
    )
    .reduce((total, [, count]) => total + Number(count), 0);

const lines: readonly Line[] = [
  {
    label: "ended",
    colour: "--soft",
    dash: [],
    of: ({ contacts, waiting, calling, unclear }) => contacts - waiting - calling - unclear,
  },
  { label: "completed", colour: "--good", dash: [], of: ({ completed }) => completed },
  {
    label: "not reached",
    colour: "--warn",
    dash: [8, 4],
    of: notReached,
  },
  { label: "machine", colour: "--machine", dash: [4, 2], of: machines },
  { label: "unknown", colour: "--bad", dash: [2, 4], of: ({ unknown }) => unknown },
  { label: "calling", colour: "--main", dash: [12, 3, 3, 3], of: ({ calling }) => calling },
];

const height = 240;

/** Tick labels in the local time of the browser. */
const clock = (_: uPlot, ticks: readonly number[]): string[] =>
  ticks.map((at) => new Date(at * 1000).toLocaleTimeString("en-GB"));

/** Seconds between ticks. */
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 86400];

/** Calls between ticks: whole ones. */
const counts = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((size) => [size, 2 * size, 5 * size]);

const create = (place: HTMLElement, data: uPlot.AlignedData): uPlot => {
  const axis = axisStyle();
  return new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      axes: [
        { ...axis, values: clock, space: 80, incrs: steps },
        { ...axis, size: 64, incrs: counts },
      ],
      scales: { y: { range: (_, __, most) => [0, Math.max(10, most * 1.05)] } },
      series: [
        {},
        ...lines.map(({ label, colour, dash }) => ({
          label,
          dash,
          width: 2,
          stroke: colourOf(colour),
          points: { show: false },
        })),
      ],
    },
    data,
    place,
  );
};

/** The calls and outcomes of a campaign over time. */
export class Plot {
  #samples: readonly Sample[] = [];
  #shown: uPlot | undefined;

  constructor() {
    const again = (): void => this.#draw(true);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new ResizeObserver(() => this.#draw(this.#shown?.width !== box("plot").clientWidth)).observe(
      box("plot"),
    );
  }

  show(samples: readonly Sample[]): void {
    this.#samples = samples;
    this.#draw(false);
  }

  #draw(anew: boolean): void {
    const place = box("plot");
    const last = this.#samples.at(-1);
    if (place.clientWidth === 0 || !last) return;
    const data: uPlot.AlignedData = [
      this.#samples.map(({ at }) => at / 1000),
      ...lines.map(({ of }) => this.#samples.map(of)),
    ];
    if (anew) {
      this.#shown?.destroy();
      this.#shown = undefined;
    }
    if (this.#shown) this.#shown.setData(data);
    else this.#shown = create(place, data);
    const labels = lines.map(({ label, of }) => `${of(last).toLocaleString("en")} ${label}`);
    place.setAttribute("aria-label", `Lines over time, now at ${labels.join(", ")}`);
    box("legend").replaceChildren(
      ...lines.map(({ label, colour }, index) => {
        const item = make("li", labels[index] ?? label);
        item.className = colour.slice(2);
        return item;
      }),
    );
  }
}
