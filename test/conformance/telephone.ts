import { assert } from "chai";
import {
  connectAgent,
  leaveVoicemail,
  pressKeys,
  type SessionEnd,
  type SessionOptions,
  type Tools,
  tones,
  transferTo,
} from "outdial/agents";
import { actionUrl, dial, flowHandler, hangup } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import {
  type CalleeScript,
  type ScriptedAnswer,
  scriptedAgent,
  simulateCall,
} from "outdial/testing";
import { twilio } from "outdial/twilio";
import { vonage } from "outdial/vonage";
import type { Case } from "./case.ts";

const services = {
  "outdial's own interface": () => undefined,
  Twilio: () => twilio({ accountSid: "AC0123456789abcdef0123456789abcdef" }),
  Telnyx: () => telnyx({ applicationId: "1494404757140276705" }),
  Vonage: () => vonage({ applicationId: "aaaaaaaa-bbbb-cccc-dddd-0123456789ab" }),
} as const;

const lines = Object.entries(services);

/** A square wave: whoever speaks has overtones, and a beep has none. */
const voice = (ms: number) => ({
  audio: Int16Array.from({ length: ms * 8 }, (_, at) => (at % 40 < 20 ? 5_000 : -5_000)),
  sampleRate: 8_000,
});

/** How the session of a simulated call ends, and what was heard of the application. */
const endOf = async (
  service: ReturnType<(typeof services)[keyof typeof services]>,
  answers: readonly ScriptedAnswer[],
  caller: CalleeScript,
  tools: Tools,
  more: SessionOptions = {},
) => {
  const ends: SessionEnd[] = [];
  const { audio } = await simulateCall({
    app: (socket, options) =>
      connectAgent(
        socket,
        { ...scriptedAgent(answers), tools },
        {
          ...options,
          ...more,
          onEnd: (end) => ends.push(end),
        },
      ),
    caller,
    service,
  });
  assert.lengthOf(ends, 1);
  const samples = audio.samples("application");
  const audible = samples.filter((sample) => Math.abs(sample) > 500).length;
  return { end: ends[0]?.outcome ?? ends[0]?.reason, ms: (audible / audio.sample_rate) * 1_000 };
};

const flat = (ms: number) => new Int16Array(ms * 8).fill(6_000);

export const cases: readonly Case[] = [
  ...lines.map(([name, service]) => ({
    name: `agents: on the line of ${name} a voicemail gets opening and message after its beep`,
    run: async () => {
      const message = leaveVoicemail({ audio: flat(900), sampleRate: 8_000 });
      const { end, ms } = await endOf(
        service(),
        [{ ms: 1 }, { tool: "leave_voicemail", args: {} }],
        async function* () {
          yield { type: "say", voice: voice(1_500) };
          yield { type: "silence", ms: 1_200 };
          yield { type: "tone", hertz: 1_000, ms: 300 };
          yield { type: "until", ms: 20_000 };
        },
        { leave_voicemail: message },
        { opening: { audio: flat(400), sampleRate: 8_000 } },
      );
      assert.strictEqual(end, "message_left");
      assert.approximately(ms, 1_700, 20);
    },
  })),
  ...lines.map(([name, service]) => ({
    name: `agents: on the line of ${name} a menu hears the keys that an agent presses`,
    run: async () => {
      const heard: string[] = [];
      await endOf(
        service(),
        [{ tool: "press_keys", args: { keys: "1590*#" } }],
        async function* (call) {
          yield { type: "until-keys", keys: "1590*#" };
          heard.push(call.keys);
          yield { type: "hangup" };
        },
        { press_keys: pressKeys() },
        { press: tones },
      );
      assert.deepEqual(heard, ["1590*#"]);
    },
  })),
  {
    name: "agents: what a model writes connects to the named target alone, after the last words",
    run: async () => {
      const called: string[] = [];
      const transfer = transferTo(
        { billing: { to: "+12025550123" } },
        { decide: (_, { to }) => called.push(to) },
      );
      const { end } = await endOf(
        undefined,
        [
          { tool: "transfer", args: { target: "+19005550123" } },
          { tool: "transfer", args: { target: "billing", to: "+19005550123" } },
        ],
        async function* () {
          yield { type: "until", ms: 9_000 };
        },
        { transfer },
      );
      assert.strictEqual(end, "transferred");
      assert.deepEqual(called, ["+12025550123"]);
    },
  },
  {
    name: "flows: an action that one process has put into a URL is answered by another one, in that call alone",
    run: async () => {
      const [older, newer] = ["an older secret of sixteen", "a newer secret of sixteen"];
      const action = dial("+12025550123", { timeout: 20 });
      const url = await actionUrl("https://app.test/flow", {
        ...{ secret: older, call_id: "cs_1", action },
      });
      const reasons: unknown[] = [];
      const handler = flowHandler({
        secret: [newer, older],
        onAnswer: () => hangup(),
        onError: (error) => reasons.push(Reflect.get(Object(error), "reason")),
      });
      const ask = async (call_id: string) => {
        const numbers = { from_number: "+12025550199", to_number: "+12025550100" };
        const call = { call_id, account_id: "acc_1", direction: "outbound", ...numbers };
        return handler(new Request(url, { method: "POST", body: JSON.stringify(call) }));
      };
      assert.deepEqual(await (await ask("cs_1")).json(), action);
      assert.strictEqual((await ask("cs_2")).status, 401);
      assert.deepEqual(reasons, ["wrong_call"]);
    },
  },
];
