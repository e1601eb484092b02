import { downloadOf } from "../recording/download.ts";
import { isLoud, type Recording, type Side } from "../recording/recording.ts";
import type { MarkupCall } from "./call.ts";
import type { Receiver, RecordingEventName } from "./fields.ts";
import type { MarkupRestParts } from "./side.ts";

/** What recorded a call. */
type RecordingSource = "OutboundAPI" | "StartCallRecordingAPI" | "RecordVerb" | "DialVerb";

/** When nothing is recorded, in milliseconds since the answer. */
interface Gap {
  readonly from: number;
  to: number;
}

/** A recording of a call, or of a part of it. Times are in milliseconds since the answer. */
export interface CallRecording {
  readonly sid: string;
  readonly source: RecordingSource;
  readonly channels: 1 | 2;
  /** Whose audio it has. */
  readonly track: "both" | "inbound" | "outbound";
  from: number;
  /** Absent while it runs. */
  to?: number;
  status: "in-progress" | "paused" | "completed" | "absent";
  /** Where it is silent; absent for one that leaves out what the flow doesn't record. */
  readonly gaps?: Gap[];
  readonly receiver: Receiver<RecordingEventName> | undefined;
}

/** The side whose audio a recording has; `undefined` for both. */
const sideOf = ({ track }: CallRecording): Side | undefined => {
  if (track === "both") return;
  return track === "inbound" ? "callee" : "application";
};

/** Whole seconds. */
export const secondsOf = ({ from, to = from }: CallRecording): number =>
  Math.round((to - from) / 1_000);

const sampleRate = 8_000;

/** Milliseconds of audio that are judged at once, and mixed at once. */
const judged = 20;
const mixed = 200;

/**
 * The loud parts of a stretch of the callee's audio, each of 20 ms, by their beginning.
 *
 * @param isBackward - the last ones first
 */
function* loudIn(
  recording: Recording,
  [from, to]: readonly [from: number, to: number],
  isBackward: boolean,
): Generator<number> {
  const blocks = Math.ceil((to - from) / mixed);
  for (let count = 0; count < blocks; count++) {
    const start = from + (isBackward ? blocks - 1 - count : count) * mixed;
    const end = Math.min(to, start + mixed);
    // An hour of silence is not mixed.
    if (!recording.callee.hasAny(start, end)) continue;
    const mixing = { sampleRate, now: to, all: true };
    const perMs = sampleRate / 1_000;
    const samples = recording.side("callee", start * perMs, (end - start) * perMs, mixing);
    const parts = Math.ceil((end - start) / judged);
    for (let at = 0; at < parts; at++) {
      const part = isBackward ? parts - 1 - at : at;
      const first = part * judged * perMs;
      if (isLoud(samples.subarray(first, first + judged * perMs))) yield start + part * judged;
    }
  }
}

/** When the callee was audible last in a stretch, in milliseconds since the answer; `undefined` where it is silent. */
export const lastLoud = (recording: Recording, from: number, to: number): number | undefined => {
  const { value } = loudIn(recording, [Math.floor(from), Math.floor(to)], true).next();
  return value === undefined ? undefined : Math.min(to, value + judged);
};

/** Removes the silence before and after what the callee said. */
export const trim = (recording: Recording, part: CallRecording): void => {
  const { from, to = from } = part;
  const { value: first } = loudIn(recording, [from, to], false).next();
  if (first === undefined) return;
  part.to = lastLoud(recording, from, to) ?? to;
  part.from = first;
};

/** A recording as a WAV, or the part that a player requests. */
export const fileOf = (
  { call }: MarkupCall,
  part: CallRecording,
  { url, headers }: Request,
): Response | undefined => {
  const { from, to = call.talkTime, gaps, channels, status } = part;
  if (status !== "completed") return;
  const wanted =
    new URL(url).searchParams.get("channels") ?? new URL(url).searchParams.get("RequestedChannels");
  const count = wanted === "2" || (wanted === null && channels === 2) ? 2 : 1;
  const side = sideOf(part);
  return downloadOf(call.recording, { from, to, gaps, side }, headers.get("Range"), count);
};

/** A recording of any call, with its call. */
export const recordingNamed = (
  { allCalls, find }: Pick<MarkupRestParts, "allCalls" | "find">,
  sid: string,
): { readonly known: MarkupCall; readonly recording: CallRecording } | undefined => {
  for (const { id } of allCalls()) {
    const known = find(id);
    const recording = known?.recordings.find((one) => one.sid === sid);
    if (known && recording) return { known, recording };
  }
  return;
};
