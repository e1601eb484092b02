import type { Runtime } from "./case.ts";

/** The cases that a runtime can't run, each with the reason; the report prints them. */
export const exempt: Partial<Record<Runtime, Readonly<Record<string, string>>>> = {};
