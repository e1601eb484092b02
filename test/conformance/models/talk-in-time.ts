import type { Service } from "outdial";
import {
  type AgentSession,
  connectAgent,
  type MediaClock,
  type SessionEnd,
  type SessionOptions,
  type Tools,
} from "outdial/agents";
import type { Context } from "outdial/callbacks";
import { type Callee, type LineFaults, type SimulatedCall, simulateCall } from "outdial/testing";
import type { Behaviour } from "./model.ts";
import { agentOf, type ProtocolName } from "./protocols.ts";
import { TimedModel } from "./timed-model.ts";

/** Speech of so many milliseconds. */
export const speech = (ms: number) => ({
  audio: new Int16Array(ms * 8).map((_, at) => (at % 20 < 10 ? 4_000 : -4_000)),
  sampleRate: 8_000,
});

interface Talk extends Behaviour {
  readonly name?: ProtocolName;
  readonly service?: Service | undefined;
  readonly line?: LineFaults;
  readonly tools?: Tools;
  readonly context?: Context;
  readonly caller: Callee;
  readonly options?: SessionOptions;
  /** Called with the session at once. */
  readonly onSession?: (session: AgentSession, clock: MediaClock) => void;
  /** Called with the model before. */
  readonly onModel?: (model: TimedModel, clock: MediaClock) => void;
}

/** A call that is over, with a model behind a protocol. */
export interface Talked {
  readonly call: SimulatedCall;
  readonly model: TimedModel;
  readonly end: SessionEnd;
  readonly errors: readonly unknown[];
}

/** A simulated call with a model behind a protocol. */
export const talkInTime = async ({
  name = "openai",
  service,
  line = {},
  tools,
  context,
  caller,
  options = {},
  onSession,
  onModel,
  ...behaviour
}: Talk): Promise<Talked> => {
  const errors: unknown[] = [];
  const models: TimedModel[] = [];
  const ends: SessionEnd[] = [];
  const call = await simulateCall({
    app: (socket, given) => {
      const model = new TimedModel(name, given.simulation, behaviour);
      models.push(model);
      onModel?.(model, given.simulation);
      const session = connectAgent(socket, agentOf(name, behaviour, tools), {
        ...given,
        open: () => model,
        onError: (error) => errors.push(error),
        ...options,
        onEnd: (end) => ends.push(end),
      });
      onSession?.(session, given.simulation);
    },
    caller,
    service,
    line,
    context,
  });
  const [[model], [end]] = [models, ends];
  if (!model || !end || ends.length > 1) throw new Error("The call had not one agent and one end");
  return { call, model, end, errors };
};

/** Milliseconds of a level that the callee has heard since some time, and from when until when. */
export const heardOf = ({ call: { audio } }: Talked, level: number, since = 0) => {
  const samples = audio.samples("application", since);
  const perMs = audio.sample_rate / 1000;
  let count = 0;
  let first = Number.NaN;
  let last = Number.NaN;
  for (let at = 0; at < samples.length; at++) {
    if (Math.abs((samples[at] ?? 0) - level) >= 500) continue;
    if (count === 0) first = at;
    last = at;
    count++;
  }
  return {
    ms: Math.round(count / perMs),
    from: since + first / perMs,
    until: since + (last + 1) / perMs,
  };
};
