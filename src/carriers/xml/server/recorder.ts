import type { Message } from "../../../server/call.ts";
import type { MarkupCall } from "./call.ts";
import type { VerbCarrier } from "./context.ts";
import { recordingMessages } from "./notifications.ts";
import { type CallRecording, trim } from "./recordings.ts";

/** What is said of a recording before it begins. */
export type RecordingPlan = Pick<CallRecording, "source" | "channels" | "track" | "receiver">;

/** Begins a recording of a part of a call. */
export const beginRecording = (
  call: MarkupCall,
  plan: RecordingPlan,
  carrier: VerbCarrier,
): { readonly recording: CallRecording; readonly messages: readonly Message[] } => {
  const { served, recordings } = call;
  const recording: CallRecording = {
    ...plan,
    sid: carrier.newSid("recording", served.timeline.now()),
    from: served.talkTime,
    status: "in-progress",
    gaps: [],
  };
  recordings.push(recording);
  return { recording, messages: recordingMessages(call, recording, "in-progress", carrier) };
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
  call: MarkupCall,
  recording: CallRecording,
  carrier: VerbCarrier,
  { trims = false, isAbsent = false }: RecordingEnd = {},
): readonly Message[] => {
  const { served, recordings } = call;
  if (recording.to !== undefined) return [];
  recording.to = served.talkTime;
  const gap = recording.gaps?.at(-1);
  if (gap) gap.to = Math.min(gap.to, recording.to);
  recording.status = isAbsent ? "absent" : "completed";
  if (isAbsent) recordings.splice(recordings.indexOf(recording), 1);
  else {
    if (trims) trim(served.audio, recording);
    const seconds = (recording.to - recording.from) / 1_000;
    served.log({ type: "recording", url: call.recordingUrl(recording.sid), seconds });
  }
  return recordingMessages(call, recording, recording.status, carrier);
};

/** Ends the recordings that the API has begun, as their call is over. */
export const endRecordings = (call: MarkupCall, carrier: VerbCarrier): readonly Message[] =>
  call.recordings
    .filter(({ source }) => source === "StartCallRecordingAPI")
    .flatMap((recording) => endRecording(call, recording, carrier));
