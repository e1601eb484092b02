import type {
  Agent,
  AgentEvent,
  AgentMessage,
  AgentSocket,
  Codec,
  Tools,
} from "../agents/index.ts";
import { tone } from "../emulator/recording/track.ts";
import { fail, isRecord, isText } from "../lib/check.ts";
import { hasSpeech } from "../lib/loudness.ts";
import { checkOptions, countRule, durationRule, objectRule } from "../lib/rules.ts";

/** One thing that a scripted agent does. */
export type ScriptedAnswer =
  /** Speaks for so many milliseconds: a tone. */
  | { readonly ms: number }
  /** Speaks: 16-bit samples at the rate of the line, 8 000 a second unless the call has another. */
  | { readonly audio: Int16Array }
  /** Calls a tool; the next answer follows its result. */
  | { readonly tool: string; readonly args: unknown };

/** The options of `scriptedAgent`. */
export interface ScriptedOptions {
  /**
   * Milliseconds of silence that end what the callee says.
   *
   * @defaultValue 500
   */
  readonly patience?: number | undefined;
  /**
   * Milliseconds from there to the first sample of an answer.
   *
   * @defaultValue 0
   */
  readonly think?: number | undefined;
  /**
   * The tools that its answers call, by their names, as a model's agent has them. `hang_up` is built in.
   *
   * @defaultValue none
   */
  readonly tools?: Tools | undefined;
}

const isAnswer = (answer: unknown): boolean =>
  isRecord(answer) &&
  (answer.ms === 0 ||
    durationRule[0](answer.ms) ||
    answer.audio instanceof Int16Array ||
    isText(answer.tool));

/** The tone of an answer. */
const hertz = 300;

/** The size of a sample that is no silence on a quiet line, and on the noisiest one that is followed: -42 dBFS. */
const soundLevel = 300;
const maxSoundLevel = 700;

/** How much louder than the noise of the line a sound is: a frame may have a greater peak than the quietest one. */
const overNoise = 1.2;

/** A socket whose other end is the codec itself: what is sent on it comes back. */
class Loopback implements AgentSocket {
  readyState = 1;
  readonly bufferedAmount = 0;
  readonly #listeners = new Set<(event: { type: string; data: unknown }) => void>();

  send(message: AgentMessage): void {
    const data = isText(message) ? message : new Uint8Array(message).buffer;
    for (const listener of this.#listeners) listener({ type: "message", data });
  }

  close(): void {
    this.readyState = 3;
  }

  addEventListener(type: string, listener: (event: { type: string; data: unknown }) => void): void {
    if (type === "message") this.#listeners.add(listener);
  }

  removeEventListener(
    type: string,
    listener: (event: { type: string; data: unknown }) => void,
  ): void {
    if (type === "message") this.#listeners.delete(listener);
  }
}

/** The codec of one conversation: the callee's audio is its clock. */
const scriptedCodec = (
  answers: readonly ScriptedAnswer[],
  { patience = 500, think = 0 }: ScriptedOptions,
  sampleRate: 8000 | 16000,
): Codec => {
  const format = { encoding: "pcm", sampleRate } as const;
  let next = 0;
  let responses = 0;
  let calls = 0;
  /** Whether the callee has spoken since the last answer, and the silence since. */
  let hasSpoken = false;
  let silence = 0;
  /** The least peak of a frame without speech; nothing before there was one. */
  let noise: number | undefined;
  /** Whether the end of what they said was noticed. */
  let isNoticed = false;

  /** The events of the next answer, once it was thought of. */
  const answerInTime = (): readonly AgentEvent[] => {
    if (silence < patience + think) return [];
    hasSpoken = isNoticed = false;
    return answer();
  };

  /** The events of the next answer. */
  const answer = (): readonly AgentEvent[] => {
    const given = answers[next++];
    if (!given) return [];
    const response = `answer ${++responses}`;
    if ("tool" in given) {
      const { tool: name, args } = given;
      const call = { type: "tool", id: `call ${++calls}`, name, arguments: args } as const;
      return [call];
    }
    const samples =
      "audio" in given ? given.audio : tone(hertz, sampleRate, 0, (given.ms * sampleRate) / 1000);
    const audio = new Uint8Array(new Int16Array(samples).buffer);
    return [
      { type: "response_started", response },
      { type: "audio", audio, item: response, response },
      { type: "response_done", response },
    ];
  };

  const listen = (audio: Uint8Array<ArrayBuffer>): readonly AgentEvent[] => {
    const samples = new Int16Array(audio.buffer, audio.byteOffset, audio.length >> 1);
    const ms = (count: number) => (count * 1000) / sampleRate;
    if (!hasSpeech(audio)) {
      const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
      noise = Math.min(noise ?? peak, peak);
    }
    const level = Math.min(Math.max(soundLevel, overNoise * (noise ?? 0)), maxSoundLevel);
    const lastSound = samples.findLastIndex((sample) => Math.abs(sample) > level);
    const isQuiet = lastSound < 0 || !(hasSpoken || hasSpeech(audio));
    silence = isQuiet ? silence + ms(samples.length) : ms(samples.length - 1 - lastSound);
    if (!isQuiet) isNoticed = false;
    if (!isQuiet && !hasSpoken) {
      hasSpoken = true;
      return [{ type: "interrupted" }];
    }
    if (!hasSpoken || silence < patience) return [];
    if (!isNoticed) {
      isNoticed = true;
      return [{ type: "speech_stopped" }, ...answerInTime()];
    }
    return answerInTime();
  };

  const commands: Readonly<Record<string, () => readonly AgentEvent[]>> = {
    open: () => [{ type: "ready", begins: answers[0] ? "agent" : "callee" }],
    answer,
  };

  return {
    formats: { input: format, output: format },
    open: () => ["open"],
    answered: () => ["answer"],
    encode: (audio) => [audio],
    decode: (message) => (isText(message) ? (commands[message]?.() ?? []) : listen(message)),
    interrupted: () => [],
    toolResult: ({ reply }) => (reply ? ["answer"] : []),
    reply: () => ["answer"],
    addContext: () => [],
    setInstructions: () => [],
  };
};

/**
 * An agent without a model, for simulated calls: it gives the answers of a list, and opens no network. The first answer
 * comes when the call is answered, each further one after an utterance of the callee; after a tool's result comes the
 * next one, and so it does where `reply` of the session asks for a response. It falls silent at the first audible frame of
 * the callee, and ignores context and instructions.
 *
 * A tool that an answer calls is one of `tools`: `{ tool: "transfer", args: { target: "billing" } }` calls that of `transferTo`.
 *
 * The truth of a response is `patience + think` and the latency of the line both ways, rounded up to a frame of 20 ms. Noise
 * of up to -42 dBFS is silence for it.
 *
 * @param answers - in order
 * @throws {BadParametersException} (`placed: "no"`) when an answer or an option breaks its rule
 *
 * @example An agent that greets, and answers half a second after the callee
 * ```ts
 * import { scriptedAgent, simulateCall } from "outdial/testing";
 * import { connectAgent } from "outdial/agents";
 *
 * const agent = scriptedAgent([{ ms: 1_000 }, { ms: 2_000 }], { patience: 500 });
 * const call = await simulateCall({
 *   app: (socket) => connectAgent(socket, agent),
 *   caller: [
 *     { type: "until-quiet" },
 *     { type: "tone", hertz: 440, ms: 800 },
 *     { type: "until-quiet" },
 *     { type: "hangup" },
 *   ],
 * });
 * console.log(call.turns.length, Math.round(call.response.max ?? 0)); // 1 500
 * ```
 * @see docs/simulated-calls.md
 */
export const scriptedAgent = (
  answers: readonly ScriptedAnswer[],
  options: ScriptedOptions = {},
): Agent => {
  checkOptions<ScriptedOptions>(options, {
    patience: durationRule,
    think: countRule,
    tools: objectRule,
  });
  if (!Array.isArray(answers)) fail("answers", "must be a list");
  const wrong = answers.findIndex((answer) => !isAnswer(answer));
  if (wrong >= 0) {
    const rule = "must have ms of 0 or more, audio as an Int16Array, or the name of a tool";
    fail(`answers.${wrong}`, rule);
  }
  return {
    name: "scripted",
    tools: options.tools,
    address: () => ({ url: "wss://agent.test/" }),
    open: () => new Loopback(),
    codec: ({ sampleRate }) => scriptedCodec(answers, options, sampleRate),
  };
};
