import uPlot from "uplot";

/** Calls of an hour or a day, as the page has them. */
interface Row {
  readonly label: string;
  readonly calls: number;
  readonly people: number;
  readonly machines: number;
}

const height = 220;

/** The calls of a chart, from its element: the tables have the same. */
const rowsOf = (place: HTMLElement): readonly Row[] => JSON.parse(place.dataset.rows ?? "[]");

/** A colour of the current scheme: a canvas does not resolve variables. */
const colourOf = (place: HTMLElement, name: string): string => {
  place.style.color = `var(${name})`;
  const { color } = getComputedStyle(place);
  place.style.color = "";
  return color;
};

/** Calls between ticks: whole ones. */
const counts = [1, 10, 100, 1_000, 10_000, 100_000].flatMap((size) => [size, 2 * size, 5 * size]);

/** Columns of calls, of which those that were answered stand in front, and a line of the answer rate. */
const chartOf = (place: HTMLElement, rows: readonly Row[]): uPlot => {
  const colour = (name: string): string => colourOf(place, name);
  const axis = {
    stroke: colour("--soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
  };
  const paths = uPlot.paths.bars?.({ size: [0.72, 48] });
  const column = (name: string): uPlot.Series => ({
    width: 0,
    fill: colour(name),
    points: { show: false },
    ...(paths && { paths }),
  });
  const rate = colour("--main");
  return new uPlot(
    {
      width: place.clientWidth,
      height,
      legend: { show: false },
      cursor: { show: false },
      padding: [12, 4, 0, 0],
      scales: {
        x: { time: false, range: [-0.6, rows.length - 0.4] },
        y: { range: (_, __, most) => [0, Math.max(5, most * 1.05)] },
        rate: { range: [0, 100] },
      },
      axes: [
        {
          ...axis,
          size: 32,
          grid: { show: false },
          incrs: [1, 2, 3, 6, 7, 14, 28, 56, 112],
          space: Math.max(36, 7.5 * (rows[0]?.label.length ?? 0)),
          values: (_, ticks) => ticks.map((at) => rows[at]?.label ?? ""),
        },
        { ...axis, size: 56, incrs: counts },
        {
          ...axis,
          scale: "rate",
          side: 1,
          size: 48,
          grid: { show: false },
          values: (_, ticks) => ticks.map((tick) => `${tick} %`),
        },
      ],
      series: [
        {},
        column("--faint"),
        column("--machine"),
        column("--good"),
        {
          scale: "rate",
          stroke: rate,
          width: 2,
          points: { show: true, size: 6, stroke: rate, fill: colour("--card") },
        },
      ],
    },
    [
      rows.map((_, at) => at),
      rows.map(({ calls }) => calls),
      rows.map(({ people, machines }) => people + machines),
      rows.map(({ people }) => people),
      rows.map(({ calls, people }) => (calls === 0 ? null : (100 * people) / calls)),
    ],
    place,
  );
};

const places = document.querySelectorAll<HTMLElement>("[data-rows]");
const shown = new Map<HTMLElement, uPlot>();

const draw = (): void => {
  for (const place of places) {
    const rows = rowsOf(place);
    if (place.clientWidth === 0 || rows.length === 0) continue;
    shown.get(place)?.destroy();
    shown.set(place, chartOf(place, rows));
  }
};

draw();
for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", draw);
}
addEventListener("beforeprint", draw);
addEventListener("afterprint", draw);
new ResizeObserver(() => {
  if ([...places].some((place) => shown.get(place)?.width !== place.clientWidth)) draw();
}).observe(document.body);
