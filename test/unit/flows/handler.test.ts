import { afterEach, expect, test, vi } from "vitest";
import { flowHandler } from "../../../src/flows/handler.ts";

afterEach(() => void vi.useRealTimers());

test("a decision that takes 8 s is a TimeoutError, and the call is hung up", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const onError = vi.fn();
  const handler = flowHandler({
    dangerouslyAllowUnverified: true,
    onAnswer: () => new Promise(() => {}),
    onError,
  });
  const body = JSON.stringify({
    call_id: "cs_1",
    account_id: "acc_1",
    from_number: "+12025550177",
    to_number: "+12025550188",
    direction: "outbound",
  });
  const answered = vi.fn();
  const response = handler(new Request("https://app.test/flow", { method: "POST", body }));
  response.then(answered);
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(1));
  await vi.advanceTimersByTimeAsync(7_999);
  expect(answered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await (await response).json()).toEqual({ action: "hangup" });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({
    name: "TimeoutError",
    message: "onAnswer gave no action within 8000 ms",
  });
});
