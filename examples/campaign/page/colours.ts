import { box } from "./elements.ts";

/** A colour of the current scheme: a canvas does not resolve variables. */
export const colourOf = (name: string): string => {
  const { style } = box("plot");
  style.color = `var(${name})`;
  const { color } = getComputedStyle(box("plot"));
  style.color = "";
  return color;
};

/** How the axes of the charts look. */
export const axisStyle = () => ({
  stroke: colourOf("--soft"),
  grid: { stroke: colourOf("--line"), width: 1 },
  ticks: { stroke: colourOf("--line"), width: 1 },
  font: "12px system-ui, sans-serif",
});
