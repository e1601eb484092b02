import { describe, expect, test } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { hangup, play } from "../../src/flows/actions.ts";
import { gather, say } from "../../src/flows/say.ts";
import { converse, type Program, type Setting, services } from "./conversations.ts";

/** A call that a machine takes: what `onInput` has got, and what was reported. */
const leave = async (
  service: (typeof services)[number],
  program: Program<"more" | "bye">,
  setting: Setting & { readonly callee?: readonly CalleeAct[] } = {},
) => {
  const { callee = [], ...rest } = setting;
  const inputs: unknown[] = [];
  const { onError, urls, call } = await converse(
    service,
    {
      onInput: ({ message, digits, answers }) =>
        inputs.push(message ?? (digits ? answers : "answered")),
      ...program,
    },
    callee,
    { isMachine: true, ...rest },
  );
  return { inputs, urls, call, errors: onError.mock.calls.map(([error]) => error) };
};

const onAnswer = () => hangup();
const steps = { more: () => say("And more."), bye: () => hangup() };
const question = { digits: 1, as: "reply", timeout_ms: 1_000 } as const;

describe.each(services)("$name", (service) => {
  test.each<[string, Program<"more" | "bye">["onMachine"], requests: number]>([
    ["a text", () => say("Call us."), 2],
    ["a recording", () => play("https://app.test/message.wav"), 2],
    ["a text and a step that speaks", () => say("Call us.", { next: "more" }), 3],
    ["a text and a step that hangs up", () => say("Call us.", { next: "bye" }), 2],
    [
      "a question, which a machine does not answer",
      () => gather("1?", { ...question, next: "bye" }),
      2,
    ],
    [
      "a question and what follows silence",
      () => gather("1?", { ...question, next: "bye", otherwise: "bye" }),
      2,
    ],
  ])("%s is left once its last prompt has ended", async (_, onMachine, requests) => {
    const { inputs, urls, errors } = await leave(service, { onAnswer, onMachine, steps });
    expect(inputs).toEqual(["answered", "left"]);
    expect(urls).toHaveLength(requests);
    expect(errors).toEqual([]);
  });

  test("nothing is left by hangup alone, nor where somebody hangs up in the middle", async () => {
    const alone = await leave(service, { onAnswer, onMachine: () => hangup(), steps });
    expect(alone.inputs).toEqual(["answered"]);
    const cut = await leave(
      service,
      { onAnswer, onMachine: () => say("Call us. ".repeat(20)), steps },
      { callee: [{ type: "until", ms: 500 }, { type: "hangup" }] },
    );
    expect(cut.inputs).toEqual(["answered"]);
  });

  test("nothing is left with a person: who presses a key is none, also a wrong one", async () => {
    const press = (digits: string): readonly CalleeAct[] => [
      { type: "until-prompt" },
      { type: "press", digits },
    ];
    const asking = { ...question, on: { 1: "bye" }, otherwise: "bye" } as const;
    const program = { onAnswer, onMachine: () => gather("1?", asking), steps };
    const right = await leave(service, program, { callee: press("1") });
    expect(right.inputs).toEqual(["answered", { reply: "1" }]);
    const wrong = await leave(service, program, { callee: press("2") });
    expect(wrong.inputs).toEqual(["answered"]);
  });

  test("what onInput throws of it is reported, and the call ends as it would", async () => {
    const { call, errors } = await leave(service, {
      onAnswer,
      onMachine: () => say("Call us."),
      onInput: ({ message }) => {
        if (message) throw new Error("no ledger");
      },
    });
    expect(call.reason).toBe("normal");
    expect(errors).toEqual([new Error("no ledger")]);
  });

  test("without onInput nothing is asked after the message", async () => {
    const { urls } = await leave(service, {
      onAnswer,
      onMachine: () => say("Call us."),
      onInput: undefined,
    } as Program<"more" | "bye">);
    expect(urls).toHaveLength(1);
  });
});
