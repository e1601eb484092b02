import { assert } from "chai";
import { calls } from "outdial";
import { create } from "outdial/calls";
import type { Case } from "./case.ts";

export const cases: readonly Case[] = [
  {
    name: "create is the same function in outdial and outdial/calls",
    run: () => assert.strictEqual(calls.create, create),
  },
];
