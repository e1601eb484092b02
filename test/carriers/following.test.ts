import { describe, expect, test } from "vitest";
import type { SocketConstructor } from "../../src/emulator/options.ts";
import { dial, hangup, play, stream } from "../../src/flows/actions.ts";
import type { Dialed } from "../../src/flows/dialed.ts";
import { gather, say } from "../../src/flows/say.ts";
import { converse, key, type Program, services, spokenIn } from "./conversations.ts";

const media = "https://app.test/hello.wav";

/** Numbers of the emulator, and what comes of a dial to them. */
const second = {
  completed: "+12025550123",
  busy: "+12025550101",
  no_answer: "+12025550102",
  unreachable: "+12025550104",
} as const;

/** The media socket of an application that closes it at once. */
class ClosedSocket extends EventTarget {
  readyState = 0;
  readonly bufferedAmount = 0;
  constructor() {
    super();
    setTimeout(() => this.#become(1, "open"));
    setTimeout(() => this.#become(3, "close"));
  }
  #become(state: number, event: string): void {
    this.readyState = state;
    this.dispatchEvent(new Event(event));
  }
  send(): void {}
  close(): void {}
}

const failed = (reason: Dialed["reason"]): Dialed => ({
  state: "failed",
  ...(reason && { reason }),
});

/** Click to call, as the issue and docs/recipes.md have it. */
const clickToCall = (to: string) => {
  const results: unknown[] = [];
  const program: Program<"after"> = {
    onAnswer: () => dial(to, { timeout: 20, next: "after" }),
    steps: {
      after: ({ dialed, context, answers }) => {
        results.push({ dialed, context, answers });
        return dialed?.state === "completed" ? hangup() : say("Nobody is free. We call you back.");
      },
    },
  };
  return { program, results };
};

const context = { lead: 17 };

describe.each(services)("$name: click to call", (service) => {
  test("the step after a conversation gets that it is over, with its seconds where the service says them", async () => {
    const { program, results } = clickToCall(second.completed);
    const { call, onError } = await converse(service, program, [], { context });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual([]);
    const duration = service.name === "vonage" ? {} : { duration: expect.any(Number) };
    const dialed = { state: "completed", reason: "normal", ...duration };
    expect(results).toEqual([{ dialed, context, answers: {} }]);
  });

  test.each(["busy", "no_answer", "unreachable"] as const)(
    "the step after %s gets that nobody was reached",
    async (reason) => {
      const { program, results } = clickToCall(second[reason]);
      const { call, onError } = await converse(service, program, [], { context });
      expect(onError).not.toHaveBeenCalled();
      expect(spokenIn(call)).toEqual(["Nobody is free. We call you back."]);
      expect(results).toEqual([{ dialed: failed(reason), context, answers: {} }]);
    },
  );

  test("a callee who hangs up during the conversation runs no step", async () => {
    const { program, results } = clickToCall(second.completed);
    await converse(service, program, [{ type: "silence", ms: 1_500 }, { type: "hangup" }]);
    expect(results).toEqual([]);
  });
});

describe.each(services)("$name: branches of a dial", (service) => {
  test("are any actions of the flow, which continue, and keep the answers", async () => {
    const program: Program<"put" | "later" | "bye"> = {
      onAnswer: () => gather("Press 1 for sales.", { digits: 1, as: "team", next: "put" }),
      steps: {
        put: () =>
          dial(second.busy, {
            on_busy: gather("All are busy. Press 1 for a call back.", {
              ...{ digits: 1, as: "back", on: { 1: "later" }, otherwise: "bye" },
            }),
            on_failure: hangup(),
          }),
        later: ({ answers }) => say(`We call back team ${answers.team}: ${answers.back}.`),
        bye: () => say("Goodbye."),
      },
    };
    const { call, onError } = await converse(service, program, [...key("7"), ...key("1")]);
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual([
      "Press 1 for sales.",
      "All are busy. Press 1 for a call back.",
      "We call back team 7: 1.",
    ]);
    const silent = await converse(service, program, key("7"));
    expect(spokenIn(silent.call).at(-1)).toBe("Goodbye.");
  });

  test("are steps, by their names, and lead on to another dial", async () => {
    const asked: unknown[] = [];
    const program: Program<"other" | "after"> = {
      onAnswer: () => dial(second.no_answer, { on_no_answer: "other", next: "after" }),
      steps: {
        other: ({ dialed }) => {
          asked.push(dialed);
          return dial(second.busy, { on_failure: hangup(), next: "after" });
        },
        after: ({ dialed }) => {
          asked.push(dialed);
          return say("Nobody is there.");
        },
      },
    };
    const { call, onError } = await converse(service, program, []);
    expect(onError).not.toHaveBeenCalled();
    expect(asked).toEqual([failed("no_answer"), failed("busy")]);
    expect(spokenIn(call)).toEqual(["Nobody is there."]);
  });

  test("without one for what came of it, and without next, the call ends", async () => {
    const program: Program<never> = {
      onAnswer: () => dial(second.busy, { on_no_answer: say("Nobody is there.") }),
    };
    const { call, onError } = await converse(service, program, []);
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual([]);
  });

  test("a step that is not in steps is refused before anybody is dialled", async () => {
    const program: Program = {
      onAnswer: () => dial(second.busy, { on_busy: say("Busy.", { next: "nowhere" }) }),
    };
    const { onError } = await converse(service, program, []);
    expect(onError.mock.calls.map(([{ message }]) => message)).toEqual([
      "dial continues with a step that is not in steps",
    ]);
  });
});

describe.each(services)("$name: next", (service) => {
  test("of a play runs a step when it has ended", async () => {
    const program: Program<"later"> = {
      onAnswer: ({ context }) => play(media, context.x ? { next: "later" } : {}),
      steps: { later: ({ context, dialed }) => say(`Then ${context.x}, ${dialed}.`) },
    };
    const { call, onError } = await converse(service, program, [], { context: { x: 1 } });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual(["Then 1, undefined."]);
  });

  test("of a stream runs a step when the socket is closed", async () => {
    const program: Program<"later"> = {
      onAnswer: () => stream("wss://app.test/media", { next: "later" }),
      steps: { later: () => say("The agent has gone.") },
    };
    const WebSocket = ClosedSocket as unknown as SocketConstructor;
    const { call, onError } = await converse(service, program, [], { WebSocket });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual(["The agent has gone."]);
  });

  test("of a message for a machine reports at its end that it was left", async () => {
    const given: unknown[] = [];
    const program: Program<"more"> = {
      onAnswer: () => hangup(),
      onMachine: () => play(media, { next: "more" }),
      onInput: ({ message }) => void (message && given.push(message)),
      steps: { more: () => say("Please call back.") },
    };
    await converse(service, program, [], { isMachine: true });
    expect(given).toEqual(["left"]);
  });
});
