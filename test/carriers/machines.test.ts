import { describe, expect, test, vi } from "vitest";
import { callbackHandler } from "../../src/callbacks/handler.ts";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { redirect } from "../../src/calls/index.ts";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { machineUrl } from "../../src/flows/machine-url.ts";
import { pause } from "../../src/flows/prompts.ts";
import { gather, say } from "../../src/flows/say.ts";
import { Client } from "../../src/index.ts";
import type { Service } from "../../src/service.ts";
import { carriers } from "./carriers.ts";
import { secret, spokenIn } from "./conversations.ts";

type Detection = "detect" | "message";

const accounts: Readonly<Record<string, (machineDetection: Detection) => Service>> = {
  twilio: (machineDetection) =>
    twilio({ accountSid: String(carriers[0]?.service.account), machineDetection }),
  telnyx: (machineDetection) =>
    telnyx({ applicationId: String(carriers[1]?.service.account), machineDetection }),
  vonage: (machineDetection) =>
    vonage({ applicationId: String(carriers[2]?.service.account), machineDetection }),
};

/** A reminder that a machine answers, to the end, and what the functions of its flow got. */
const remind = async (name: string, detection: Detection, options: EmulatorOptions = {}) => {
  const service = accounts[name]?.(detection) ?? expect.fail(name);
  const carrier = carriers.find((one) => one.name === name) ?? expect.fail(name);
  const given: unknown[][] = [];
  const inputs: unknown[] = [];
  const reported: unknown[] = [];
  const onError = vi.fn();
  const flow = flowHandler({
    ...{ service, secret, onError },
    onAnswer: ({ answered_by }) => {
      given.push(["onAnswer", answered_by]);
      return gather("Press 1 to confirm.", {
        ...{ digits: 1, next: "thanks", tries: 5, timeout_ms: 10_000 },
      });
    },
    onMachine: ({ answered_by, context }) => {
      given.push(["onMachine", answered_by]);
      return say([pause(1000), `Please call ${context.name} back.`]);
    },
    onInput: ({ answered_by, message: left }) =>
      inputs.push(left ? `${left}: ${answered_by}` : answered_by),
    steps: { thanks: () => say("Thank you.") },
  });
  const status = callbackHandler({
    ...{ service, secret, onError },
    onEvent: async ({ event, context }) => {
      if (!event.known || event.type !== "call.machine_detected") return;
      const { from = "", to = "", answered_by = "unknown", beep } = event.data;
      reported.push([answered_by, beep]);
      if (!beep || name !== "vonage") return;
      const url = await machineUrl("https://app.test/flow", { secret, context, answered_by });
      const machine = { id: event.call_id, from_number: from, to_number: to };
      await redirect(machine, url, { ...account(), service });
    },
  });
  const emulator = createEmulator({
    ...carrier.emulated,
    service,
    clock: "instant",
    fetch: (request) => (new URL(request.url).pathname === "/flow" ? flow : status)(request),
    ...options,
  });
  const account = () => ({
    ...{ baseUrl: "https://emulator.test", fetch: emulator.fetch },
    apiKey: carrier.keyOf(emulator),
  });
  const { apiKey, ...rest } = account();
  const client = new Client(apiKey, { ...rest, service });
  const context = { name: "the clinic" };
  const { id } = await client.calls.create({
    from_number: "+12025550199",
    to_number: "+12025550106",
    flow_url: await signUrl("https://app.test/flow", { secret, context }),
    status_callback_url: await signUrl("https://app.test/status", { secret, context }),
  });
  const call = await emulator.ended(id);
  await emulator.close();
  expect(onError).not.toHaveBeenCalled();
  return { call, given, inputs, reported, spoken: spokenIn(call) };
};

const message = "Please call the clinic back.";

describe.each(["twilio", "telnyx"])("%s: the flow is requested when it is known", (name) => {
  test.each([
    ["detect", {}, "machine_start"],
    ["message", {}, "machine_end_beep"],
    ["message", { beep: false }, "machine_end_silence"],
  ] as const)("%s, %j: onMachine decides, with %s", async (detection, machine, answered_by) => {
    const { given, inputs, spoken } = await remind(name, detection, {
      onCall: () => ({ outcome: "answer", answeredBy: "machine", ...machine }),
    });
    expect(given).toEqual([["onMachine", answered_by]]);
    expect(inputs).toEqual([answered_by, `left: ${answered_by}`]);
    expect(spoken).toEqual([message]);
  });

  test("a person is asked", async () => {
    const { given, spoken } = await remind(name, "message", {
      onCall: () => ({ outcome: "answer" }),
    });
    expect(given).toEqual(Array(5).fill(["onAnswer", "human"]));
    expect(spoken).toEqual(Array(5).fill("Press 1 to confirm."));
  });
});

describe("vonage: the flow has run already when it is known", () => {
  test.each([
    [{ greeting: 4_000 }, "machine_end_beep"],
    [{ greeting: 4_000, beep: false }, "machine_end_other"],
  ] as const)("%j: the call is sent to onMachine once, with %s", async (machine, answered_by) => {
    const { given, inputs, reported, spoken } = await remind("vonage", "message", {
      onCall: () => ({ outcome: "answer", answeredBy: "machine", ...machine }),
    });
    expect(reported).toEqual([
      ["machine_start", undefined],
      [answered_by, true],
    ]);
    expect(given.at(-1)).toEqual(["onMachine", answered_by]);
    expect(given.filter(([at]) => at === "onMachine")).toHaveLength(1);
    expect(inputs).toEqual([answered_by, `left: ${answered_by}`]);
    expect(spoken.at(-1)).toBe(message);
  });

  test("detect finds the machine, and waits for no beep", async () => {
    const { reported } = await remind("vonage", "detect");
    expect(reported).toEqual([["machine_start", undefined]]);
  });
});

test.each(["human", "unknown", "", "machine_end_beep&x=1", "MARKED"])(
  "machineUrl signs nothing for %j",
  async (answered_by) => {
    const signed = machineUrl("https://app.test/flow", { secret, answered_by });
    await expect(signed).rejects.toThrow("answered_by must be that of a machine");
  },
);
