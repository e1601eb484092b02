import { format } from "node:util";
import { afterEach, beforeEach, vi } from "vitest";

/**
 * Keeps what each case prints, as Node's console writes it: cases print on purpose, so that it can be searched.
 *
 * @returns all that was printed so far
 */
export const keepPrinted = (): (() => string) => {
  const printed: string[] = [];
  beforeEach(() => {
    vi.spyOn(console, "log").mockImplementation((...values) => {
      printed.push(format(...values));
    });
  });
  afterEach(() => void vi.restoreAllMocks());
  return () => printed.join("\n");
};
