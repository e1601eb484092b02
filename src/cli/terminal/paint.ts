import { styleText } from "node:util";

type Style = Parameters<typeof styleText>[0];

/** Colours a text, where somebody sees it in colour. */
export type Paint = (style: Style, text: string) => string;

/** Colour for a terminal that wants it (see https://no-color.org), none for anything else. */
export const paint: Paint = (style, text) =>
  process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== "dumb"
    ? styleText(style, text, { validateStream: false })
    : text;
