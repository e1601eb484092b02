import type { Case } from "../case.ts";
import { cases as api } from "./api.ts";
import { cases as callee } from "./callee.ts";
import { cases as calls } from "./calls.ts";
import { cases as faults } from "./faults.ts";
import { cases as stream } from "./stream.ts";

/** The service as one fetch function: its answers, its calls, its streams and who picks up. */
export const cases: readonly Case[] = [...api, ...calls, ...stream, ...callee, ...faults];
