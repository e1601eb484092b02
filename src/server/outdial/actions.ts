import { safeParse } from "valibot";
import type { Hangup, Play, Stream, WireDial } from "../../flows/actions.ts";
import type { Dialed } from "../../flows/dialed.ts";
import {
  FromApplication,
  type MediaAudio,
  type MediaPlayed,
  type MediaStart,
} from "../../flows/media/messages.ts";
import type { WireAction, WireGather, WirePrompt, WireRecord, WireSay } from "../../flows/wire.ts";
import { isRecord } from "../../lib/check.ts";
import { base64, bytesOf, decoded } from "../../lib/encoding.ts";
import type { Instruction, Prompts, Then } from "../../performer/instructions.ts";
import { type Beginning, FlowError, type Part, type Reason } from "../../performer/line.ts";
import {
  type Effect,
  enqueue,
  type Output,
  type SocketCodec,
} from "../../performer/media-socket.ts";
import { jsonOf } from "../media-messages.ts";

/**
 * The samples in base64.
 *
 * @throws {TypeError} when it is not base64, or not whole samples
 */
export const samplesOf = (base64: string): Int16Array => {
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    if (/[-_]/.test(base64)) throw new TypeError("base64url");
    bytes = decoded(base64);
  } catch {
    throw new TypeError("audio_b64 must be base64");
  }
  if (bytes.length % 2) throw new TypeError("audio_b64 must be whole 16-bit samples");
  return new Int16Array(bytes.buffer);
};

const knownTypes: ReadonlySet<unknown> = new Set(["audio", "interrupt", "clear"]);

/**
 * Applies a message of an application to the playout.
 *
 * @param now - the current sample
 * @throws {TypeError} when the message is malformed
 */
const applyMessage = (data: unknown, playout: Output, now: number): Effect => {
  const message = jsonOf(data);
  const name = isRecord(message) ? message.type : undefined;
  if (typeof name === "string" && !knownTypes.has(name)) return { type: "ignored", name };
  const { success, output, issues } = safeParse(FromApplication, message);
  if (!success) {
    const { path, message: rule } = issues[0];
    throw new TypeError([path?.map(({ key }) => key).join("."), rule].filter(Boolean).join(" "));
  }
  if (output.type === "clear") return { type: "clear", samples: playout.clear(now) };
  if (output.type === "interrupt") {
    const { chunk_id } = output;
    return { type: "interrupt", chunk_id, samples: playout.interrupt(chunk_id, now) };
  }
  if (output.type === "played") return { type: "ignored", name: output.type };
  const { audio_b64, chunk_id } = output;
  return enqueue(playout, samplesOf(audio_b64), chunk_id, now);
};

/** What a stream of outdial's own interface consists of. */
interface StreamFacts {
  readonly account_id: string;
  readonly call_id: string;
  readonly stream_id: string;
  readonly sampleRate: 8000 | 16000;
  /** Milliseconds of audio in each message. */
  readonly frameDuration: number;
  /** Whether it says what was played. */
  readonly acknowledges: boolean;
}

type Uncounted<T> = Omit<T, "message_id">;

/** The messages of outdial's own interface: JSON, with 16-bit samples in base64. */
const outdialCodec = (facts: StreamFacts): SocketCodec => {
  const { account_id, call_id, stream_id, sampleRate, frameDuration, acknowledges } = facts;
  let count = 0;
  /** Whether the application has requested it, and how much was said of the playout. */
  let isRequested = false;
  let reported = 0;
  const json = (message: Uncounted<MediaStart> | Uncounted<MediaAudio> | Uncounted<MediaPlayed>) =>
    JSON.stringify({ ...message, message_id: ++count });
  const played = (output: Output, now: number): readonly string[] => {
    const { samples, changes } = output.progress(now);
    if (!isRequested || changes === reported) return [];
    reported = changes;
    return [json({ type: "played", stream_id, data: { ms: (samples * 1_000) / sampleRate } })];
  };
  return {
    stream_id,
    sides: ["callee"],
    sampleRate,
    frameDuration,
    opening: () => {
      const data = { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 } as const;
      const messages = acknowledges && { messages: ["played"] };
      return [json({ type: "start", account_id, call_id, stream_id, data, ...messages })];
    },
    encode: (samples) => {
      const audio_b64 = base64(bytesOf(samples));
      return () => json({ type: "audio", stream_id, data: { audio_b64 } });
    },
    closing: () => [],
    apply: (data, output, now) => {
      const effect = applyMessage(data, output, now);
      if (!acknowledges || effect.type !== "ignored" || effect.name !== "played") return effect;
      isRequested = true;
      return { type: "queued" };
    },
    due: played,
    nextDue: ({ nextEnd }) => (isRequested ? nextEnd : undefined),
  };
};

/** A request for the next action of a flow; or the action, where it came with the request for the call. */
export type ActionRequest =
  | {
      readonly url: string;
      /** The keys that were pressed, after a `gather`. */
      readonly digits?: string;
      /** What came of a `dial`. */
      readonly dialed?: Dialed;
    }
  | { readonly action: WireAction };

/** Where an action is. */
interface Place {
  /** Counts the requests to the flow from 1. */
  readonly step: number;
  /** Where it is in the flow's response: empty, or such as `on_busy.`. */
  readonly place: string;
  readonly account_id: string;
  readonly call_id: string;
  readonly newStreamId: () => string;
  /** Whether media sockets say what was played. */
  readonly acknowledges: boolean;
  /** Begins a recording, and returns what ends it: its notification is sent then. */
  readonly beginRecording: (as: string | undefined) => () => void;
}

type OutdialInstruction = Instruction<ActionRequest>;

const beginning = (action: WireAction, { step }: Place): Beginning => ({
  type: "action",
  step,
  action,
});

/** What follows an action: the flow at its URL, or the end of the call. */
const after = (url: string | undefined): Then<ActionRequest> =>
  url === undefined ? "end" : { request: { url } };

const hangup = (action: Hangup, at: Place): OutdialInstruction => ({
  type: "continue",
  step: beginning(action, at),
  next: () => "end",
});

const mediaPart = (url: string, field: string, { step }: Place): Part => ({
  type: "media",
  source: { step, field, url },
});

const play = (action: Play, at: Place): OutdialInstruction => ({
  type: "play",
  step: beginning(action, at),
  parts: [mediaPart(action.media_url, `${at.place}media_url`, at)],
  endsPrompts: true,
  next: () => after(action.flow_url),
});

const sampleRates = { "8k": 8_000, "16k": 16_000 } as const;

const stream = (action: Stream, at: Place): OutdialInstruction => {
  const { ws_url, sample_rate = "8k", chunk_size = 400, record = true, flow_url } = action;
  const { step, place, account_id, call_id, newStreamId, acknowledges } = at;
  const sampleRate = sampleRates[sample_rate];
  return {
    type: "stream",
    step: beginning(action, at),
    open: () => ({
      step,
      field: `${place}ws_url`,
      url: ws_url,
      record,
      onOpen: () => {
        const stream_id = newStreamId();
        return outdialCodec({
          account_id,
          call_id,
          stream_id,
          sampleRate,
          frameDuration: chunk_size,
          acknowledges,
        });
      },
    }),
    next: (error) => {
      if (error) throw error;
      return after(flow_url);
    },
  };
};

/** The branch of a `dial` for each reason why its second leg failed. */
const branches: Readonly<Partial<Record<Reason, "on_busy" | "on_no_answer" | "on_failure">>> = {
  busy: "on_busy",
  no_answer: "on_no_answer",
  rejected: "on_failure",
  unreachable: "on_failure",
};

/** The request after a `dial`, with what came of it. */
const dialedAt = (
  url: string,
  reason: Reason | undefined,
  talkTime: number | undefined,
): Then<ActionRequest> => {
  const dialed: Dialed =
    talkTime === undefined
      ? { state: "failed", ...(reason && { reason }) }
      : { state: "completed", reason: "normal", duration: Math.round(talkTime / 1_000) };
  return { request: { url, dialed } };
};

const dial = (action: WireDial, at: Place): OutdialInstruction => {
  const { to, timeout = 30, record = false, flow_url } = action;
  return {
    type: "dial",
    step: beginning(action, at),
    to,
    record,
    answerTimeout: timeout * 1_000,
    next: ({ reason, talkTime }) => {
      const branch = reason && branches[reason];
      const next = branch && action[branch];
      if (!next) return flow_url === undefined ? "end" : dialedAt(flow_url, reason, talkTime);
      return { instructions: instructionsOf(next, { ...at, place: `${branch}.` }) };
    },
  };
};

const promptPart = (
  prompt: WirePrompt,
  index: number,
  at: Place,
  language: string | undefined,
): Part => {
  if ("text" in prompt) return { type: "text", text: prompt.text, language };
  if ("pause_ms" in prompt) return { type: "pause", ms: prompt.pause_ms };
  return mediaPart(prompt.media_url, `prompts.${index}.media_url`, at);
};

const promptsOf = (action: WireSay | WireGather | WireRecord, at: Place): Prompts => ({
  step: beginning(action, at),
  parts: action.prompts.map((prompt, index) => promptPart(prompt, index, at, action.language)),
});

const say = (action: WireSay, at: Place): OutdialInstruction => ({
  type: "play",
  ...promptsOf(action, at),
  endsPrompts: true,
  next: () => after(action.flow_url),
});

/** The most keys of a `gather` without `digits`. */
const maxKeys = 20;

const gather = (action: WireGather, at: Place): OutdialInstruction => {
  const { digits, finish_on_key, timeout_ms = 5_000, flow_url: url } = action;
  if (!digits && !finish_on_key) {
    throw new FlowError(at.step, "digits", "is missing, as is finish_on_key");
  }
  return {
    type: "input",
    prompts: [promptsOf(action, at)],
    bargesIn: true,
    rules: {
      takesKeys: true,
      takesSpeech: false,
      maxKeys: digits ?? maxKeys,
      finishingKeys: finish_on_key ?? "",
      firstTimeout: timeout_ms,
      keyTimeout: timeout_ms,
      endSilence: 0,
      maxSpeech: 0,
    },
    next: ({ keys }) => ({ request: { url, digits: keys } }),
  };
};

/** Milliseconds after which a recording ends by default. */
const defaultMaxLength = 60_000;

/** Prompts, and then records after a beep. */
const record = (action: WireRecord, at: Place): readonly OutdialInstruction[] => {
  const { max_length_ms = defaultMaxLength, finish_on_key = "", silence_ms = 0 } = action;
  return [
    { type: "play", ...promptsOf(action, at), endsPrompts: false },
    {
      type: "record",
      beeps: true,
      rules: {
        keys: finish_on_key,
        endSilence: silence_ms,
        countsFirstSilence: true,
        maxDuration: max_length_ms,
      },
      begin: () => {
        const end = at.beginRecording(action.as);
        return () => {
          end();
          return after(action.flow_url);
        };
      },
    },
  ];
};

/** Translates an action of outdial's own interface. */
export const instructionsOf = (action: WireAction, at: Place): readonly OutdialInstruction[] => {
  switch (action.action) {
    case "play":
      return [play(action, at)];
    case "stream":
      return [stream(action, at)];
    case "dial":
      return [dial(action, at)];
    case "hangup":
      return [hangup(action, at)];
    case "say":
      return [say(action, at)];
    case "gather":
      return [gather(action, at)];
    case "record":
      return record(action, at);
  }
};
