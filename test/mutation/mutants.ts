import { readFileSync } from "node:fs";
import type { Stryker } from "@stryker-mutator/core";

type Result = Awaited<ReturnType<Stryker["runMutationTest"]>>[number];

/** A change to a piece of `src`, and what the tests made of it. */
export interface Mutant {
  readonly file: string;
  readonly at: number;
  /** The line on which the piece begins. */
  readonly line: string;
  readonly from: string;
  readonly to: string;
  readonly status: Result["status"];
}

/** A piece of code on one line. */
export const words = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Stryker's results, with the code in place of positions, which move. */
export const mutantsOf = (results: readonly Result[]): readonly Mutant[] => {
  const sources = new Map<string, readonly string[]>();
  return results.map(({ fileName, location: { start, end }, replacement, status }) => {
    const file = fileName.slice(fileName.indexOf("src/"));
    const lines = sources.get(file) ?? readFileSync(file, "utf8").split("\n");
    sources.set(file, lines);
    // Stryker counts lines and columns from 1.
    const piece = lines.slice(start.line - 1, end.line);
    piece.push((piece.pop() ?? "").slice(0, end.column - 1));
    piece[0] = (piece[0] ?? "").slice(start.column - 1);
    return {
      file,
      at: start.line,
      line: words(lines[start.line - 1] ?? ""),
      from: words(piece.join("\n")),
      to: words(replacement),
      status,
    };
  });
};
