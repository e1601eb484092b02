import type { Figures, QuarterFigures } from "outdial/campaigns";
import uPlot from "uplot";
import { axisStyle, colourOf } from "./colours.ts";
import { box, make } from "./elements.ts";

type Count = "people" | "machines" | "nobody";

/** A part of each column, with its own colour. */
interface Part {
  readonly label: string;
  readonly colour: string;
  readonly of: (hour: QuarterFigures) => number;
}

const parts: Readonly<Record<Count, Part>> = {
  people: { label: "answered by people", colour: "--good", of: ({ people }) => people },
  machines: { label: "by machines", colour: "--machine", of: ({ machines }) => machines },
  nobody: {
    label: "not answered, or live",
    colour: "--faint",
    of: ({ calls, people, machines }) => calls - people - machines,
  },
};

const hours = 24;
const height = 200;

/** The start of the day by the clock of the browser, in milliseconds since 1970. */
export const midnight = (): number => new Date().setHours(0, 0, 0, 0);

/** The calls of each hour of the clock, also of those without any. */
const byHour = (quarters: Figures["quarters"]): readonly QuarterFigures[] => {
  const all = Array.from({ length: hours }, (_, at) => ({ at, calls: 0, people: 0, machines: 0 }));
  for (const { at, calls, people, machines } of quarters) {
    const hour = all[new Date(at).getHours()];
    if (!hour || at < midnight()) continue;
    hour.calls += calls;
    hour.people += people;
    hour.machines += machines;
  }
  return all;
};

const textOf = (all: readonly QuarterFigures[]): string => {
  const texts = all
    .filter(({ calls }) => calls > 0)
    .map(({ at, calls, people }) => `${at}:00: ${calls} calls, ${people} answered by people`);
  return texts.length > 0 ? `Calls by the hour. ${texts.join("; ")}` : "No calls today";
};

const create = (place: HTMLElement, data: uPlot.AlignedData): uPlot => {
  const axis = axisStyle();
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], align: 1 });
  return new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      axes: [
        { ...axis, grid: { show: false }, incrs: [1, 2, 3, 6], space: 32 },
        {
          ...axis,
          size: 64,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5],
        },
      ],
      scales: {
        x: { time: false, range: [0, hours] },
        y: { range: (_, __, most) => [0, Math.max(5, most * 1.05)] },
      },
      series: [
        {},
        // The highest first: the others stand before it.
        ...Object.values(parts)
          .toReversed()
          .map(({ label, colour }) => ({
            label,
            width: 0,
            fill: colourOf(colour),
            points: { show: false },
            ...(bars && { paths: bars }),
          })),
      ],
    },
    data,
    place,
  );
};

/** The calls of the day: a column an hour. */
export class DayChart {
  #all: readonly QuarterFigures[] = [];
  #shown: uPlot | undefined;

  constructor() {
    const again = (): void => this.#draw();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
    new ResizeObserver(() => {
      if (this.#shown?.width !== box("day").clientWidth) this.#draw();
    }).observe(box("day"));
  }

  show({ quarters }: Figures): void {
    this.#all = byHour(quarters);
    box("today").hidden = this.#all.every(({ calls }) => calls === 0);
    this.#draw();
  }

  #draw(): void {
    const place = box("day");
    if (place.clientWidth === 0 || this.#all.length === 0) return;
    const { people, machines, nobody } = parts;
    const data: uPlot.AlignedData = [
      this.#all.map(({ at }) => at),
      this.#all.map((hour) => people.of(hour) + machines.of(hour) + nobody.of(hour)),
      this.#all.map((hour) => people.of(hour) + machines.of(hour)),
      this.#all.map(people.of),
    ];
    this.#shown?.destroy();
    this.#shown = create(place, data);
    place.setAttribute("aria-label", textOf(this.#all));
    box("day-legend").replaceChildren(
      ...Object.values(parts).map(({ label, colour, of }) => {
        const count = this.#all.reduce((total, hour) => total + of(hour), 0);
        const item = make("li", `${count.toLocaleString("en")} ${label}`);
        item.className = colour.slice(2);
        return item;
      }),
    );
  }
}
