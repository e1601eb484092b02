// A flow in the request of a call: on each emulator what it can have is performed, and what it can't is refused before
// anything is sent.
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { ended } from "../../src/calls/ended.ts";
import type { CallFlow } from "../../src/calls/params.ts";
import { telnyx, telnyxCalls } from "../../src/carriers/telnyx/index.ts";
import { twilio, twilioCalls } from "../../src/carriers/twilio/index.ts";
import { vonage, vonageCalls } from "../../src/carriers/vonage/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { dial, hangup, pause, play, say, spell, stream } from "../../src/flows/index.ts";
import { calls, isException } from "../../src/index.ts";
import type { CallService } from "../../src/options.ts";
import type { Carrier } from "./carrier.ts";
import { carriers } from "./carriers.ts";
import { answering, from, verbsOf } from "./stage.ts";

const numbers = { from_number: from, to_number: answering };

/** The emulator of a carrier, an application that nobody asks, and the options of our client. */
const start = (
  { service, emulated, keyOf }: Carrier,
  options: EmulatorOptions & { readonly as?: CallService } = {},
) => {
  const { as = service, ...others } = options;
  const application = vi.fn(async () => new Response("sound"));
  const emulator = createEmulator({
    ...emulated,
    clock: "instant",
    untimedMedia: true,
    host: "127.0.0.1",
    fetch: application,
    ...others,
  });
  onTestFinished(() => emulator.close());
  const fetch = vi.fn(emulator.fetch);
  const given = { apiKey: keyOf(emulator), service: as, baseUrl: "https://emulator.test", fetch };
  const place = (flow: CallFlow, more: object = {}) =>
    calls.create({ ...numbers, flow, ...more }, given);
  return { emulator, application, fetch, place };
};

const errorOf = async (call: Promise<unknown>) => {
  const error: unknown = await call.then(
    () => undefined,
    (reason) => reason,
  );
  if (!isException(error)) throw error;
  return error;
};

/** What differs. */
const rows = {
  twilio: { spoken: ["Say", "Pause", "Say", "Hangup"], reason: undefined, next: true, legs: true },
  telnyx: { spoken: ["Say", "Pause", "Say", "Hangup"], reason: undefined, next: true, legs: true },
  vonage: { spoken: ["talk", "wait", "talk"], reason: "normal", next: false, legs: false },
} as const;

describe.each(carriers)("a flow in the request, with $name", (carrier) => {
  const { name } = carrier;
  const row = rows[name as keyof typeof rows];

  test("a text is spoken without an application, a notification or a URL", async () => {
    const { emulator, application, place } = start(carrier);
    const { id } = await place(say(["Your code is 4, 0, 2.", pause(1_000), "Goodbye."]));
    const record = await emulator.ended(id);
    expect(record).toMatchObject({ state: "completed", flow_url: "", status_callback_url: "" });
    expect(verbsOf(record).map((verb) => verb.split(" ")[0])).toEqual(row.spoken);
    expect(application).not.toHaveBeenCalled();
  });

  test("a spoken code: the program of a script, which knows how the call ended", async () => {
    const { emulator } = start(carrier);
    // As in an application, whose requests reach the carrier.
    vi.stubGlobal("fetch", emulator.fetch);
    onTestFinished(() => void vi.unstubAllGlobals());
    const { service } = carrier;
    const apiKey = carrier.keyOf(emulator);
    const { from_number, to_number } = numbers;

    const flow = say(["Your code is ", spell("402913"), pause(1_000), "Again: ", spell("402913")]);
    const call = await calls.create(
      { from_number, to_number, flow, record: false },
      { apiKey, service },
    );
    const { state, reason } = await ended(call.id, { apiKey, service }, { endTimeout: 120_000 });

    expect({ state, reason }).toEqual({ state: "completed", reason: row.reason });
    const said = JSON.stringify((await emulator.ended(call.id)).history);
    expect(said.match(/4, 0, 2, 9, 1, 3/g)?.length).toBeGreaterThanOrEqual(2);
  });

  test("play and hangup are performed, too", async () => {
    const { emulator, application, place } = start(carrier);
    const { id } = await place(play("https://app.test/hello.wav"));
    expect((await emulator.ended(id)).reason).toBe("normal");
    expect(application).toHaveBeenCalledTimes(1);
    const { id: silent } = await place(hangup());
    expect(await emulator.ended(silent)).toMatchObject({ state: "completed", reason: "normal" });
  });

  test("dial and stream are performed where they need no id of the call", async () => {
    const { emulator, place, fetch } = start(carrier);
    if (row.legs) {
      const { id } = await place(dial("+12025550101", { timeout: 20 }));
      expect(verbsOf(await emulator.ended(id))).toContain("Dial");
      return;
    }
    for (const flow of [dial(answering), stream("wss://app.test/media", { record: false })]) {
      const error = await errorOf(place(flow));
      expect(error.message).toMatch(/^flow must not be a (dial|stream) on Vonage.*give flow_url/);
    }
    expect(fetch).not.toHaveBeenCalled();
  });

  test("what follows at a URL is asked for there, or refused", async () => {
    const { place, fetch, emulator, application } = start(carrier);
    const flow = say("Hello.", { flow_url: "https://app.test/next" });
    if (row.next) {
      const { id } = await place(flow);
      await emulator.ended(id);
      expect(application).toHaveBeenCalled();
      return;
    }
    const error = await errorOf(place(flow));
    expect(error.message).toMatch(/^flow must be without flow_url on Vonage/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test("notifications come where they are asked for", async () => {
    const { emulator, application, place } = start(carrier);
    const { id } = await place(say("Hello."), { status_callback_url: "https://app.test/status" });
    await emulator.ended(id);
    expect(application).toHaveBeenCalled();
  });

  test("a text is no markup", async () => {
    const { emulator, place } = start(carrier);
    const text = '</Say><Hangup/> & "quoted" <Say>';
    const { history } = await emulator.ended((await place(say(text))).id);
    const spoken = JSON.stringify(history.filter(({ type }) => type === "verb"));
    expect(spoken).toContain(JSON.stringify(text.trim()).slice(1, -1));
  });

  test("with flow_url a call needs no notifications either", async () => {
    const { fetch, emulator, application } = start(carrier);
    const { service, keyOf } = carrier;
    const given = { apiKey: keyOf(emulator), service, baseUrl: "https://emulator.test", fetch };
    const flow_url = "https://app.test/flow";
    const { id } = await calls.create({ ...numbers, flow_url }, given);
    await emulator.ended(id);
    expect(application).toHaveBeenCalled();
  });

  test("a service that only places calls has no encoder", async () => {
    const { account } = carrier.service;
    const as = {
      twilio: () => twilioCalls({ accountSid: account }),
      telnyx: () => telnyxCalls({ applicationId: account }),
      vonage: () => vonageCalls({ applicationId: account }),
    }[name as keyof typeof rows]();
    const { place, fetch } = start(carrier, { as });
    const error = await errorOf(place(say("Hello.")));
    expect(error.message).toBe(
      `flow needs the whole ${name}(…): ${name}Calls(…) has no encoder (no call was placed)`,
    );
    expect(fetch).not.toHaveBeenCalled();
  });

  test("machineDetection that would need onMachine is refused; what waits for a greeting's end is not", async () => {
    const { account } = carrier.service;
    const detecting = (machineDetection: "detect" | "message") =>
      ({
        twilio: () => twilio({ accountSid: account, machineDetection }),
        telnyx: () => telnyx({ applicationId: account, machineDetection }),
        vonage: () => vonage({ applicationId: account, machineDetection }),
      })[name as keyof typeof rows]();
    for (const detection of ["detect", "message"] as const) {
      const { place, emulator } = start(carrier, {
        as: detecting(detection),
        onCall: () => ({ outcome: "answer", answeredBy: "machine" }),
      });
      if (detection === "message" && name !== "vonage") {
        const { id } = await place(say("Hello."));
        const { answered_at = 0, history } = await emulator.ended(id);
        const spoken = history.find(({ type }) => type === "verb");
        expect(Date.parse(spoken?.at ?? "") - answered_at).toBeGreaterThanOrEqual(4_500);
      } else {
        const error = await errorOf(place(say("Hello.")));
        expect(error.message).toMatch(
          new RegExp(`^machineDetection must not be "${detection}" with flow: .*onMachine`),
        );
      }
    }
  });
});

test("Twilio takes 4,000 characters of TwiML: one more is refused here by rule and way out, and by its emulator with its code", async () => {
  const carrier = carriers.find(({ name }) => name === "twilio");
  if (!carrier) throw new Error("no Twilio");
  const { place, fetch, emulator } = start(carrier);
  const overhead = (count: number) =>
    `<?xml version="1.0" encoding="UTF-8"?><Response>${"<Say></Say>".repeat(count)}<Hangup/></Response>`
      .length;
  const texts = (length: number) => {
    const left = length - overhead(3);
    return say(["x".repeat(1_400), "x".repeat(1_400), "x".repeat(left - 2_800)]);
  };
  const { id } = await place(texts(4_000));
  expect((await emulator.ended(id)).state).toBe("completed");
  const error = await errorOf(place(texts(4_001)));
  expect(error.message).toMatch(
    /^flow must be at most 4000 characters as TwiML, not 4001: give flow_url/,
  );
  expect(fetch).toHaveBeenCalledTimes(1);
  const { account } = carrier.service;
  const response = await emulator.fetch(
    `https://emulator.test/2010-04-01/Accounts/${account}/Calls.json`,
    {
      method: "POST",
      headers: {
        Authorization: `Basic ${btoa(`${account}:${emulator.apiKey}`)}`,
        "Content-Type": "application/x-www-form-urlencoded",
      },
      body: `${new URLSearchParams({ To: answering, From: from, Twiml: "x".repeat(4_001) })}`,
    },
  );
  expect([response.status, (await response.json()).code]).toEqual([400, 32_018]);
});
