import { describe, expect, onTestFinished, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import {
  type CallRecord,
  createEmulator,
  type Emulator,
  type EmulatorOptions,
} from "../../../src/emulator/index.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { pause } from "../../../src/flows/prompts.ts";
import { gather, say } from "../../../src/flows/say.ts";

const flow_url = "https://app.test/flow";

type Actions = readonly unknown[];

/** A call to the end, whose flow answers one action after the other, and what was asked. */
const callWith = async (actions: Actions, options: EmulatorOptions = {}) => {
  const asked: Record<string, unknown>[] = [];
  const emulator = createEmulator({
    clock: "instant",
    ringDuration: 0,
    fetch: async (request) => {
      if (!request.url.endsWith("/flow")) return new Response("");
      asked.push(await request.json());
      return Response.json(actions[asked.length - 1] ?? { action: "hangup" });
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
    method: "POST",
    headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({
      ...{ from_number: "+12025550199", to_number: "+12025550100", flow_url },
      status_callback_url: "https://app.test/status",
    }),
  });
  const call = await emulator.ended((await response.json()).data.id);
  return { call, asked, digits: asked.map(({ digits }) => digits) };
};

const talkOf = ({ answered_at = 0, ended_at = 0 }: CallRecord) => ended_at - answered_at;

/** 20 characters: 1,300 ms. */
const text = "x".repeat(20);
const recording = { action: "record", prompts: [{ text }] };
const question = { action: "gather", prompts: [{ text }], digits: 1, flow_url };

describe("the own interface", () => {
  test("announces all actions in each request", async () => {
    const { asked } = await callWith([{ action: "say", prompts: [{ text }], flow_url }]);
    expect(asked.map(({ actions }) => actions)).toEqual(
      Array(2).fill(["play", "stream", "dial", "hangup", "say", "gather", "record", "dialed"]),
    );
  });

  test("speaks, plays and pauses one after the other", async () => {
    const prompts = [{ text }, { pause_ms: 2000 }, { media_url: "https://app.test/a.wav" }];
    const { call } = await callWith([{ action: "say", prompts }]);
    expect(call).toMatchObject({ reason: "normal" });
    expect(talkOf(call)).toBe(1300 + 2000 + 5000);
  });

  test("waits 5 s for a key, from the end of the prompts", async () => {
    const { call, digits } = await callWith([question]);
    expect(digits).toEqual([undefined, ""]);
    expect(talkOf(call)).toBe(1300 + 5000);
  });

  test("a key interrupts the prompts, and completes the answer", async () => {
    const { call, digits } = await callWith([question], {
      callee: [
        { type: "until", ms: 400 },
        { type: "press", digits: "7" },
      ],
    });
    expect(digits).toEqual([undefined, "7"]);
    expect(talkOf(call)).toBeLessThan(1300);
  });

  test("keys typed ahead belong to the answer, and each gives more time", async () => {
    const { call, digits } = await callWith(
      [{ ...question, digits: undefined, finish_on_key: "#", timeout_ms: 2000 }],
      {
        callee: [
          { type: "press", digits: "12" },
          { type: "silence", ms: 1500 },
          { type: "press", digits: "3" },
        ],
      },
    );
    expect(digits).toEqual([undefined, "123"]);
    expect(talkOf(call)).toBeGreaterThan(3500);
  });

  test("the finish key completes an answer, and is no part of it", async () => {
    const keys = { finish_on_key: "#", digits: 10 };
    const { digits } = await callWith([{ ...question, ...keys }], {
      callee: [{ type: "press", digits: "42#" }],
    });
    expect(digits).toEqual([undefined, "42"]);
  });

  test.each([
    [{ ...question, digits: undefined }, "digits is missing, as is finish_on_key"],
    [{ ...question, flow_url: undefined }, "flow_url is missing"],
    [{ ...question, prompts: [] }, "prompts must be 1 to 10 prompts"],
    [{ ...question, prompts: Array(11).fill({ text }) }, "prompts must be 1 to 10 prompts"],
    [{ ...question, prompts: [{ text: "x".repeat(1_501) }] }, "prompts.0 must be { text }"],
    [{ ...question, prompts: [{ pause_ms: 180_001 }] }, "prompts.0 must be { text }"],
    [{ ...question, digits: 21 }, "digits must be a whole number from 1 to 20"],
    [{ ...question, timeout_ms: 11_000 }, "timeout_ms must be 1000 to 10000 ms"],
    [{ ...question, finish_on_key: "*" }, 'finish_on_key must be "#"'],
    [{ ...recording, max_length_ms: 2_000 }, "max_length_ms must be 3000 to 3600000 ms"],
    [{ ...recording, silence_ms: 11_000 }, "silence_ms must be 3000 to 10000 ms"],
    [{ ...recording, as: "a b" }, "as must match"],
    [{ action: "dial", to: "+12025550101", timeout: 601 }, "timeout must be a whole number from 1"],
    [{ action: "dial", to: "12025550101" }, "to must be an E.164 number"],
    [{ action: "stream", ws_url: "wss://a.test/", chunk_size: 2_020 }, "chunk_size must be 20"],
    [{ action: "play", media_url: `https://a.test/${"x".repeat(2_083)}` }, "media_url must be"],
    [{ ...question, prompts: ["text"] }, "prompts.0 must be { text }"],
    [{ ...question, prompts: [{ media_url: "http://127.0.0.1/a" }] }, "must be https or wss"],
  ])("can't follow %j", async (action, rule) => {
    expect((await callWith([action])).call.flow_error).toContain(rule);
  });

  test("basic is the deployed service: it announces nothing, and has neither say nor gather", async () => {
    const { call, asked } = await callWith([question], { actions: "basic" });
    expect(asked).toEqual([expect.not.objectContaining({ actions: expect.anything() })]);
    expect(call).toMatchObject({
      reason: "flow_error",
      flow_error: "step 1: action must be play, stream, dial or hangup",
    });
  });
});

test("a flow in the request is performed without an application; a service with basic actions takes none", async () => {
  const given = (emulator: Emulator) => ({
    ...{ apiKey: emulator.apiKey, baseUrl: "https://emulator.test", fetch: emulator.fetch },
  });
  const params = {
    ...{ from_number: "+12025550199", to_number: "+12025550100", flow: say(text) },
    status_callback_url: "https://app.test/status",
  };
  const application = vi.fn(() => new Response(null, { status: 204 }));
  const emulator = createEmulator({ clock: "instant", fetch: application });
  const { id } = await create(params, given(emulator));
  const { history, reason, flow_url } = await emulator.ended(id);
  expect([reason, flow_url]).toEqual(["normal", ""]);
  expect(history).toContainEqual(expect.objectContaining({ type: "action", plays: [{ text }] }));
  const asked = application.mock.calls.map(([request]: readonly unknown[]) => Object(request).url);
  expect(new Set(asked)).toEqual(new Set(["https://app.test/status"]));
  await emulator.close();

  const basic = createEmulator({ clock: "instant", actions: "basic", fetch: application });
  const refused = create(params, given(basic));
  await expect(refused).rejects.toMatchObject({ code: 422, placed: "no" });
  await expect(refused).rejects.toThrow(
    "This service takes no flow in the request: give flow_url (no call was placed)",
  );
  expect(basic.calls).toEqual([]);
  await basic.close();
});

test.each([
  ["say", () => say(text)],
  ["gather", () => gather(text, { digits: 1, flow_url })],
])("flowHandler sends no %s to a service that doesn't announce it", async (name, onAnswer) => {
  const onError = vi.fn();
  const handler = flowHandler({ dangerouslyAllowUnverified: true, onAnswer, onError });
  const options = {
    fetch: (request: Request) =>
      request.url.endsWith("/flow") ? handler(request) : new Response(""),
  };
  const { call } = await callWith([], { actions: "basic", ...options });
  expect(call).toMatchObject({ reason: "normal" });
  expect(call.history).toContainEqual(
    expect.objectContaining({ type: "action", action: { action: "hangup" } }),
  );
  expect(onError.mock.calls.map(([{ message }]) => message)).toEqual([
    `action must not be ${name}: this service has not announced it`,
  ]);
  onError.mockClear();
  await callWith([], options);
  expect(onError).not.toHaveBeenCalled();
});

test("until-prompt: the callee is silent until the prompts before a question have ended", async () => {
  const { call, digits } = await callWith(
    [{ ...question, prompts: [{ text }, { pause_ms: 1000 }, { text }] }, question],
    {
      callee: [
        { type: "until-prompt" },
        { type: "press", digits: "1" },
        { type: "until-prompt" },
        { type: "press", digits: "2" },
      ],
    },
  );
  expect(digits).toEqual([undefined, "1", "2"]);
  expect(talkOf(call)).toBeGreaterThanOrEqual(1300 + 1000 + 1300 + 1300);
  expect(talkOf(call)).toBeLessThan(1300 + 1000 + 1300 + 1300 + 500);
});

test("until-prompt after a say, whose end is that of the prompts", async () => {
  const { call } = await callWith(
    [
      { action: "say", prompts: [{ text }, pause(2000)], flow_url },
      { action: "say", prompts: [{ text }] },
    ],
    { callee: [{ type: "until-prompt" }, { type: "hangup" }] },
  );
  expect(talkOf(call)).toBeGreaterThanOrEqual(3300);
  expect(talkOf(call)).toBeLessThan(3500);
});
