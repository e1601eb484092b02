import { assert } from "chai";
import { connectAgent, type SessionEnd } from "outdial/agents";
import { flowHandler, gather, record, say } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import { type CalleeAct, type LineFaults, scriptedAgent, simulateCall } from "outdial/testing";
import { twilio } from "outdial/twilio";
import { vonage } from "outdial/vonage";
import type { Case } from "./case.ts";

const services = {
  "outdial's own interface": () => undefined,
  Twilio: () => twilio({ accountSid: "AC0123456789abcdef0123456789abcdef" }),
  Telnyx: () => telnyx({ applicationId: "1494404757140276705" }),
  Vonage: () => vonage({ applicationId: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" }),
} as const;

/** A square wave of so many milliseconds, the same on each engine. */
const voice = (ms: number) => ({
  audio: Int16Array.from({ length: ms * 8 }, (_, at) => (at % 20 < 10 ? 5_000 : -5_000)),
  sampleRate: 8_000,
});

const caller: readonly CalleeAct[] = [
  { type: "until-quiet", ms: 300 },
  { type: "say", voice: voice(400) },
  { type: "until-speech", ms: 500 },
  { type: "say", voice: voice(300), expect: "stop" },
  { type: "until-quiet", ms: 300 },
  { type: "hangup" },
];

const agent = scriptedAgent([{ ms: 300 }, { ms: 3_000 }, { ms: 300 }], { patience: 300 });

/** The figures of a call as a text, in whole milliseconds. */
const figuresOf = async (name: keyof typeof services, faults: LineFaults = {}): Promise<string> => {
  const { turns, firstAudio, response, stop, end, trust } = await simulateCall({
    app: (socket, options) => connectAgent(socket, agent, options),
    caller,
    service: services[name](),
    line: faults,
  });
  const ms = (figure = Number.NaN) => Math.round(figure);
  return [
    `first ${ms(firstAudio.max)}, response ${ms(response.min)} and ${ms(response.max)}, stop ${ms(stop.max)}`,
    `turns to ${turns.map(({ to }) => ms(to)).join(" and ")}, end ${ms(end.ms)} ${end.session}, ${trust.clock}`,
  ].join(", ");
};

/** 300 ms of patience, and a frame of 20 ms for the stop: the same with the protocol of each carrier. */
const truth =
  "first 0, response 300 and 300, stop 20, turns to 1000 and 2100, end 3000 hung_up, virtual";

/** What a callee hears who presses 1 after 2.1 s, speaks after the beep, and presses hash. */
const heardOf = async (name: keyof typeof services): Promise<readonly string[]> => {
  const service = services[name]();
  const secret = "a secret of the conformance list";
  const flow = flowHandler({
    secret,
    service,
    onAnswer: () => gather("Press 1 to tell us your name.", { digits: 1, on: { 1: "name" } }),
    steps: {
      name: () => record("After the beep.", { finish_on_key: "#", as: "name", next: "bye" }),
      bye: () => say("Thank you."),
    },
  });
  const { transcript, turns, end } = await simulateCall({
    flow,
    secret,
    service,
    caller: [
      { type: "until", ms: 2_100 },
      { type: "press", digits: "1" },
      { type: "until-prompt" },
      { type: "say", voice: voice(400) },
      { type: "press", digits: "#" },
      { type: "until", ms: 20_000 },
    ],
  });
  const lines = transcript.map(({ who, type, text, ms, to }) =>
    `${ms} to ${to}: ${who} ${type} ${text}`.trim(),
  );
  const responses = turns.map(({ response }) => response).join();
  return [...lines, `${end.ms}: hung up by the ${end.by}, responses ${responses}`];
};

/** 65 ms for each character, and a beep of 500 ms: the same on each service. */
const heard = [
  "0 to 1885: flow said Press 1 to tell us your name.",
  "2100 to 2100: callee pressed 1",
  "2100 to 3075: flow said After the beep.",
  "3075 to 3575: flow beeped",
  "3575 to 3975: callee recorded",
  "3975 to 3975: callee pressed #",
  "3975 to 4625: flow said Thank you.",
  "4625: hung up by the flow, responses 0,0,0",
];

const isName = (name: string): name is keyof typeof services => Object.hasOwn(services, name);

/** The functions by which a program has time, and random numbers. */
const globals = () => [setTimeout, setInterval, Date.now, performance.now, Math.random, fetch];

export const cases: readonly Case[] = [
  ...Object.keys(services)
    .filter(isName)
    .map((name) => ({
      name: `testing: a simulated call on the line of ${name} has the same figures on every runtime`,
      run: async () => assert.equal(await figuresOf(name), truth),
    })),
  ...Object.keys(services)
    .filter(isName)
    .map((name) => ({
      name: `testing: what a callee hears and does in a flow is the same on the line of ${name}`,
      run: async () => assert.deepEqual(await heardOf(name), heard),
    })),
  {
    name: "testing: several simulated calls side by side have each the figures that they have alone",
    run: async () => {
      const faults = [
        {},
        { latency: 80 },
        { latency: 40, jitter: 60, loss: 0.02, seed: 3 },
      ] as const;
      const alone: string[] = [];
      for (const each of faults) alone.push(await figuresOf("Twilio", each));
      const together = faults.map((each) => figuresOf("Twilio", each));
      assert.deepEqual(await Promise.all(together), alone);
      assert.equal(new Set(alone).size, faults.length);
    },
  },
  ...Object.keys(services)
    .filter(isName)
    .map((name) => ({
      name: `agents: an opening is heard to its end on the line of ${name}, then the call is left by a function`,
      run: async () => {
        const level = 6_000;
        let end: SessionEnd | undefined;
        const { audio } = await simulateCall({
          app: (socket, options) =>
            connectAgent(socket, scriptedAgent([]), {
              ...options,
              opening: { audio: new Int16Array(16_000).fill(level), sampleRate: 8_000 },
              idleTimeout: 500,
              onIdle: async (_, session) => {
                await session.play(new Int16Array(800).fill(level), { sampleRate: 8_000 });
                await session.leave("nobody");
              },
              onEnd: (given) => {
                end = given;
              },
            }),
          caller: [
            { type: "until", ms: 100 },
            { type: "say", voice: voice(400) },
            { type: "until", ms: 9_000 },
            { type: "hangup" },
          ],
          service: services[name](),
        });
        const heard = audio.samples("application").filter((each) => Math.abs(each - level) < 500);
        assert.equal(heard.length, 16_800);
        const { reason, outcome, opening, context } = end ?? {};
        assert.deepEqual(
          { reason, outcome, opening, context },
          {
            reason: "left",
            outcome: "nobody",
            opening: { played: 2_000, duration: 2_000 },
            context: {},
          },
        );
      },
    })),
  {
    name: "testing: while a simulated call runs, no global is another one",
    run: async () => {
      const before = globals();
      const during: unknown[] = [];
      await simulateCall({
        app: (socket) => {
          socket.addEventListener("message", () => during.push(...globals()));
          connectAgent(socket, agent);
        },
        caller: [{ type: "until-quiet", ms: 100 }, { type: "hangup" }],
      });
      assert.isAbove(during.length, 0);
      assert.deepEqual(new Set(during), new Set(before));
    },
  },
  {
    name: "testing: a network socket in virtual time is refused by name",
    run: async () => {
      const open: unknown[] = [];
      const { open: _, ...networked } = agent;
      await simulateCall({
        app: (socket) => open.push(connectAgent(socket, networked)),
        caller: [{ type: "until-quiet", timeout: 100 }, { type: "hangup" }],
      }).then(
        () => assert.fail("it was opened"),
        (error: Error) => assert.include(error.message, 'time: "real"'),
      );
    },
  },
];
