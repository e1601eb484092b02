import { number } from "../format.ts";
import type { Plot } from "../section.ts";

const colours = {
  ours: "#0b6e4f",
  floor: "#7a7f87",
  fetch: "#3b6fb5",
  "node:http": "#8a5fb0",
} as const;
const left = 250;
const width = 860;
const bar = 20;
const gap = 10;
const top = 52;

const plain = (text: string): string =>
  text.replace(/[*`]/g, "").replace(/[&<>]/g, (one) => `&#${one.charCodeAt(0)};`);

/** Bars beside each other from zero, each with its value and its quartiles; readable on light and dark. */
export const svg = ({ title, unit, bars }: Plot): string => {
  const most = Math.max(...bars.map(({ high }) => high), 0);
  const scale = (value: number): number => (value / most) * (width - left - 110);
  const height = top + bars.length * (bar + gap) + 10;
  const drawn = bars.map(({ label, value, low, high, kind }, place) => {
    const y = top + place * (bar + gap);
    const middle = y + bar / 2;
    const [from, to] = [left + scale(low), left + scale(high)].map((x) => x.toFixed(1));
    const end = (left + scale(Math.max(value, high)) + 8).toFixed(1);
    return [
      `<text x="${left - 10}" y="${middle + 5}" text-anchor="end"${kind === "ours" ? ' font-weight="bold"' : ""}>${plain(label)}</text>`,
      `<rect x="${left}" y="${y}" width="${scale(value).toFixed(1)}" height="${bar}" fill="${colours[kind]}"/>`,
      high > low
        ? `<path d="M${from} ${middle}H${to}M${from} ${middle - 5}v10M${to} ${middle - 5}v10" stroke="#111" stroke-width="1.5"/>`
        : "",
      `<text x="${end}" y="${middle + 5}">${number(value)}</text>`,
    ].join("");
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="14" fill="#111" role="img" aria-label="${plain(title)}">`,
    `<rect width="${width}" height="${height}" fill="#fff"/>`,
    `<text x="16" y="30" font-size="17" font-weight="bold">${plain(title)}, ${unit}</text>`,
    ...drawn,
    "</svg>",
    "",
  ].join("\n");
};
