import { expect, test, vi } from "vitest";
import { measured } from "../../../src/http/post.ts";

const url = "https://voice.test/api/v1/calls/initiate";

test("an attempt is reported once, with what is known at that time", () => {
  vi.useFakeTimers();
  const onAttempt = vi.fn();
  const facts = { placed: "maybe", code: 202, requestId: "req_1" } as const;
  const tell = measured(onAttempt, url, { posts: 2, facts });
  vi.advanceTimersByTime(40);
  tell("yes");
  tell();
  expect(onAttempt.mock.calls).toEqual([
    [
      {
        ...{ method: "POST", url, attempt: 2, milliseconds: 40 },
        ...{ status: 202, requestId: "req_1", placed: "yes" },
      },
    ],
  ]);
  vi.useRealTimers();
});

test("a listener that throws or rejects is nobody's business", async () => {
  for (const onAttempt of [
    () => {
      throw new Error("no");
    },
    () => Promise.reject(new Error("no")),
  ]) {
    measured(onAttempt, url, { posts: 1, facts: { placed: "no" } })();
  }
  await new Promise((resolve) => setTimeout(resolve));
});
