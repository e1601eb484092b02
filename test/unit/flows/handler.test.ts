import { afterEach, expect, test, vi } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { hangup } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { gather } from "../../../src/flows/say.ts";

afterEach(() => void vi.useRealTimers());

/** The request of outdial's own interface for a flow. */
const request = () =>
  new Request("https://app.test/flow", {
    method: "POST",
    body: JSON.stringify({
      call_id: "cs_1",
      account_id: "acc_1",
      from_number: "+12025550177",
      to_number: "+12025550188",
      direction: "outbound",
    }),
  });

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
  const answered = vi.fn();
  const response = handler(request());
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

test("after the time of a request no step runs any more", async () => {
  const secret = "0123456789abcdef";
  const ran: string[] = [];
  const reported: unknown[] = [];
  const given = Promise.withResolvers<void>();
  const isAsked = Promise.withResolvers<void>();
  const handler = flowHandler({
    secret,
    onAnswer: () => gather("Press 1", { digits: 1, on: { 1: "yes" } }),
    steps: {
      yes: () => {
        ran.push("yes");
        return hangup();
      },
    },
    onInput: () => {
      isAsked.resolve();
      return given.promise;
    },
    onError: (error) => reported.push(error),
  });
  const call = {
    call_id: "cs_1",
    account_id: "acc_1",
    from_number: "+12025550177",
    to_number: "+12025550188",
    direction: "outbound",
    actions: ["say", "gather"],
  };
  const ask = async (url: string, more: object = {}) =>
    (
      await handler(
        new Request(url, { method: "POST", body: JSON.stringify({ ...call, ...more }) }),
      )
    ).json();
  const { flow_url } = await ask(await signUrl("https://app.test/flow", { secret }));
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const response = ask(flow_url, { digits: "1" });
  await isAsked.promise;
  await vi.advanceTimersByTimeAsync(8_000);
  expect(await response).toEqual({ action: "hangup" });
  given.resolve();
  await vi.advanceTimersByTimeAsync(0);
  expect(ran).toEqual([]);
  expect(reported).toHaveLength(1);
  expect(`${reported}`).toContain("onInput gave no answer within 8000 ms");
});

test.each(["onAnswer", "onMachine"])("no step is named %s, as it would never run", (name) => {
  const steps = { [name]: hangup };
  expect(() => flowHandler({ secret: "0123456789abcdef", onAnswer: hangup, steps })).toThrow(
    "steps must be an object of functions, none of them named onAnswer or onMachine",
  );
});

test.each<[string, unknown, string]>([
  ["an error", new RangeError("no row of Ada"), "RangeError"],
  [
    "a rule",
    new BadParametersException([{ param: "to", message: "must be E.164" }]),
    "to must be E.164",
  ],
  ["nothing", undefined, "no Error was thrown"],
  ["a name that no header may have", Object.assign(new Error(), { name: "a\r\nb: ü" }), "a b:"],
  [
    "a name that throws",
    {
      get name() {
        throw new Error("Ada");
      },
    },
    "an error",
  ],
])(
  "the response that hangs up says what failed, and no message of the application's own: %s",
  async (_, thrown, said) => {
    const handler = flowHandler({
      dangerouslyAllowUnverified: true,
      onAnswer: () => {
        throw thrown;
      },
      onError: () => {},
    });
    const response = await handler(request());
    expect([response.status, await response.json()]).toEqual([200, { action: "hangup" }]);
    expect(response.headers.get("outdial-failed")).toBe(said);
  },
);
