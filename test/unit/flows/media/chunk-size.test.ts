import { expect, test } from "vitest";
import { streamSession } from "../../../../src/flows/media/session.ts";
import type { MediaSocket } from "../../../../src/flows/media/socket.ts";

const nothing = (): MediaSocket =>
  Object.assign(new EventTarget(), { readyState: 1, send: () => {}, close: () => {} });

test.each([0, 0.01, -20, 19, 20.5, 10_001, Number.NaN, Number.POSITIVE_INFINITY, "500", null])(
  "no message has a length of %s ms",
  (chunkSize) => {
    expect(() => streamSession(nothing(), {}, { chunkSize: chunkSize as number })).toThrow(
      expect.objectContaining({
        name: "BadParametersException",
        param: "chunkSize",
        placed: "no",
      }),
    );
  },
);

test.each([20, 500, 10_000, undefined])("one may have a length of %s ms", (chunkSize) => {
  expect(streamSession(nothing(), {}, { chunkSize }).waiting).toBe(0);
});
