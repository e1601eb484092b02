import type { Case } from "./case.ts";
import { cases as params } from "./params.ts";

/** Every case, in the order in which it is run. */
export const cases: readonly Case[] = [...params];
