import { describe, expect, test } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { hangup } from "../../src/flows/actions.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { pause } from "../../src/flows/prompts.ts";
import { gather, say } from "../../src/flows/say.ts";
import { converse, key, type Program, secret, services, spokenIn } from "./conversations.ts";

const question = "Your appointment is tomorrow at nine. Press 1 to confirm, 2 to cancel.";

/** The reminder of docs/flows.md, and what came of it. */
const reminder = () => {
  const bookings: unknown[] = [];
  const program: Program<"confirm" | "cancel" | "optOut" | "bye"> = {
    onAnswer: ({ context }) =>
      gather(`Your appointment is ${context.when}. Press 1 to confirm, 2 to cancel.`, {
        digits: 1,
        as: "reply",
        on: { 1: "confirm", 2: "cancel", 9: "optOut" },
        tries: 3,
        otherwise: "bye",
      }),
    onMachine: ({ context }) =>
      say([pause(1000), `Your appointment is ${context.when}. Please call us back.`]),
    steps: {
      confirm: async ({ context }) => {
        bookings.push([context.id, "confirmed"]);
        return say("Thank you.");
      },
      cancel: async ({ context }) => {
        bookings.push([context.id, "canceled"]);
        return say("It is cancelled.");
      },
      optOut: async ({ call }) => {
        bookings.push([call.to_number, "blocked"]);
        return say("We will not call again.");
      },
      bye: () => say("Goodbye."),
    },
  };
  return { program, bookings };
};

const context = { id: 17, when: "tomorrow at nine" };

interface Row {
  readonly name: string;
  readonly callee: readonly CalleeAct[];
  readonly spoken: readonly string[];
  readonly bookings: readonly unknown[];
}

const rows: readonly Row[] = [
  {
    name: "confirms",
    callee: key("1"),
    spoken: [question, "Thank you."],
    bookings: [[17, "confirmed"]],
  },
  {
    name: "barges in",
    callee: [
      { type: "silence", ms: 300 },
      { type: "press", digits: "2" },
    ],
    spoken: [question, "It is cancelled."],
    bookings: [[17, "canceled"]],
  },
  {
    name: "presses a wrong key, and then the right one",
    callee: [...key("7"), ...key("1")],
    spoken: [question, question, "Thank you."],
    bookings: [[17, "confirmed"]],
  },
  {
    name: "wants no more calls",
    callee: key("9"),
    spoken: [question, "We will not call again."],
    bookings: [["+12025550100", "blocked"]],
  },
  {
    name: "is silent to the end",
    callee: [],
    spoken: [question, question, question, "Goodbye."],
    bookings: [],
  },
  {
    name: "hangs up in the prompt",
    callee: [{ type: "silence", ms: 400 }, { type: "hangup" }],
    spoken: [question],
    bookings: [],
  },
];

describe.each(services)("$name: a reminder", (service) => {
  test.each(rows)("the callee $name", async ({ callee, spoken, bookings: booked }) => {
    const { program, bookings } = reminder();
    const { call, onError } = await converse(service, program, callee, { context });
    expect(onError).not.toHaveBeenCalled();
    expect(call.flow_error).toBeUndefined();
    expect(spokenIn(call)).toEqual(spoken);
    expect(bookings).toEqual(booked);
  });

  test("a request that comes twice is answered twice, in the same way", async () => {
    const { program, bookings } = reminder();
    const { call, requests } = await converse(service, program, [...key("7"), ...key("1")], {
      context,
      onRequest: async (request, count) => {
        if (count !== 3) return;
        const handler = flowHandler({
          ...(service.service && { service: service.service }),
          ...{ secret, ...program },
        });
        expect((await handler(request)).status).toBe(200);
        return undefined;
      },
    });
    expect(requests).toHaveLength(3);
    expect(spokenIn(call)).toEqual([question, question, "Thank you."]);
    expect(bookings).toEqual([
      [17, "confirmed"],
      [17, "confirmed"],
    ]);
  });
});

describe.each(services)("$name: a survey", (service) => {
  const survey = () => {
    const given: unknown[] = [];
    const program: Program<"price" | "thanks"> = {
      onInput: ({ answers, digits, attempt }) => void given.push({ answers, digits, attempt }),
      onMachine: () => hangup(),
      onAnswer: () =>
        gather("From 1 to 5: how was your visit?", {
          digits: 1,
          as: "visit",
          on: { 1: "price", 2: "price", 3: "price", 4: "price", 5: "price" },
          tries: 2,
        }),
      steps: {
        price: () => gather("And the price?", { digits: 1, as: "price", next: "thanks" }),
        thanks: ({ answers }) => say(`Thank you for ${answers.visit} and ${answers.price}.`),
      },
    };
    return { given, program };
  };

  test("of two answers: each is given once, and the last step has both", async () => {
    const { given, program } = survey();
    const { call, onError, urls } = await converse(service, program, [
      ...key("9"),
      ...key("4"),
      ...key("2"),
    ]);
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you for 4 and 2.");
    expect(given).toEqual([
      { answers: { visit: "4" }, digits: "4", attempt: 2 },
      { answers: { visit: "4", price: "2" }, digits: "2", attempt: 1 },
    ]);
    for (const url of urls) expect(decodeURIComponent(url)).not.toMatch(/visit|price/);
  });

  test("left after one answer: that one was given, and the call ends after silence", async () => {
    const { given, program } = survey();
    const { call } = await converse(service, program, key("5"));
    expect(given).toEqual([{ answers: { visit: "5" }, digits: "5", attempt: 1 }]);
    expect(spokenIn(call)).toEqual(["From 1 to 5: how was your visit?", "And the price?"]);
  });

  test("whose onInput fails: the error is reported, and the next answers has it too", async () => {
    const { given, program } = survey();
    let isDown = true;
    const onInput: typeof program.onInput = (one) => {
      if (isDown) {
        isDown = false;
        throw new Error("the database is away");
      }
      return program.onInput?.(one);
    };
    const { onError, call } = await converse(service, { ...program, onInput }, [
      ...key("3"),
      ...key("1"),
    ]);
    expect(onError).toHaveBeenCalledTimes(1);
    expect(spokenIn(call).at(-1)).toBe("Thank you for 3 and 1.");
    expect(given).toEqual([{ answers: { visit: "3", price: "1" }, digits: "1", attempt: 1 }]);
  });
});

describe.each(services)("$name: an alert", (service) => {
  test("is acknowledged by 4, with the keys of a longer answer typed ahead", async () => {
    const noted: unknown[] = [];
    const program: Program<"ack" | "check"> = {
      onInput: ({ answers }) => void noted.push(answers),
      onAnswer: () =>
        gather("Alert. The database is down. Enter your code, then hash.", {
          finish_on_key: "#",
          as: "code",
          next: "check",
        }),
      steps: {
        check: ({ digits }) =>
          gather(`Code ${digits}. Press 4 to acknowledge.`, {
            ...{ digits: 1, as: "ack", on: { 4: "ack" }, tries: 3 },
          }),
        ack: () => say("Acknowledged."),
      },
    };
    const { call } = await converse(service, program, [
      { type: "silence", ms: 200 },
      { type: "press", digits: "1234#" },
      ...key("4"),
    ]);
    expect(spokenIn(call).slice(1)).toEqual([
      "Code 1234. Press 4 to acknowledge.",
      "Acknowledged.",
    ]);
    expect(noted).toEqual([{ code: "1234" }, { code: "1234", ack: "4" }]);
  });
});

describe.each(services)("$name: a secret that is rotated", (service) => {
  test("between two questions: the old one still opens", async () => {
    const { program, bookings } = reminder();
    const next = "another secret that was made at random";
    const { call, onError } = await converse(service, program, [...key("7"), ...key("1")], {
      context,
      secrets: [secret, [next, secret], [next, secret]],
    });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you.");
    expect(bookings).toEqual([[17, "confirmed"]]);
  });

  test("without keeping the old one: the request is refused, and no step runs", async () => {
    const { program, bookings } = reminder();
    const { onError } = await converse(service, program, key("1"), {
      context,
      secrets: [secret, "another secret that was made at random"],
    });
    expect(onError.mock.calls.map(([{ reason }]) => reason)).toEqual(["wrong_token"]);
    expect(bookings).toEqual([]);
  });
});
