import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { createEmulator } from "../../../src/emulator/index.ts";
import { hangup } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { gather } from "../../../src/flows/say.ts";
import { Client } from "../../../src/index.ts";
import type { Service } from "../../../src/service.ts";

const secret = crypto.randomUUID();

/** A call whose question is being asked: that takes more than a minute. */
const ask = async (service: Service | undefined) => {
  const answers: string[] = [];
  const flow = flowHandler({
    ...{ service, secret },
    onAnswer: () => gather("Press 12. ".repeat(100), { digits: 2, on: { 12: "thanks" } }),
    steps: {
      thanks: ({ digits }) => {
        answers.push(digits);
        return hangup();
      },
    },
  });
  const emulator = createEmulator({
    service,
    ringDuration: 0,
    fetch: (request) => (request.url.includes("/flow") ? flow(request) : new Response()),
  });
  const events = emulator[Symbol.asyncIterator]();
  const { apiKey, fetch } = emulator;
  const options = { baseUrl: "https://emulator.test", fetch, ...(service && { service }) };
  const { id } = await new Client(apiKey, options).calls.create({
    from_number: "+12025550199",
    to_number: "+12025550100",
    flow_url: await signUrl("https://app.test/flow", { secret }),
    status_callback_url: "https://app.test/status",
  });
  const isAsking = () =>
    emulator
      .call(id)
      ?.history.some(
        (entry) =>
          entry.type === "action" || (entry.type === "verb" && /Say|talk/.test(entry.verb)),
      );
  while (!isAsking()) await events.next();
  // A call that ends within the millisecond of its answer has no sound.
  const talkTime = () => Date.now() - (emulator.call(id)?.answered_at ?? Date.now());
  while (talkTime() <= 20) await setImmediate();
  return { emulator, id, answers };
};

const services: readonly (readonly [string, Service | undefined])[] = [
  ["outdial's own interface", undefined],
  ["Twilio", twilio({ accountSid: `AC${"0".repeat(32)}` })],
  ["Telnyx", telnyx({ applicationId: "1" })],
  ["Vonage", vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" })],
];

test.each(services)("keys of the telephone interrupt a prompt at once: %s", async (_, service) => {
  const { emulator, id, answers } = await ask(service);
  expect(emulator.press(id, "12")).toBe(true);
  const { history } = await emulator.ended(id);
  expect(answers).toEqual(["12"]);
  const pressed = history.flatMap((entry) => (entry.type === "press" ? [entry] : []));
  expect(pressed.map(({ digit }) => digit)).toEqual(["1", "2"]);
  expect(Number(emulator.call(id)?.duration)).toBeLessThan(60);
  expect(
    emulator
      .audio(id)
      ?.peaks("callee", 100_000)
      .some((peak) => peak > 0),
  ).toBe(true);
  expect(emulator.press(id, "1")).toBe(false);
  await emulator.close();
});

test.each(["", "a", "1".repeat(21), "1 2"])("press(id, %j) is refused by name", (digits) => {
  const emulator = createEmulator();
  expect(() => emulator.press("cs_1", digits)).toThrow("digits must be 1 to 20 keys");
});

test("no call: press(id, digits) is false", () => {
  expect(createEmulator().press("cs_1", "1")).toBe(false);
});

test("note adds a line to the history of a call that is known", async () => {
  await using emulator = createEmulator({
    clock: "instant",
    fetch: () => Response.json({ action: "hangup" }),
  });
  expect(emulator.note("cs_1", "nobody")).toBe(false);
  const client = new Client(emulator.apiKey, {
    baseUrl: "https://emulator.test",
    fetch: emulator.fetch,
  });
  const { id } = await client.calls.create({
    from_number: "+12025550199",
    to_number: "+12025550100",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
  });
  expect(emulator.note(id, "blocked")).toBe(true);
  const { history } = await emulator.ended(id);
  expect(history.flatMap((entry) => (entry.type === "note" ? [entry.text] : []))).toEqual([
    "blocked",
  ]);
  expect(() => emulator.note(id, "a".repeat(1_001))).toThrow("text must be a text of at most 1000");
});
