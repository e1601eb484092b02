import type { Agent, AgentEvent, Codec } from "../../../src/agents/agent.ts";
import type { SessionOptions } from "../../../src/agents/options.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import type { CalleeAct } from "../../../src/emulator/callee-script.ts";
import {
  type ScriptedAnswer,
  type ScriptedOptions,
  scriptedAgent,
} from "../../../src/testing/scripted-agent.ts";
import { type SimulatedCall, simulateCall } from "../../../src/testing/simulate-call.ts";
import type { SimulateSocketOptions } from "../../../src/testing/simulate-options.ts";

/** Speech of so many milliseconds. */
export const voice = (ms: number) => ({
  audio: Int16Array.from({ length: ms * 8 }, (_, at) => 6_000 * Math.sin(at / 3)),
  sampleRate: 8_000,
});

/** An agent with other events than its codec's. */
export const withEvents = (
  agent: Agent,
  change: (events: readonly AgentEvent[]) => readonly AgentEvent[],
): Agent => ({
  ...agent,
  codec: (line) => {
    const codec = agent.codec(line);
    const decode: Codec["decode"] = (message) => change(codec.decode(message));
    return Object.assign(Object.create(codec), { decode });
  },
});

/** What the caller of most tests does: asks, interrupts, coughs, asks again. */
export const conversation: readonly CalleeAct[] = [
  { type: "until-quiet" },
  { type: "say", voice: voice(800) },
  { type: "until-speech", ms: 1_000 },
  { type: "say", voice: voice(150), expect: "ignore" },
  { type: "until-speech", ms: 1_500 },
  { type: "say", voice: voice(600), expect: "stop" },
  { type: "until-quiet" },
  { type: "say", voice: voice(700) },
  { type: "until-quiet" },
  { type: "hangup" },
];

/** An agent that ignores a cough: what is shorter than 300 ms is no speech for it. */
const patient = (agent: Agent): Agent => {
  let sound = 0;
  return {
    ...agent,
    codec: (line) => {
      const codec = agent.codec(line);
      let held: Uint8Array<ArrayBuffer>[] = [];
      const encode: Codec["encode"] = (audio) => {
        const isLoud = new Int16Array(audio.buffer, audio.byteOffset, audio.length / 2).some(
          (sample) => Math.abs(sample) > 600,
        );
        if (!isLoud) {
          const silent = held.map((each) => new Uint8Array(each.length));
          held = [];
          sound = 0;
          return [...silent, audio].flatMap((each) => codec.encode(each));
        }
        sound += audio.length / 16;
        held.push(audio);
        if (sound < 300) return [];
        return held.splice(0).flatMap((each) => codec.encode(each));
      };
      return Object.assign(Object.create(codec), { encode });
    },
  };
};

export const answers: readonly ScriptedAnswer[] = [
  { ms: 1_000 },
  { ms: 6_000 },
  { ms: 1_200 },
  { ms: 900 },
];

/** The agent whose figures are known: it ignores coughs, yields to speech, and answers after 500 ms. */
export const wellBehaved = (options: ScriptedOptions = {}): Agent =>
  patient(scriptedAgent(answers, options));

/** Simulates the conversation with an agent. */
export const talkWith = (
  agent: Agent,
  options: Partial<SimulateSocketOptions> = {},
  session: SessionOptions = {},
): Promise<SimulatedCall> =>
  simulateCall({
    app: (socket, given) => connectAgent(socket, agent, { ...given, ...session }),
    caller: conversation,
    ...options,
  });
