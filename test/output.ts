import type { Readable } from "node:stream";

// Of what is printed by the console, vitest shows only what belongs to a test that fails.

/** Prints a line for everybody. */
export const announce = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints what a process prints with the test in which it does. */
export const printWithTest = (output: Readable): void => {
  output.on("data", (text) => console.error(String(text).trimEnd()));
};
