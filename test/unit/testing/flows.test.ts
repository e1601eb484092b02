import { describe, expect, test, vi } from "vitest";
import { connectAgent, type SessionEnd } from "../../../src/agents/index.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import type { CalleeAct } from "../../../src/emulator/callee-script.ts";
import { wavHead } from "../../../src/emulator/recording/wav.ts";
import {
  type Action,
  audio,
  dial,
  flowHandler,
  gather,
  hangup,
  type KeyCount,
  pause,
  record,
  say,
  stream,
} from "../../../src/flows/index.ts";
import type { Service } from "../../../src/service.ts";
import { compareReports } from "../../../src/testing/compare-reports.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { type SimulatedCall, simulateCall } from "../../../src/testing/simulate-call.ts";
import { carriers } from "../carriers/carriers.ts";
import { voice } from "./agents.ts";

const lines: readonly (readonly [name: string, service: Service | undefined])[] = [
  ["outdial's own interface", undefined],
  ...carriers.map(({ name, service }) => [name, service] as const),
];

const secret = "a secret that was made at random";
const context = { when: "on Monday" };

const press = (digits: string): CalleeAct => ({ type: "press", digits });
const untilPrompt = { type: "until-prompt" } as const;
const silent = { type: "silence", ms: 9_000 } as const;

/** What was heard and done, a line for each. */
const heardIn = ({ transcript }: SimulatedCall): readonly string[] =>
  transcript.map(({ who, type, text }) => `${who} ${type} ${text}`.trim());

/** A reminder, and a beep to speak after. */
const reminder = (service?: Service) =>
  flowHandler({
    ...(service && { service }),
    secret,
    onAnswer: ({ context }) =>
      gather(`It is ${context.when}. Press 1.`, { digits: 1, on: { 1: "thanks" }, tries: 2 }),
    onMachine: ({ context }) => say([pause(1_000), `It is ${context.when}. Call us back.`]),
    steps: { thanks: () => say("Thank you.") },
    onError: () => {},
  });

describe.each(lines)("a flow on the line of %s", (_, service) => {
  const call = (caller: readonly CalleeAct[], answeredBy?: "machine") =>
    simulateCall({ flow: reminder(service), secret, context, service, caller, answeredBy });

  test("a callee presses 1 at 2.1 s, hears the next step at once, and the flow hangs up", async () => {
    const { transcript, turns, end } = await call([{ type: "until", ms: 2_100 }, press("1")]);
    expect(transcript).toMatchObject([
      { who: "flow", type: "said", text: "It is on Monday. Press 1.", ms: 0, to: 1_625 },
      { who: "callee", type: "pressed", text: "1", ms: 2_100 },
      { who: "flow", type: "said", text: "Thank you.", ms: 2_100, to: 2_750 },
    ]);
    expect(turns).toEqual([{ from: 2_100, to: 2_100, expect: "respond", keys: 1, response: 0 }]);
    expect(end).toMatchObject({ ms: 2_750, reason: "normal", by: "flow" });
  });

  test("a key interrupts the question, and another key asks again", async () => {
    const heard = await call([{ type: "until", ms: 500 }, press("7"), untilPrompt, press("1")]);
    expect(heardIn(heard)).toEqual([
      "flow said It is on Monday. Press 1.",
      "callee pressed 7",
      "flow said It is on Monday. Press 1.",
      "callee pressed 1",
      "flow said Thank you.",
    ]);
    expect(heard.transcript[0]).toMatchObject({ ms: 0, to: 500 });
    expect(heard.turns.map(({ response }) => response)).toEqual([0, 0]);
  });

  test("a machine hears what onMachine decides", async () => {
    const heard = await call([], "machine");
    expect(heardIn(heard)).toEqual(["flow said It is on Monday. Call us back."]);
    expect(heard.transcript[0]?.ms).toBe(1_000);
  });

  test("a callee hangs up, and nobody who waits for keys is told of any", async () => {
    const { end, turns } = await call([untilPrompt, { type: "hangup" }]);
    expect(end.by).toBe("callee");
    expect(turns).toEqual([]);
  });
});

describe.each(lines)("a flow that fails on the line of %s", (_, service) => {
  const onError = () => {};
  const failing = () =>
    flowHandler({
      ...(service && { service }),
      ...{ secret, onError, onAnswer: () => say("Hello.", { next: "look" }) },
      steps: { look: () => Promise.reject(new RangeError("no row of Ada")) },
    });

  test("has a fault for a step that throws, without its message, and is redacted as the rest", async () => {
    const call = await simulateCall({ flow: failing(), secret, service, caller: [] });
    const text =
      "flow_url answered hangup, as a function of yours failed (outdial-failed: RangeError)";
    expect(call.faults).toEqual([{ text, ms: 500 }]);
    expect(call.end).toMatchObject({ reason: "normal", by: "flow" });
    const report = await call.toReport({ redact: (given) => given.replace("RangeError", "…") });
    expect(report.faults).toEqual([{ text: text.replace("RangeError", "…"), ms: 500 }]);
    const well = await simulateCall({
      flow: reminder(service),
      secret,
      context,
      service,
      caller: [],
    });
    expect(well.faults).toEqual([]);
  });

  test("is refused by name where it has more than 50 actions: a carrier ends no loop", async () => {
    const flow = flowHandler({
      ...(service && { service }),
      ...{ secret, onError, onAnswer: () => say("Again.", { next: "again" }) },
      steps: { again: () => say("Again.", { next: "again" }) },
    });
    await expect(simulateCall({ flow, secret, service, caller: [] })).rejects.toThrow(
      /^flow (must have at most 50 actions: |could not be followed: .* is one of more than 50)/,
    );
  });
});

const ofAction = (onAnswer: () => Action) =>
  flowHandler({ dangerouslyAllowUnverified: true, onAnswer, onError: () => {} });

describe("the transcript of a flow", () => {
  test("has media, for 5 s or as long as the head of its WAV says", async () => {
    const flow = ofAction(() => say(["One.", audio("https://app.test/a.wav?token=t")]));
    const given = { flow, caller: [] };
    const [assumed, known] = [
      await simulateCall(given),
      await simulateCall({
        ...given,
        media: () =>
          new Response(wavHead(16_000, 8_000), { headers: { "Content-Length": "32044" } }),
      }),
    ];
    const url = "https://app.test/a.wav?token=t";
    expect(assumed.transcript[1]).toMatchObject({ type: "played", text: url, ms: 500, to: 5_500 });
    expect(known.transcript[1]).toMatchObject({ ms: 500, to: 2_500 });
  });

  test("has whom the flow dials, and why that ended", async () => {
    const flow = ofAction(() => dial("+12025550101", { timeout: 20 }));
    const { transcript } = await simulateCall({ flow, caller: [] });
    expect(transcript).toMatchObject([
      { who: "flow", type: "dialed", text: "+12025550101", ms: 0, to: 0, reason: "busy" },
    ]);
  });

  test("has whom the flow dials before what it says at the same moment, as that was busy", async () => {
    const flow = flowHandler({
      secret,
      onAnswer: () => dial("+12025550101", { next: "after" }),
      steps: { after: () => say("It is busy.") },
    });
    expect(heardIn(await simulateCall({ flow, secret, caller: [] }))).toEqual([
      "flow dialed +12025550101",
      "flow said It is busy.",
    ]);
  });

  test("has what the callee says as a text, and when they are recorded", async () => {
    const flow = flowHandler({
      secret,
      onAnswer: () => record("Your name.", { finish_on_key: "#", as: "name", next: "bye" }),
      steps: { bye: () => hangup() },
    });
    const caller = [
      untilPrompt,
      { type: "say", ms: 700, text: "Ada" } as const,
      press("#"),
      silent,
    ];
    const { transcript } = await simulateCall({ flow, secret, caller });
    expect(transcript).toMatchObject([
      { who: "flow", type: "said", text: "Your name." },
      { who: "flow", type: "beeped", ms: 650, to: 1_150 },
      { who: "callee", type: "recorded", ms: 1_150, to: 1_850 },
      { who: "callee", type: "said", text: "Ada", ms: 1_170, to: 1_870 },
      { who: "callee", type: "pressed", text: "#", ms: 1_850 },
    ]);
  });
});

describe("the turn of some keys", () => {
  const asks = (digits: KeyCount) =>
    flowHandler({
      secret,
      onAnswer: () => gather("Your number.", { digits, next: "thanks" }),
      steps: { thanks: () => say("Thank you.") },
    });

  test("is one for those of an act, and the last one is responded to", async () => {
    const caller = [untilPrompt, press("1234"), silent];
    const { turns } = await simulateCall({ flow: asks(4), secret, caller });
    expect(turns).toEqual([{ from: 800, to: 1_380, expect: "respond", keys: 4, response: 0 }]);
  });

  test("is one for each act, also of two acts without a pause", async () => {
    const flow = flowHandler({
      secret,
      onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "more" } }),
      steps: {
        more: () => gather("Press 2.", { digits: 1, on: { 2: "bye" } }),
        bye: () => hangup(),
      },
    });
    const caller = [{ type: "until", ms: 300 }, press("1"), press("2"), silent] as const;
    const { turns, transcript } = await simulateCall({ flow, secret, caller });
    expect(turns).toEqual([
      { from: 300, to: 300, expect: "respond", keys: 1, response: 0 },
      { from: 500, to: 500, expect: "respond", keys: 1, response: 0 },
    ]);
    expect(transcript.filter(({ who }) => who === "callee")).toMatchObject([
      { text: "1", ms: 300 },
      { text: "2", ms: 500 },
    ]);
  });

  test("says that the flow went on before the last one", async () => {
    const caller = [untilPrompt, press("12"), silent];
    const [turn] = (await simulateCall({ flow: asks(1), secret, caller })).turns;
    expect(turn).toMatchObject({ keys: 2, response: -180, cutIn: true });
  });

  test("is missed where the flow does nothing for 10 s", async () => {
    const flow = ofAction(() => say(["Listen.", pause(15_000), "Bye."]));
    const caller = [untilPrompt, press("1"), silent];
    const { turns } = await simulateCall({
      flow,
      caller: [{ type: "until", ms: 1_000 }, ...caller.slice(1)],
    });
    expect(turns).toEqual([{ from: 1_000, to: 1_000, expect: "respond", keys: 1, missed: true }]);
  });

  test("is responded to by a hang-up", async () => {
    const flow = flowHandler({
      secret,
      onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "bye" } }),
      steps: { bye: () => hangup() },
    });
    const { turns } = await simulateCall({ flow, secret, caller: [untilPrompt, press("1")] });
    expect(turns).toMatchObject([{ keys: 1, response: 0 }]);
  });
});

describe.each(lines)("a flow with a media socket on the line of %s", (_, service) => {
  const flow = flowHandler({
    ...(service && { service }),
    secret,
    onAnswer: () => gather("Press 1 for the agent.", { digits: 1, on: { 1: "agent" } }),
    steps: {
      agent: async () =>
        stream(await signUrl("wss://app.test/media", { secret, context }), {
          next: "bye",
          chunk_size: 20,
        }),
      bye: () => say("Goodbye."),
    },
  });
  const caller: readonly CalleeAct[] = [
    untilPrompt,
    press("1"),
    { type: "until-quiet" },
    { type: "say", voice: voice(800) },
    { type: "until-quiet", ms: 200 },
    press("5"),
    silent,
  ];
  const agent = scriptedAgent([{ ms: 1_000 }, { ms: 700 }, { ms: 700 }], { patience: 500 });

  test("has the flow and the agent in one report, and the keys of the socket are no turn", async () => {
    const ends: unknown[] = [];
    const call = await simulateCall({
      flow,
      app: (socket, options) => {
        const onEnd = ({ context }: SessionEnd) => void ends.push(context);
        const session = connectAgent(socket, agent, { ...options, onEnd });
        options.simulation.after(8_000, () => session.leave("done"));
      },
      ...{ secret, service, caller },
    });
    expect(ends).toEqual([context]);
    expect(heardIn(call)).toEqual([
      "flow said Press 1 for the agent.",
      "callee pressed 1",
      "callee pressed 5",
      "flow said Goodbye.",
    ]);
    expect(call.end).toMatchObject({ session: "left", outcome: "done", by: "flow" });
    expect(call.turns).toHaveLength(2);
    expect(call.turns[1]?.response).toBeGreaterThan(490);
    expect(call.turns[1]?.response).toBeLessThan(521);
  });

  test("has the agent's first words whole: the key that led to it is none of the callee's words", async () => {
    const interruptions: unknown[] = [];
    const call = await simulateCall({
      flow,
      app: (socket, options) =>
        connectAgent(socket, agent, {
          ...options,
          onInterrupted: (interruption) => void interruptions.push(interruption),
        }),
      ...{ secret, service },
      caller: [untilPrompt, press("1"), { type: "until-quiet" }, { type: "hangup" }],
    });
    expect(interruptions).toEqual([]);
    expect(call.turns).toMatchObject([{ keys: 1, response: 0 }]);
    expect(call.deadAir.count).toBe(0);
  });

  test("is refused by name without an application", async () => {
    await expect(simulateCall({ flow, secret, service, caller })).rejects.toMatchObject({
      param: "app",
      message: expect.stringContaining("is missing: the flow opens a media socket"),
    });
  });
});

describe("a flow that can't be followed", () => {
  test("fails by name where the handler refuses the service, with the next step", async () => {
    const given = { flow: reminder(), caller: [] };
    await expect(simulateCall(given)).rejects.toMatchObject({
      param: "flow",
      message: expect.stringMatching(/HTTP 401.*Give the secret of the handler as secret/s),
    });
  });

  test("rethrows what its application throws", async () => {
    const flow = () => Promise.reject(new RangeError("mine"));
    await expect(simulateCall({ flow, caller: [] })).rejects.toThrow(new RangeError("mine"));
  });

  test("passes where the carrier's signature is verified, with the key that signs", async () => {
    const authToken = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
    const service = twilio({ accountSid: `AC${"0".repeat(32)}`, authToken });
    const onError = vi.fn();
    const flow = flowHandler({ service, onAnswer: () => say("Hello."), onError });
    const given = { flow, service, caller: [] };
    expect(heardIn(await simulateCall({ ...given, apiKey: authToken }))).toEqual([
      "flow said Hello.",
    ]);
    await expect(simulateCall(given)).rejects.toMatchObject({ param: "flow" });
  });

  test.each([
    ["secret", { app: () => {}, secret }],
    ["answeredBy", { app: () => {}, answeredBy: "machine" }],
    ["media", { app: () => {}, media: () => new Response() }],
    ["apiKey", { app: () => {}, apiKey: "ak_1" }],
    ["answeredBy", { flow: reminder(), answeredBy: "machine" }],
    ["answeredBy", { flow: reminder(), secret, answeredBy: "robot" }],
    ["context", { flow: reminder(), context }],
    ["secret", { flow: reminder(), secret: "short" }],
    ["line", { flow: reminder(), secret, line: { latency: 80 } }],
    ["time", { flow: reminder(), secret, time: "real" }],
    ["flow", { flow: "https://app.test/flow" }],
    ["app", {}],
  ])("%s is refused by name", async (param, given) => {
    const options = { caller: [], ...given };
    await expect(Reflect.apply(simulateCall, undefined, [options])).rejects.toMatchObject({
      param,
    });
  });
});

describe("the report of a flow", () => {
  const of = (flow: ReturnType<typeof reminder>, given = {}) =>
    simulateCall({ flow, secret, context, caller: [untilPrompt, press("1")], ...given });

  test("has neither keys, nor telephone numbers, nor the query of a URL", async () => {
    const flow = flowHandler({
      secret,
      onAnswer: () =>
        gather(["Your PIN.", audio("https://app.test/a.wav?token=sealed")], {
          digits: 4,
          next: "on",
        }),
      steps: { on: () => dial("+12025550101") },
    });
    const caller = [untilPrompt, press("8642"), silent];
    const report = await (await simulateCall({ flow, secret, caller })).toReport();
    expect(report.transcript.map(({ type, text }) => [type, text])).toEqual([
      ["said", "Your PIN."],
      ["played", "https://app.test/a.wav"],
      ["pressed", "4 keys"],
      ["dialed", ""],
    ]);
    expect(JSON.stringify(report)).not.toMatch(/8642|sealed|2025550101/);
  });

  test("is the same in each run", async () => {
    const [one, other] = [await of(reminder()), await of(reminder())];
    expect(await one.toReport()).toEqual(await other.toReport());
    expect((await of(reminder(), { twice: true })).trust).toMatchObject({ runs: 2, ok: true });
  });

  test("is compared: a step that throws says less, and so does one that plays nothing", async () => {
    const plays = (step: () => Action) =>
      flowHandler({
        secret,
        onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "next" } }),
        steps: { next: step },
        onError: () => {},
      });
    const fails = () => {
      throw new Error("the step fails");
    };
    const reportOf = async (step: () => Action) => (await of(plays(step))).toReport();
    const baseline = await reportOf(() => say(["Hi.", audio("https://app.test/a.wav")]));
    expect(compareReports(await reportOf(fails), baseline)).toEqual([
      { figure: "said.n", now: 1, baseline: 2 },
      { figure: "played.n", now: 0, baseline: 1 },
      { figure: "faults.n", now: 1, baseline: 0 },
    ]);
  });

  test("is compared: a later response and another end are worse, and other inputs are refused", async () => {
    const answers = (...texts: string[]) =>
      flowHandler({
        secret,
        onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "next" } }),
        steps: { next: () => say([pause(2_000), ...texts]) },
      });
    const prompt = await (await of(answers("Hi."))).toReport();
    const slow = flowHandler({
      secret,
      onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "next" } }),
      steps: { next: () => say([pause(4_000), "Hi."]) },
    });
    const late = await (await of(slow)).toReport();
    expect(compareReports(prompt, prompt)).toEqual([]);
    expect(compareReports(late, prompt)).toContainEqual({
      figure: "response.p50",
      now: 4_000,
      baseline: 2_000,
    });
    const dials = flowHandler({
      secret,
      onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "next" } }),
      steps: { next: () => dial("+12025550101") },
    });
    const dialed = await (await of(dials)).toReport();
    expect(compareReports(dialed, prompt)).toContainEqual({
      figure: "dialed.n",
      now: 1,
      baseline: 0,
    });
    const machine = await (await of(answers("Hi."), { answeredBy: "machine" })).toReport();
    expect(() => compareReports(machine, prompt)).toThrow(/baseline/);
  });
});
