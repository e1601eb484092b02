import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Whether the project is one of `npm run test:long`. */
    isLong: boolean;
  }
}

/**
 * Which of several runtimes the tests of a file use: the first one in `npm test`, and the others in `npm run test:long`.
 */
export const partOf = <Runtime extends string>(all: readonly Runtime[]): readonly Runtime[] =>
  inject("isLong") ? all.slice(1) : all.slice(0, 1);
