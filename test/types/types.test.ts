import { expect, test } from "vitest";
import { checkTypes } from "../examples/execute.ts";

test.each([".", "src/cli", "src/exchange", "test", "test/bench"])(
  "the types of %s are right",
  async (folder) => {
    const { code, stdout } = await checkTypes(folder);
    expect(code, stdout).toBe(0);
  },
);
