import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createEmulator, type EmulatorOptions } from "../../../src/emulator/index.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const account = "1773070540731319841";

const emulate = (options: EmulatorOptions) =>
  createEmulator({ service: { name: "telnyx", account }, clock: "instant", ...options });

type Emulator = ReturnType<typeof emulate>;

const place = ({ fetch, apiKey }: Emulator): Promise<Response> =>
  fetch(`https://emulator.test/v2/texml/calls/${account}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
    body: JSON.stringify({
      From: "+12025550199",
      To: "+12025550100",
      Url: "https://app.test/flow",
      StatusCallback: "https://app.test/status",
      StatusCallbackEvent: "completed",
    }),
  });

/** Lets time pass until a promise is settled: its signatures are made beside the timers. */
const whileTimePasses = async <T>(work: Promise<T>): Promise<T> => {
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  while (!isSettled) await vi.advanceTimersByTimeAsync(500);
  return settled;
};

const texml = () =>
  new Response("<Response><Hangup/></Response>", { headers: { "Content-Type": "text/xml" } });

/** An application that answers flow requests late, and the first notification never. */
const lateApplication = (flowDelay: number) => {
  let isFirst = true;
  return ({ url }: Request): Response | Promise<Response> => {
    if (url.endsWith("/flow")) {
      return new Promise((resolve) => setTimeout(() => resolve(texml()), flowDelay));
    }
    if (!isFirst) return new Response(null, { status: 204 });
    isFirst = false;
    return new Promise(() => {});
  };
};

test.each([
  ["by default, 2 s", {}, 9_500, 2_000],
  ["of responseTimeout", { responseTimeout: 5_000 }, 4_500, 5_000],
] as const)(
  "waits for the answer to a notification %s, and sends it again",
  async (_, options, flowDelay, wait) => {
    const emulator = emulate({ ...options, fetch: lateApplication(flowDelay) });
    const { call_sid } = await (await whileTimePasses(place(emulator))).json();
    const { history, flow_error } = await whileTimePasses(emulator.ended(call_sid));
    const tries = history.flatMap((entry) =>
      entry.type === "notification" ? [[entry.outcome, entry.error]] : [],
    );
    expect(flow_error).toBeUndefined();
    expect(tries).toEqual([
      ["retrying", `no answer within ${wait} ms`],
      ["delivered", undefined],
    ]);
    await emulator.close();
  },
);

test("says that Web Crypto lacks Ed25519, and places no call", async () => {
  const unknown = new DOMException("Unrecognized algorithm name", "NotSupportedError");
  vi.spyOn(crypto.subtle, "importKey").mockRejectedValue(unknown);
  const emulator = emulate({ fetch: texml });
  const response = await place(emulator);
  const detail = "The emulated Telnyx signs with Ed25519, which Web Crypto lacks here";
  expect(response.status).toBe(500);
  expect(await response.json()).toMatchObject({ errors: [{ code: "10007", detail }] });
  expect(emulator.refused).toMatchObject([{ status: 500, detail }]);
  expect(emulator.calls).toEqual([]);
  await emulator.close();
});
