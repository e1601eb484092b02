import type { CallParams } from "../../calls/params.ts";
import type { AnyAction, Dial, Play, Stream } from "../../flows/actions.ts";
import { type EncodeFlow, flowEncoder } from "../../flows/flow-in-request.ts";
import type { Prompt } from "../../flows/prompts.ts";
import { defaultMaxLength, type RecordAction } from "../../flows/record.ts";
import type { FlowRequest } from "../../flows/request.ts";
import type { Gather, Say } from "../../flows/say.ts";
import { defaultEndSilence, type SpeechOptions } from "../../flows/speech.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { fail, fieldsOf, isRecord, isText } from "../../lib/check.ts";
import { type Voices, voiceOf } from "../voices.ts";
import { callIdHeader, digitsOf } from "./wire.ts";

/** An action of an NCCO. */
type Instruction = { readonly action: string } & Readonly<Record<string, unknown>>;

/** The call that an NCCO is for. */
export type Subject = Pick<FlowRequest, "call_id" | "from_number" | "to_number">;

/** Where Vonage sends the events of a leg that an action adds to the call. */
export interface LegEvents {
  readonly url: string;
  /** Whether the response to an event decides what follows. */
  readonly decides: boolean;
}

/** A voice of Vonage's: those of a language have numbers. */
export interface VonageVoice {
  /**
   * Which of the language's voices.
   *
   * @defaultValue 0
   */
  readonly style?: number | undefined;
  /**
   * Whether it is the premium version, which costs more.
   *
   * @defaultValue `false`
   */
  readonly premium?: boolean | undefined;
}

/** Whether a value is a voice of Vonage's. */
export const isVoice = (value: unknown): boolean => {
  const { style = 0, premium = false, ...others } = fieldsOf(value);
  const isStyle = Number.isInteger(style) && Number(style) >= 0;
  return isRecord(value) && isStyle && typeof premium === "boolean" && !Object.keys(others).length;
};

const urlOf = (url: string): string => new URL(url).href;

/**
 * What follows an action: Vonage posts the payload to the next flow URL, and the response replaces the NCCO. The
 * payload has the fields of an answer webhook, as the notification has none of them.
 */
export const next = (
  flow_url: string | undefined,
  { call_id, from_number, to_number }: Subject,
): readonly Instruction[] =>
  flow_url === undefined
    ? []
    : [
        {
          action: "notify",
          payload: { uuid: call_id, from: digitsOf(from_number), to: digitsOf(to_number) },
          eventUrl: [urlOf(flow_url)],
          eventMethod: "POST",
        },
      ];

const eventsOf = (legs: LegEvents | undefined) =>
  legs && {
    eventUrl: [legs.url],
    eventMethod: "POST",
    ...(legs.decides && { eventType: "synchronous" }),
  };

/** Records until the conversation ends: before a `connect`, as it doesn't wait. */
const recording = (record: boolean | undefined): readonly Instruction[] =>
  record ? [{ action: "record" }] : [];

const play = ({ media_url }: Play<string>): readonly Instruction[] => [
  { action: "stream", streamUrl: [urlOf(media_url)] },
];

const stream = (
  { ws_url, sample_rate, chunk_size, record }: Stream<string>,
  { call_id }: Subject,
  legs: LegEvents | undefined,
): readonly Instruction[] => {
  if (chunk_size !== undefined && chunk_size !== 20)
    fail("chunk_size", "must be 20: Vonage has no other");
  const endpoint = {
    type: "websocket",
    uri: urlOf(ws_url),
    "content-type": `audio/l16;rate=${sample_rate === "16k" ? 16_000 : 8000}`,
    headers: { [callIdHeader]: call_id },
  };
  return [...recording(record), { action: "connect", ...eventsOf(legs), endpoint: [endpoint] }];
};

/** Seconds of ringing, as the builder documents it: Vonage's own default is 60. */
const ringing = 30;

const dial = (
  { to, timeout = ringing, record }: Dial<string>,
  { from_number }: Subject,
  legs: LegEvents | undefined,
): readonly Instruction[] => {
  const endpoint = to.startsWith("+")
    ? { type: "phone", number: digitsOf(to) }
    : { type: "sip", uri: to };
  const connect = { action: "connect", from: digitsOf(from_number), timeout, ...eventsOf(legs) };
  return [...recording(record), { ...connect, endpoint: [endpoint] }];
};

/** What performs a prompt. */
const promptAction = (prompt: Prompt): "talk" | "stream" | "wait" => {
  if (isText(prompt)) return "talk";
  return "media_url" in prompt ? "stream" : "wait";
};

/** @param bargesFrom - the index of the first prompt that a key interrupts */
const promptsOf = (
  { prompts, language }: Say<string> | Gather<string> | RecordAction<string>,
  bargesFrom: number,
  voices: Voices<VonageVoice>,
): readonly Instruction[] => {
  const spoken = language && { language, ...voiceOf(voices, language) };
  return prompts.map((prompt, at) => {
    const action = promptAction(prompt);
    const bargeIn = at >= bargesFrom && { bargeIn: true };
    if (isText(prompt)) return { action, text: prompt, ...bargeIn, ...spoken };
    return "media_url" in prompt
      ? { action, streamUrl: [urlOf(prompt.media_url)], ...bargeIn }
      : { action, timeout: prompt.pause_ms / 1000 };
  });
};

/** The most keys of an answer. */
const maxDigits = 20;

/** How an `input` takes speech. */
const speechOf = (
  { language, hints, end_silence_ms = defaultEndSilence }: SpeechOptions,
  spoken: string | undefined,
) => {
  const tag = language ?? spoken;
  return {
    ...(tag && { language: tag }),
    ...(hints && { context: hints }),
    endOnSilence: end_silence_ms / 1000,
  };
};

/** Keys and speech interrupt the last prompts of one kind: after one with `bargeIn` Vonage takes those of that kind, or an `input`. */
const gather = (action: Gather<string>, voices: Voices<VonageVoice>): readonly Instruction[] => {
  const { prompts, digits, finish_on_key, speech, timeout_ms = 5000, flow_url } = action;
  const kinds = prompts.map(promptAction);
  const bargesFrom = kinds.findLastIndex((kind) => kind !== kinds.at(-1)) + 1;
  const timeout = timeout_ms / 1000;
  const taken = {
    ...((digits || finish_on_key) && {
      dtmf: {
        maxDigits: digits ?? maxDigits,
        timeOut: timeout,
        ...(finish_on_key && { submitOnHash: true }),
      },
    }),
    ...(speech && { speech: { ...speechOf(speech, action.language), startTimeout: timeout } }),
  };
  const input = { action: "input", type: Object.keys(taken), ...taken };
  const events = flow_url && { eventUrl: [urlOf(flow_url)], eventMethod: "POST" };
  return [...promptsOf(action, bargesFrom, voices), { ...input, ...events }];
};

/** @param recordings - where Vonage sends that it has the recording */
const record = (
  action: RecordAction<string>,
  recordings: LegEvents | undefined,
  voices: Voices<VonageVoice>,
): readonly Instruction[] => {
  const { max_length_ms = defaultMaxLength, finish_on_key, silence_ms } = action;
  const limits = {
    ...(finish_on_key && { endOnKey: finish_on_key }),
    ...(silence_ms !== undefined && { endOnSilence: silence_ms / 1000 }),
    timeOut: max_length_ms / 1000,
  };
  const taken = { action: "record", ...limits, beepStart: true, ...eventsOf(recordings) };
  return [...promptsOf(action, action.prompts.length, voices), taken];
};

/**
 * An action as NCCO: JSON, so that no text in it is markup.
 *
 * @param legs - where the events of the leg go that `stream` and `dial` add, and that of a recording
 * @throws {BadParametersException} for what Vonage can't do, by the field
 * @see https://developer.vonage.com/en/voice/voice-api/ncco-reference
 */
export const nccoOf = (
  action: AnyAction | Redirect,
  call: Subject,
  legs: LegEvents | undefined,
  voices: Voices<VonageVoice> = {},
): readonly Instruction[] => {
  switch (action.action) {
    case "play":
      return [...play(action), ...next(action.flow_url, call)];
    case "stream":
      return [...stream(action, call, legs), ...next(action.flow_url, call)];
    case "dial":
      return [...dial(action, call, legs), ...next(action.flow_url, call)];
    case "redirect":
      return next(action.flow_url, call);
    case "hangup":
      return [];
    case "say":
      return [...promptsOf(action, action.prompts.length, voices), ...next(action.flow_url, call)];
    case "gather":
      return gather(action, voices);
    case "record":
      return [...record(action, legs, voices), ...next(action.flow_url, call)];
  }
};

/** Ends a call whose NCCO is in its request: an empty one may count as none. */
const atOnce: readonly Instruction[] = [{ action: "wait", timeout: 0.1 }];

const inRequest = (
  action: AnyAction,
  { from_number, to_number }: CallParams,
  voices: Voices<VonageVoice>,
): readonly Instruction[] => {
  const { action: name, flow_url }: { action: string; flow_url?: string | undefined } = action;
  if (name === "dial" || name === "stream") {
    const rule = `must not be a ${name} on Vonage, which needs the id of the call`;
    fail("flow", `${rule}: give flow_url, where flowHandler decides`);
  }
  if (flow_url !== undefined) {
    const rule = "must be without flow_url on Vonage, which needs the id of the call there";
    fail("flow", `${rule}: give flow_url to create, in the place of flow`);
  }
  const ncco = nccoOf(action, { call_id: "", from_number, to_number }, undefined, voices);
  return ncco.length > 0 ? ncco : atOnce;
};

/**
 * How a call's flow becomes an NCCO in its request, for which Vonage documents no limit of its own: ten prompts of 1,500
 * characters are below the 64 KiB of any other. The flow has run before a machine is found out.
 *
 * @see https://developer.vonage.com/en/api/voice
 */
export const nccoEncoder = (
  machineDetection: string | undefined,
  voices: Voices<VonageVoice> = {},
): EncodeFlow<readonly Instruction[]> =>
  flowEncoder(
    (action, params) => inRequest(action, params, voices),
    /^(detect|message|continue)$/.exec(machineDetection ?? "")?.[0],
  );
