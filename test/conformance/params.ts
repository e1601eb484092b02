import { assert } from "chai";
import { BadParametersException, calls } from "outdial";
import type { Case } from "./case.ts";

export const cases: readonly Case[] = [];
