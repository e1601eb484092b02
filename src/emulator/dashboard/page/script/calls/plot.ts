/**
 * The calls over time: a bar for each stretch of it, of those that came in then. An SVG of its own:
 * a library for plots is several times the size of the page, and draws where no style reaches.
 */
export const plot: string = `
const bars = 48;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
const kinds = { completed: "completed", failed: "failed", active: "going on" };
const kindOf = (call) => (isOver(call) ? (call.reason === "flow_error" ? "failed" : call.state) : "active");

const draw = (tag, attributes, ...children) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};

const shape = draw("svg", { viewBox: "0 0 480 64", preserveAspectRatio: "none", role: "img" });
const least = make("time");
const most = make("time");
const legend = make("span", { class: "legend" });
by("plot").append(shape, make("figcaption", { class: "soft" }, least, legend, most));

/** How many calls of each kind came in, stretch by stretch. */
const counted = (calls, now) => {
  const oldest = calls.reduce((early, call) => Math.min(early, call.initiated_at), now);
  const step = 1000 * (steps.find((each) => 1000 * each * (bars - 1) > now - oldest) ?? 86400);
  const start = (Math.floor(now / step) - bars + 1) * step;
  const stretches = Array.from({ length: bars }, () => ({ completed: 0, failed: 0, active: 0 }));
  for (const call of calls) {
    const stretch = stretches[Math.floor((call.initiated_at - start) / step)];
    if (stretch) stretch[kindOf(call)]++;
  }
  return { start, stretches };
};

const sumOf = (counts) => counts.completed + counts.failed + counts.active;

const plot = (calls, now) => {
  const { start, stretches } = counted(calls, now);
  const highest = Math.max(1, ...stretches.map(sumOf));
  const total = { completed: 0, failed: 0, active: 0 };
  const rectangles = stretches.flatMap((counts, at) => {
    let top = 64;
    return Object.keys(kinds).filter((kind) => counts[kind] > 0).map((kind) => {
      total[kind] += counts[kind];
      const height = (counts[kind] / highest) * 64;
      top -= height;
      return draw("rect", { class: kind, x: at * 10 + 1, y: top.toFixed(2), width: 8, height: height.toFixed(2) });
    });
  });
  shape.replaceChildren(...rectangles);
  say(least, clock(start));
  say(most, clock(now));
  const words = Object.keys(kinds).filter((kind) => total[kind] > 0)
    .map((kind) => make("span", { class: "state " + (kind === "active" ? "main" : kind) }, total[kind] + " " + kinds[kind]));
  const told = words.map((word) => word.textContent).join(", ");
  if (legend.dataset.told !== told) {
    legend.dataset.told = told;
    legend.replaceChildren(...words);
  }
  shape.setAttribute("aria-label", "Calls that came in from " + least.textContent + " to " + most.textContent + ": " + told + ". At most " + highest + " at a time.");
};
`;
