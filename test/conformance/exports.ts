import { assert } from "chai";
import * as outdial from "outdial";
import { create } from "outdial/calls";
import * as straight from "outdial/fetch";
import type { Case } from "./case.ts";

export const cases: readonly Case[] = [
  {
    name: "create is the same function in outdial and outdial/calls",
    run: () => assert.strictEqual(outdial.calls.create, create),
  },
  {
    name: "outdial/fetch has the names of outdial, and the same exceptions and schemas",
    run: () => {
      assert.sameMembers(Object.keys(straight), Object.keys(outdial));
      const { calls, Client, ...shared } = straight;
      for (const [name, value] of Object.entries(shared)) {
        assert.strictEqual(Reflect.get(outdial, name), value, name);
      }
      assert.notStrictEqual<unknown>(calls.create, outdial.calls.create);
      assert.notStrictEqual<unknown>(Client, outdial.Client);
    },
  },
];
