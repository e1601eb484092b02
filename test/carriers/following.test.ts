import { describe, expect, test } from "vitest";
import type { SocketConstructor } from "../../src/emulator/options.ts";
import { dial, hangup, play, stream } from "../../src/flows/actions.ts";
import type { Dialed } from "../../src/flows/dialed.ts";
import { gather, say } from "../../src/flows/say.ts";
import { read } from "../docs/sources.ts";
import {
  converse,
  key,
  type Program,
  type Setting,
  services,
  spokenIn,
  type Talking,
} from "./conversations.ts";

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

/** The table of docs/flows.md, "What follows": by its first cell, what it says of each service. */
const table = (): ReadonlyMap<string, Readonly<Record<string, string>>> => {
  const [, part = ""] = read("docs/flows.md").split("\n## What follows\n");
  const [section = ""] = part.split("\n## ");
  const [, , ...rows] = section.split("\n").filter((line) => line.startsWith("|"));
  return new Map(
    rows.map((row) => {
      const [what = "", own = "", twilio = "", telnyx = "", vonage = ""] = row
        .split("|")
        .slice(1)
        .map((cell) => cell.trim());
      return [what, { own, twilio, telnyx, vonage }];
    }),
  );
};

type First = ReturnType<Program<"after">["onAnswer"]>;

/** A call that begins with `first`: what the step `after` got, the audio files that were played, and the errors. */
const following = async (service: Talking, first: First, setting: Setting = {}) => {
  const got: (Dialed | undefined)[] = [];
  const program: Program<"after"> = {
    onAnswer: () => first,
    steps: {
      after: ({ dialed }) => {
        got.push(dialed);
        return hangup();
      },
    },
  };
  const { call, onError } = await converse(service, program, [], setting);
  const plays = call.history.filter(
    (entry) =>
      (entry.type === "action" && entry.action.action === "play") ||
      (entry.type === "verb" && (entry.verb === "Play" || entry.verb === "stream")),
  );
  return { got, plays, errors: onError.mock.calls.map(([{ message }]) => String(message)) };
};

type Found = Awaited<ReturnType<typeof following>>;

/** How the cell of a service begins for what works there, or by what the service announces, or not at all. */
const announcedOr = async (
  service: Talking,
  first: First,
  works: (found: Found) => boolean,
  setting: Setting = {},
): Promise<string> => {
  if (!works(await following(service, first, setting))) return "no";
  if (service.name !== "own") return "yes";
  const basic = await following(service, first, { ...setting, actions: "basic" });
  if (works(basic)) return "yes";
  expect(basic.errors).toEqual([expect.stringMatching(/this service has not announced dialed$/)]);
  return "if the service";
};

const sockets = { WebSocket: ClosedSocket as unknown as SocketConstructor };
const reached = ({ got }: Found) => got.length === 1;

/** By the first cell of a row: how its cell for a service begins, as a call shows it. */
const observed: Readonly<Record<string, (service: Talking) => Promise<string>>> = {
  "`next` of `play`, `stream`": async (service) => {
    const played = await announcedOr(service, play(media, { next: "after" }), reached);
    const socket = stream("wss://app.test/media", { next: "after" });
    expect(await announcedOr(service, socket, reached, sockets)).toBe(played);
    return played;
  },
  "`next` of `dial`, with `dialed`": (service) =>
    announcedOr(service, dial(second.busy, { next: "after" }), ({ got: [dialed] }) => !!dialed),
  '`dialed.reason` `"normal"`, `"busy"`, `"no_answer"`': async (service) => {
    const reasons = [];
    for (const to of [second.completed, second.busy, second.no_answer]) {
      const { got } = await following(service, dial(to, { next: "after" }));
      reasons.push(got[0]?.reason);
    }
    return reasons.join() === "normal,busy,no_answer" ? "yes" : "no";
  },
  "a callee who declines": async (service) => {
    const { got } = await following(service, dial("+12025550103", { next: "after" }));
    return `\`"${got[0]?.reason}"\``;
  },
  "`dialed.duration`": async (service) => {
    const { got } = await following(service, dial(second.completed, { next: "after" }));
    if (got[0]?.duration === undefined) return "no";
    // The emulated Telnyx always sends it.
    return service.name === "telnyx" ? "if `DialCallDuration` is there" : "yes";
  },
  "`on_busy` and the like: `play` without `next`, `hangup`": async (service) => {
    const silent = ({ plays, errors }: Found) => plays.length + errors.length === 0;
    const heard = ({ plays, errors }: Found) => plays.length === 1 && errors.length === 0;
    const branches = { on_busy: hangup(), on_no_answer: play(media), on_failure: play(media) };
    const played = await announcedOr(service, dial(second.no_answer, branches), heard);
    expect(await announcedOr(service, dial(second.unreachable, branches), heard)).toBe(played);
    expect(await announcedOr(service, dial(second.busy, branches), silent)).toBe(played);
    return played;
  },
  "`on_busy` and the like: another action, a step": async (service) => {
    const step = dial(second.busy, { on_busy: "after" });
    const action = dial(second.busy, { on_busy: play(media, { next: "after" }) });
    const cell = await announcedOr(service, step, reached);
    expect(await announcedOr(service, action, reached)).toBe(cell);
    // Beside a flow_url the own interface refuses it, too.
    const beside = { ...step, flow_url: "https://app.test/mine" };
    const { got, errors } = await following(service, beside);
    const refused = ["on_busy must be a play or a hangup beside flow_url"];
    expect([got.length, errors]).toEqual(service.name === "own" ? [0, refused] : [1, []]);
    return cell;
  },
  "what came of a `stream`": async (service) => {
    const first = stream("wss://app.test/media", { next: "after" });
    const { got } = await following(service, first, sockets);
    expect(got).toHaveLength(1);
    return got[0] === undefined ? "no" : "yes";
  },
};

describe("docs/flows.md, What follows: each cell of the table is what a call shows", () => {
  const rows = table();

  test("each row has its calls here", () => {
    expect([...rows.keys()]).toEqual(Object.keys(observed));
  });

  test.each(
    Object.entries(observed).flatMap(([what, observe]) =>
      services.map((service) => ({ what, observe, service, name: service.name })),
    ),
  )("$what, $name", async ({ what, observe, service, name }) => {
    const cell = await observe(service);
    expect(rows.get(what)?.[name]).toMatch(new RegExp(`^${cell}(?!\\w)`));
  });
});
