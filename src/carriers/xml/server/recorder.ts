import type { Message } from "../../../server/call.ts";
import type { MarkupCall } from "./call.ts";
import type { VerbCarrier } from "./context.ts";
import { recordingMessages } from "./notifications.ts";
import { type CallRecording, trim } from "./recordings.ts";

/** What is said of a recording before it begins. */
export type RecordingPlan = Pick<CallRecording, "source" | "channels" | "track" | "receiver">;

/** Begins a recording of a part of a call. */
export const beginRecording = (
  known: MarkupCall,
  plan: RecordingPlan,
  carrier: VerbCarrier,
): { readonly recording: CallRecording; readonly messages: readonly Message[] } => {
  const { call, recordings } = known;
  const recording: CallRecording = {
    ...plan,
    sid: carrier.newSid("recording", call.timeline.now()),
    from: call.talkTime,
    status: "in-progress",
    gaps: [],
  };
  recordings.push(recording);
  return { recording, messages: recordingMessages(known, recording, "in-progress", carrier) };
};

/** How a recording ends. */
export interface RecordingEnd {
  /** Whether the silence at both ends is removed. */
  readonly trims?: boolean;
  /** Whether it is dropped, as it has no sound. */
  readonly isAbsent?: boolean;
}

/** Ends a recording, once. */
export const endRecording = (
  known: MarkupCall,
  recording: CallRecording,
  carrier: VerbCarrier,
  { trims = false, isAbsent = false }: RecordingEnd = {},
): readonly Message[] => {
  const { call, recordings } = known;
  if (recording.to !== undefined) return [];
  recording.to = call.talkTime;
  const gap = recording.gaps?.at(-1);
  if (gap) gap.to = Math.min(gap.to, recording.to);
  recording.status = isAbsent ? "absent" : "completed";
  if (isAbsent) recordings.splice(recordings.indexOf(recording), 1);
  else {
    if (trims) trim(call.audio, recording);
    const seconds = (recording.to - recording.from) / 1_000;
    call.log({ type: "recording", url: known.recordingUrl(recording.sid), seconds });
  }
  return recordingMessages(known, recording, recording.status, carrier);
};

/** Ends the recordings that the API has begun, as their call is over. */
export const endRecordings = (known: MarkupCall, carrier: VerbCarrier): readonly Message[] =>
  known.recordings
    .filter(({ source }) => source === "StartCallRecordingAPI")
    .flatMap((recording) => endRecording(known, recording, carrier));
