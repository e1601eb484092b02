// Two agents on one simulated line: the caller is an agent too, by its codec. Nothing is sent, and nothing waits.
import { type Agent, type AgentMessage, connectAgent } from "outdial/agents";
import type { CalleeAct, CalleeCall } from "outdial/emulator";
import { type SimulatedCall, scriptedAgent, simulateCall } from "outdial/testing";

const sampleRate = 8_000;
const frame = 20; // ms

/** What the caller hears in a frame: it is told only whether the other side was playing. */
const heard = ({ played }: CalleeCall, from: number): Uint8Array<ArrayBuffer> => {
  const isPlaying = played.some(({ from_ms, to_ms }) => from_ms < from + frame && to_ms > from);
  const level = isPlaying ? 6_000 : 0;
  const samples = Int16Array.from({ length: (sampleRate * frame) / 1000 }, (_, at) =>
    at % 8 < 4 ? level : -level,
  );
  return new Uint8Array(samples.buffer);
};

/** A caller that an agent speaks for. Its codec must need no network; each answer is said to its end. */
const callerOf = (agent: Agent, until: number) =>
  async function* (call: CalleeCall): AsyncGenerator<CalleeAct> {
    const codec = agent.codec({ sampleRate });
    const answersTo = (messages: readonly AgentMessage[]): readonly Int16Array[] =>
      messages
        .flatMap((message) => codec.decode(message))
        .flatMap((event) =>
          event.type === "audio" ? [new Int16Array(event.audio.slice().buffer)] : [],
        );
    answersTo(codec.open());
    let listened = 0;
    while (call.ms < until) {
      const answers: Int16Array[] = [];
      for (; listened + frame <= call.ms; listened += frame)
        answers.push(...answersTo(codec.encode(heard(call, listened))));
      for (const audio of answers) yield { type: "say", voice: { audio, sampleRate } };
      if (answers.length === 0) yield { type: "silence", ms: frame };
    }
    yield { type: "hangup" };
  };

/** A desk that greets and answers, and a guest who waits for the greeting, asks twice, and hangs up after 15 s. */
export const twoAgents = (): Promise<SimulatedCall> => {
  const desk = scriptedAgent([{ ms: 1_000 }, { ms: 2_000 }, { ms: 1_500 }], { patience: 500 });
  const guest = scriptedAgent([{ ms: 1_500 }, { ms: 1_200 }], { patience: 700 });
  return simulateCall({
    app: (socket, options) => connectAgent(socket, desk, options),
    caller: callerOf(guest, 15_000),
  });
};
