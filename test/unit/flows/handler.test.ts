import { afterEach, expect, test, vi } from "vitest";
import { flowHandler } from "../../../src/flows/handler.ts";

afterEach(() => void vi.useRealTimers());

test("a decision later than 8 s after the request is a TimeoutError, and the call is hung up", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const onError = vi.fn();
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const onAnswer = () => {
    asked();
    return new Promise<never>(() => {});
  };
  const handler = flowHandler({ dangerouslyAllowUnverified: true, onAnswer, onError });
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
  await isAsked;
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(7_999);
  expect(answered).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(await (await response).json()).toEqual({ action: "hangup" });
  expect(onError.mock.calls[0]?.[0]).toMatchObject({
    name: "TimeoutError",
    message: "onAnswer gave no answer within 8000 ms of the request",
  });
});
